/**
 * Keeps a campaign's numbers fresh while it is sent: by server-sent events, into elements that name what they show. When its
 * status changes, the part is asked for again, because then more than numbers is another. Without this script the page says
 * when it was made, and has a link to make it again.
 */
const SPEAK_MS = 10_000;
const AGAIN_MS = 30_000;

const numbers = new Intl.NumberFormat("en");
const shareOf = (part, whole) => (part === null || !whole ? "–" : `${((100 * part) / whole).toFixed(1)} %`);

function durationOf(seconds) {
  if (seconds === null) return "–";
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const SHOWN = {
  percent: (now) => shareOf(now.sent_count + now.failed_count, now.total_emails),
  waiting: (now) => numbers.format(Math.max(0, now.total_emails - now.sent_count - now.failed_count)),
  opens_rate: (now) => shareOf(now.opens, now.sent_count),
  clicks_rate: (now) => shareOf(now.clicks, now.sent_count),
  seconds_left: (now) => durationOf(now.seconds_left),
};

function show(root, now) {
  for (const element of root.querySelectorAll("[data-now]")) {
    const name = element.dataset.now;
    const text = SHOWN[name] ? SHOWN[name](now) : numbers.format(now[name]);
    // Numbers that are not counted per person stay unchanged.
    const isUnknown = (name.startsWith("opens") || name.startsWith("clicks")) && now.opens === null;
    if (!isUnknown && element.textContent !== text) element.textContent = text;
  }
  const bar = root.querySelector("progress");
  if (bar) {
    bar.max = now.total_emails || 1;
    bar.value = now.sent_count + now.failed_count;
  }
}

const toggle = (root, name, isShown) => {
  for (const element of root.querySelectorAll(`[data-${name}]`)) element.hidden = !isShown;
};

/** Shows the next retry instead of a speed of 0 while only deferred mails remain. */
function showRetries(root, { retrying, next_retry_at: at, per_second: speed }) {
  const isWaiting = retrying > 0 && speed === 0;
  const line = root.querySelector("[data-retries]");
  line.hidden = !isWaiting;
  if (!isWaiting) return;
  toggle(root, "rate", false);
  const clock = { timeZone: root.dataset.zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const time = new Intl.DateTimeFormat("en", clock).format(new Date(at));
  line.textContent = line.dataset.retries.replace("{n}", numbers.format(retrying)).replace("{time}", time);
}

let source;
let timer;
let spokenAt = 0;

function speak(root, now) {
  const spoken = root.querySelector("[data-spoken]");
  // Announce at once in a part that has announced nothing, as after a change of status.
  if (spoken.textContent && Date.now() - spokenAt < SPEAK_MS) return;
  spokenAt = Date.now();
  const words = {
    done: numbers.format(now.sent_count + now.failed_count),
    total: numbers.format(now.total_emails),
    failed: numbers.format(now.failed_count),
  };
  spoken.textContent = root.dataset.say.replace(/\{(\w+)\}/g, (_, name) => words[name]);
}

function close() {
  clearTimeout(timer);
  source?.close();
  source = undefined;
}

function refresh() {
  close();
  window.htmx.ajax("GET", window.location.href, { target: "#now", select: "#now", swap: "outerHTML" });
}

function open() {
  close();
  const root = document.querySelector("[data-live]");
  // Closes the stream of a hidden page: browsers allow only few connections per host.
  if (!root || document.hidden) return;
  source = new EventSource(root.dataset.live);
  source.addEventListener("progress", ({ data }) => {
    const now = JSON.parse(data);
    // Reloads at the first mail, because the effect of stopping changes.
    if (now.status !== root.dataset.status || (root.dataset.sent === "0" && now.sent_count > 0)) return refresh();
    toggle(root, "still", false);
    toggle(root, "lost", false);
    toggle(root, "moving", true);
    show(root, now);
    showRetries(root, now);
    speak(root, now);
  });
  source.addEventListener("end", refresh);
  source.addEventListener("error", () => {
    toggle(root, "moving", false);
    toggle(root, "lost", true);
    // A refusal closes the stream, so it is opened again later; after other errors the browser reconnects by itself.
    if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
  });
}

/** Marks the page as outdated when it cannot be refreshed. */
function waitAndOpen() {
  toggle(document, "moving", false);
  toggle(document, "lost", true);
  clearTimeout(timer);
  timer = setTimeout(open, AGAIN_MS);
}

document.addEventListener("visibilitychange", open);
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", ({ persisted }) => persisted && open());
for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failure, ({ detail }) => {
    if (detail.target?.id === "now") waitAndOpen();
  });
}
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (detail.target.id === "now") open();
});
open();
