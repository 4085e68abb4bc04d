/**
 * The template editor: a preview that follows what is typed, lines with their numbers and errors, variables and images put in
 * at the cursor, and a question before unsaved changes are left. Without this script the page is a form, and a button renews
 * the preview.
 *
 * A textarea and not a code editor: undo, spelling, dictation, input methods and screen readers work in it by themselves.
 */
const PAUSE_MS = 600;
const RETRY_MS = 3_000;
const MAX_RETRY_MS = 60_000;

const form = document.getElementById("editor");
const body = document.getElementById("body");
const lines = document.getElementById("lines");
const frame = form.querySelector("iframe");
const previewState = document.getElementById("preview-state");
const editorState = document.getElementById("editor-state");
const uploadState = document.getElementById("upload-state");
const texts = ["subject", "preheader", "body", "text"].map((id) => document.getElementById(id));

for (const element of form.querySelectorAll("[data-scripted]")) element.hidden = false;

// Lines

let wrongLines = new Set();
let numbered = -1;

function number() {
  const count = body.value.split("\n").length;
  if (count === numbered) return;
  numbered = count;
  lines.replaceChildren(
    ...Array.from({ length: count }, (_, n) => {
      const line = document.createElement("div");
      const isWrong = wrongLines.has(n + 1);
      line.textContent = isWrong ? `! ${n + 1}` : n + 1;
      if (isWrong) line.className = "wrong";
      return line;
    }),
  );
}

function align() {
  lines.style.height = `${body.clientHeight}px`;
  lines.scrollTop = body.scrollTop;
}

function goToLine(field, no) {
  const text = field.value.split("\n");
  const start = text.slice(0, no - 1).reduce((sum, line) => sum + line.length + 1, 0);
  field.closest("details")?.setAttribute("open", "");
  field.focus();
  field.setSelectionRange(start, start + (text[no - 1]?.length ?? 0));
  const lineHeight = Number.parseFloat(getComputedStyle(field).lineHeight);
  field.scrollTop = Math.max(0, (no - 4) * lineHeight);
}

const fieldOf = (name) => document.getElementById(name === "text_body" ? "text" : name);

/** Makes buttons of the lines that the server's findings name. */
function bindProblems(root) {
  for (const button of root.querySelectorAll("[data-line]")) {
    button.hidden = false;
    button.addEventListener("click", () => goToLine(fieldOf(button.dataset.field), Number(button.dataset.line)));
  }
  const inBody = root.querySelectorAll('[data-line][data-field="body"]');
  wrongLines = new Set([...inBody].map((button) => Number(button.dataset.line)));
  numbered = -1;
  number();
}

lines.hidden = false;
new ResizeObserver(align).observe(body);
body.addEventListener("scroll", align);
bindProblems(form);

// Inserting text

let last = body;
for (const field of texts) {
  field.addEventListener("focus", () => {
    last = field;
  });
}

function insert(field, text) {
  field.focus();
  // The only way to insert text that undo can remove; browsers without it insert it without undo.
  if (!document.execCommand("insertText", false, text)) {
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function buttonOf(code, text, insertInto) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.textContent = text;
  button.addEventListener("click", insertInto);
  code.replaceWith(button);
  return button;
}

for (const code of form.querySelectorAll("[data-insert]")) {
  buttonOf(code, code.textContent, () => insert(last, code.dataset.insert));
}

const attribute = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** Inserts an image and selects the placeholder of its description. */
function insertImage(url) {
  const isMjml = form.elements.template_mode.value === "mjml";
  const text = isMjml ? `<mj-image src="${attribute(url)}" alt="" />` : `<img src="${attribute(url)}" alt="">`;
  insert(body, text);
  const at = body.selectionEnd - (isMjml ? 4 : 2);
  body.setSelectionRange(at, at);
}

for (const code of form.querySelectorAll("[data-image]")) {
  const button = buttonOf(code, code.dataset.name, () => insertImage(code.dataset.image));
  button.title = code.dataset.name;
}

// The Tab key indents until Escape is pressed, so that the keyboard can leave.
let tabLeaves = false;
body.addEventListener("focus", () => {
  tabLeaves = false;
});
body.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") tabLeaves = true;
  else if (event.key === "Tab" && !event.shiftKey && !tabLeaves) {
    event.preventDefault();
    insert(body, "  ");
  } else if (event.key === "Enter") {
    const before = body.value.slice(0, body.selectionStart);
    const [, indent] = /(?:^|\n)([ \t]*)[^\n]*$/.exec(before);
    if (indent === "") return;
    event.preventDefault();
    insert(body, `\n${indent}`);
  }
});

// Images from files

async function upload(file) {
  uploadState.textContent = form.dataset.uploading;
  try {
    const data = new FormData();
    data.append("form_token", form.elements.form_token.value);
    data.append("file", file);
    const response = await fetch(form.dataset.images, { method: "POST", body: data });
    const answer = await response.json();
    uploadState.textContent = response.ok ? "" : answer.sentences.join(" ");
    if (response.ok) insertImage(answer.url);
  } catch {
    uploadState.textContent = form.dataset.failed;
  }
}

async function uploadAll(files) {
  for (const file of files) await upload(file);
}

const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

body.addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  body.classList.add("dropping");
});
body.addEventListener("dragleave", () => body.classList.remove("dropping"));
body.addEventListener("drop", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  body.classList.remove("dropping");
  const place = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  if (place?.offsetNode === body) body.setSelectionRange(place.offset, place.offset);
  uploadAll([...event.dataTransfer.files].filter(({ type }) => type.startsWith("image/")));
});
const chosen = document.getElementById("upload");
chosen.addEventListener("change", async () => {
  await uploadAll([...chosen.files]);
  chosen.value = "";
});

// The preview: one request at a time, the next one after a pause.

/** Document of the frame, once it can be written to. */
async function frameDocument() {
  // The frame has navigated to a page that must not be framed.
  if (!frame.contentDocument) frame.src = form.dataset.blank;
  for (let tries = 0; tries < 200; tries++) {
    const shown = frame.contentDocument;
    if (shown && shown.URL !== "about:blank" && shown.readyState !== "loading") return shown;
    await new Promise((done) => setTimeout(done, 50));
  }
  return undefined;
}

async function paint(html) {
  const shown = await frameDocument();
  if (!shown) return;
  const { scrollLeft, scrollTop } = shown.scrollingElement ?? shown.documentElement;
  shown.documentElement.innerHTML = html;
  (shown.scrollingElement ?? shown.documentElement).scrollTo(scrollLeft, scrollTop);
}

let timer;
let isAsking = false;
let isWanted = false;
let retryMs = RETRY_MS;

function schedule(ms = PAUSE_MS) {
  clearTimeout(timer);
  timer = setTimeout(renew, ms);
}

function retry(sentence) {
  previewState.textContent = sentence;
  schedule(retryMs);
  retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
}

async function ask() {
  const response = await fetch(form.dataset.findings, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
  });
  const { busy, away, tooLarge, ended } = form.dataset;
  // A retry would not help with these errors.
  const isEnded = response.redirected || response.status === 401 || response.status === 403;
  if (isEnded || response.status === 413) {
    previewState.textContent = isEnded ? ended : tooLarge;
    return;
  }
  if (!response.ok) return retry(response.status === 429 || response.status === 503 ? busy : away);
  const answer = new DOMParser().parseFromString(await response.text(), "text/html");
  const findings = answer.getElementById("findings");
  if (!findings) return retry(away);
  retryMs = RETRY_MS;
  const adopted = document.adoptNode(findings);
  document.getElementById("findings").replaceWith(adopted);
  bindProblems(adopted);
  const mail = answer.getElementById("rendered");
  previewState.textContent = mail ? "" : form.dataset.notShown;
  if (mail) await paint(mail.value);
}

async function renew() {
  clearTimeout(timer);
  if (isAsking) {
    isWanted = true;
    return;
  }
  isAsking = true;
  try {
    await ask();
  } catch {
    retry(form.dataset.away);
  } finally {
    isAsking = false;
    if (isWanted) schedule();
    isWanted = false;
  }
}

// Changes

const stateOf = () => {
  const fields = new FormData(form);
  // Fields that only the preview needs are not saved.
  for (const name of ["view", "reader", "overwrite"]) fields.delete(name);
  return new URLSearchParams(fields).toString();
};
const saved = form.dataset.unsaved === undefined ? stateOf() : "";
let isLeaving = false;
const hint = editorState.textContent;

form.addEventListener("input", (event) => {
  if (event.target === body) number();
  const isUnsaved = stateOf() !== saved;
  const text = isUnsaved ? editorState.dataset.unsaved : hint;
  if (editorState.textContent !== text) editorState.textContent = text;
  schedule();
});
form.addEventListener("submit", (event) => {
  if (event.submitter?.id === "show") {
    event.preventDefault();
    renew();
  } else isLeaving = true;
});
addEventListener("beforeunload", (event) => {
  if (!isLeaving && stateOf() !== saved) event.preventDefault();
});

align();
schedule(0);
