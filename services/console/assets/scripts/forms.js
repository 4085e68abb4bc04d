/** Enhances the forms of all pages. They also work without this script. */

// Loads the code editor when a field that can have one is nearly seen.
const coded = new IntersectionObserver(
  (entries) => {
    for (const { target } of entries.filter(({ isIntersecting }) => isIntersecting)) {
      coded.unobserve(target);
      import(target.dataset.code).then(({ codeEditor }) => codeEditor(target));
    }
  },
  { rootMargin: "50%" },
);
for (const field of document.querySelectorAll("textarea[data-code]")) coded.observe(field);

// Typing a date into a field with `data-chooses` selects the first choice other than "now" of the named question; "now" clears the date.
for (const field of document.querySelectorAll("[data-chooses]")) {
  const choices = [...field.form.elements[field.dataset.chooses]];
  const now = choices.find(({ value }) => value === "now");
  field.addEventListener("input", () => {
    if (field.value !== "" && now.checked) choices.find((one) => one !== now).checked = true;
  });
  now.addEventListener("change", () => {
    field.value = "";
  });
}

// Typing in a part with `data-ticks` ticks the named box, and the field NAME_follows says that it does.
for (const part of document.querySelectorAll("[data-ticks]")) {
  const { ticks } = part.dataset;
  const { elements } = part.closest("form");
  elements[`${ticks}_follows`].value = "yes";
  part.addEventListener("input", () => {
    elements[ticks].checked = true;
  });
}

// A color is typed, or picked beside its field.
for (const picker of document.querySelectorAll("[data-picks]")) {
  const field = picker.form.elements[picker.dataset.picks];
  picker.addEventListener("input", () => {
    field.value = picker.value;
  });
  field.addEventListener("input", () => {
    if (field.validity.valid) picker.value = field.value;
  });
}

// Uploads a chosen image, and puts the address of it, or of a smaller copy, into a field.
const answerTo = async (path, fields) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  const body = fields.file ? data : new URLSearchParams(data);
  return (await fetch(path, { method: "POST", body, headers: { accept: "application/json" } })).json();
};
async function uploaded({ dataset, files: [file], form }) {
  const form_token = form.elements.form_token.value;
  const made = await answerTo(dataset.upload, { form_token, folder: "", file });
  const { width } = await createImageBitmap(file).catch(() => ({ width: 0 }));
  if (!made.id || width <= dataset.width) return made;
  const copy = await answerTo(`${dataset.copies}/${made.id}/copy`, { form_token, width: dataset.width });
  return copy.url ? copy : made;
}
for (const input of document.querySelectorAll("[data-into]")) {
  const { dataset, form } = input;
  const state = input.parentElement.querySelector("[role=status]");
  const field = form.elements[dataset.into];
  input.addEventListener("change", async () => {
    if (input.files.length === 0) return;
    state.textContent = dataset.running;
    const { url, sentences, file } = await uploaded(input).catch(() => ({}));
    state.textContent = url ? dataset.done : ((sentences ?? file)?.join(" ") ?? dataset.failed);
    if (!url) return;
    field.value = url;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// Sets the browser's time zone for a new company.
for (const field of document.querySelectorAll('input[type="hidden"][name="timezone"]')) {
  field.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}

// Shows the number of ticked boxes on the list's buttons. If all results of a search are selected, the server sets the number.
const bulk = document.getElementById("bulk");
if (bulk && !bulk.elements.all) {
  const boxes = [...document.querySelectorAll('input[type="checkbox"][form="bulk"]')];
  const count = () => {
    const n = boxes.filter(({ checked }) => checked).length;
    for (const button of bulk.querySelectorAll("[data-some]")) {
      button.textContent = n === 0 ? button.dataset.none : button.dataset.some.replace("{n}", n);
    }
  };
  for (const box of boxes) box.addEventListener("change", count);
  // The browser may have restored ticks of an earlier visit.
  addEventListener("pageshow", count);
}

// Protects unsaved input when the page is left: forms that save automatically are saved, others ask for confirmation.

const autosaved = [...document.querySelectorAll("form[hx-post][hx-trigger]")];
const typedIn = new Map();
const savedOf = new Map();
const isPending = (form) => (typedIn.get(form) ?? 0) !== (savedOf.get(form) ?? 0);
const bodyOf = (form) => {
  const body = new URLSearchParams(new FormData(form));
  body.set("do", "autosave");
  return body;
};

function showUnsaved(status) {
  const mark = document.getElementById("saved");
  if (mark) mark.textContent = status === 401 ? mark.dataset.ended : mark.dataset.failed;
}

for (const form of autosaved) {
  let sending = 0;
  form.addEventListener("htmx:beforeRequest", (event) => {
    // Nothing is typed since the form was saved or submitted: a late save would change what the next page shows.
    if (event.detail.elt === form && !isPending(form)) return event.preventDefault();
    sending = typedIn.get(form) ?? 0;
  });
  form.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.elt === form && detail.successful) savedOf.set(form, sending);
    // Status 0: aborted by the next save, or not sent.
    if (detail.elt === form && !detail.successful && detail.xhr?.status > 0) showUnsaved(detail.xhr.status);
  });
  form.addEventListener("htmx:sendError", () => showUnsaved(0));
  form.addEventListener("htmx:timeout", () => showUnsaved(0));
  form.addEventListener("input", () => {
    const mark = document.getElementById("saved");
    if (mark) mark.textContent = "";
  });
}

const isChanged = (field) => {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.options) {
    const options = [...field.options];
    const start = Math.max(
      0,
      options.findIndex(({ defaultSelected }) => defaultSelected),
    );
    return !field.multiple && field.selectedIndex !== start;
  }
  return "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue;
};

/** True for forms with input to protect. The editor and bulk forms have their own handling; a search has nothing to lose. */
const isWatched = (form) =>
  form.method === "post" && form.id !== "editor" && form.id !== "bulk" && !form.hasAttribute("hx-post");
const isSignedIn = document.querySelector('form[action="/app/logout"]') !== null;
let isLeaving = false;

document.addEventListener("input", ({ target }) => {
  const form = target.form;
  if (form) typedIn.set(form, (typedIn.get(form) ?? 0) + 1);
});
document.addEventListener("submit", ({ target }) => {
  isLeaving = true;
  savedOf.set(target, typedIn.get(target) ?? 0);
});
// A download or a cancelled submit does not leave the page.
document.addEventListener("change", () => {
  isLeaving = false;
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("a[href]");
  const pending = autosaved.filter(isPending);
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.target || link.hash || pending.length === 0 || event.defaultPrevented) return;
  event.preventDefault();
  for (const form of pending) {
    const answer = await fetch(form.action, { method: "POST", body: bodyOf(form) }).catch(() => undefined);
    savedOf.set(form, typedIn.get(form));
    if (!answer?.ok) {
      // The next click leaves the page.
      showUnsaved(answer?.status);
      return;
    }
  }
  location.assign(link.href);
});

addEventListener("beforeunload", (event) => {
  if (!isSignedIn) return;
  for (const form of autosaved.filter(isPending)) {
    if (navigator.sendBeacon(form.action, bodyOf(form))) savedOf.set(form, typedIn.get(form));
    else event.preventDefault();
  }
  const isDirty = (form) => isWatched(form) && (form.id === "builder" || [...form.elements].some(isChanged));
  if (!isLeaving && [...typedIn.keys()].some(isDirty)) event.preventDefault();
});

/** Fills in a form without events, which could save or send it. */
function fill(form, values) {
  for (const field of form.elements) {
    if (!field.name || field.name === "form_token" || field.type === "submit") continue;
    if (field.type === "checkbox" || field.type === "radio") field.checked = values[field.name] === field.value;
    else if (values[field.name] !== undefined && field.type !== "file") field.value = values[field.name];
  }
  form.dataset.unsaved = "";
  form.closest("[popover]")?.showPopover();
  typedIn.set(form, (typedIn.get(form) ?? 0) + 1);
  // The rows of a segment's rules are rendered by the server.
  if (form.id !== "builder") return;
  const more = { ...values, do: "refresh", form_token: form.elements.form_token.value };
  addEventListener("load", () =>
    window.htmx.ajax("POST", form.action, { target: "#frame", select: "#rules", values: more }),
  );
}

const kept = document.getElementById("kept");
if (kept) {
  history.replaceState(null, "", kept.dataset.page);
  const form = [...document.forms].find(({ action }) => new URL(action).pathname === kept.dataset.action);
  if (form) fill(form, JSON.parse(kept.dataset.fields));
}

const builder = document.getElementById("builder");
if (builder) {
  const key = `builder ${location.pathname}`;
  const before = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  const [{ type }] = performance.getEntriesByType("navigation");
  if (before && type === "back_forward") fill(builder, Object.fromEntries(new URLSearchParams(before)));
  addEventListener("pagehide", () => sessionStorage.setItem(key, new URLSearchParams(new FormData(builder))));
}
