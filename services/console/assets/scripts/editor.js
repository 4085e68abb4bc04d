/**
 * The template editor: a preview that follows what is typed, errors at their lines, variables and images put in at the
 * cursor, and a question before unsaved changes are left. Without this script the page is a form, and a button renews the
 * preview. The content is a textarea until the code editor (services/console/editor/code) is loaded.
 */
const PAUSE_MS = 600;
const RETRY_MS = 3_000;
const MAX_RETRY_MS = 60_000;

const form = document.getElementById("editor");
const body = document.getElementById("body");
const frame = form.querySelector("iframe");
const previewState = document.getElementById("preview-state");
const editorState = document.getElementById("editor-state");
const uploadState = document.getElementById("upload-state");
const texts = ["subject", "preheader", "body", "text"].map((id) => document.getElementById(id));

for (const element of form.querySelectorAll("[data-scripted]")) element.hidden = false;

// Lines

function goToLine(field, no) {
  const text = field.value.split("\n");
  const start = text.slice(0, no - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const end = start + (text[no - 1]?.length ?? 0);
  if (field.codeEditor) return field.codeEditor.select(start, end);
  field.closest("details")?.setAttribute("open", "");
  field.focus();
  field.setSelectionRange(start, end);
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
  mark();
}

function mark() {
  const wrong = form.querySelectorAll('[data-line][data-field="body"]');
  body.codeEditor?.mark(new Set([...wrong].map((button) => Number(button.dataset.line))));
}

body.addEventListener("code-editor", mark);
bindProblems(form);

// Inserting text

let last = body;
for (const field of texts) {
  field.addEventListener("focus", () => {
    last = field;
  });
}

/** Puts the cursor `back` characters before the end of the text. */
function insert(field, text, back = 0) {
  if (field.codeEditor) return field.codeEditor.insert(text, back);
  field.focus();
  // The only way to insert text that undo can remove; browsers without it insert it without undo.
  if (!document.execCommand("insertText", false, text)) {
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const at = field.selectionEnd - back;
  field.setSelectionRange(at, at);
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

/** An image without a description, and how many characters follow the place of the description. */
const IMAGES = {
  mjml: (url) => [`<mj-image src="${attribute(url)}" alt="" />`, 4],
  markdown: (url) => [`![](${url})`, url.length + 3],
  html: (url) => [`<img src="${attribute(url)}" alt="">`, 2],
};

function insertImage(url) {
  insert(body, ...(IMAGES[form.elements.template_mode.value] ?? IMAGES.html)(url));
}

for (const code of form.querySelectorAll("[data-image]")) {
  const button = buttonOf(code, code.dataset.name, () => insertImage(code.dataset.image));
  button.title = code.dataset.name;
}

// Images from files

async function upload(file) {
  uploadState.textContent = form.dataset.uploading;
  try {
    const data = new FormData();
    data.append("form_token", form.elements.form_token.value);
    data.append("file", file);
    const headers = { accept: "application/json" };
    const response = await fetch(form.dataset.images, { method: "POST", body: data, headers });
    const answer = await response.json();
    const { ended, failed } = form.dataset;
    const refusal = { 401: ended }[response.status] ?? (answer.sentences ?? answer.file)?.join(" ") ?? failed;
    uploadState.textContent = response.ok ? "" : refusal;
    if (response.ok) insertImage(answer.url);
  } catch {
    uploadState.textContent = form.dataset.failed;
  }
}

async function uploadAll(files) {
  for (const file of files) await upload(file);
}

const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

const content = body.parentElement;
content.addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  content.classList.add("dropping");
});
content.addEventListener("dragleave", () => content.classList.remove("dropping"));
const drop = (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  event.stopPropagation();
  content.classList.remove("dropping");
  body.codeEditor?.moveTo(event.clientX, event.clientY);
  uploadAll([...event.dataTransfer.files].filter(({ type }) => type.startsWith("image/")));
};
// Before the code editor, which would insert the content of files.
content.addEventListener("drop", drop, { capture: true });
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
  const { busy, away, tooLarge, expired, ended } = form.dataset;
  // A retry would not help with these errors. Only the form of an expired session is kept through the sign-in.
  const final = { 401: expired, 403: ended, 413: tooLarge }[response.status] ?? (response.redirected && ended);
  if (final) {
    previewState.textContent = final;
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

form.addEventListener("input", () => {
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

schedule(0);
