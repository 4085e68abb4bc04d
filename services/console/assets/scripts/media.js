/** Adds copy buttons for URLs, and uploads dropped files one after another. The form works without this script. */
const form = document.querySelector("form.upload");

for (const element of document.querySelectorAll("[data-scripted]")) element.hidden = false;
for (const element of document.querySelectorAll("[data-plain]")) element.hidden = true;

async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    // Clipboard access needs HTTPS; execCommand copies the selection otherwise.
    document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  const text = button.textContent;
  button.addEventListener("click", async () => {
    await copy(button.previousElementSibling);
    button.textContent = button.dataset.copy;
    setTimeout(() => {
      button.textContent = text;
    }, 3_000);
  });
}

const state = document.getElementById("upload-state");

/** Returns the error shown on the refusing page. */
async function refusalOf(response) {
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.querySelector(".alert, main p, p")?.textContent.trim() || form.dataset.failed;
}

async function upload(files) {
  for (const file of files) {
    state.textContent = form.dataset.uploading.replace("…", file.name);
    const body = new FormData(form);
    body.set("file", file);
    const response = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    if (response.type !== "opaqueredirect") {
      state.textContent = `${file.name}: ${await refusalOf(response)}`;
      return;
    }
  }
  const { folder } = form.elements;
  const asked = new URLSearchParams({ ...(folder.value ? { folder: folder.value } : {}), notice: "uploaded" });
  location.assign(`${location.pathname}?${asked}`);
}

const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

if (form) {
  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    form.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    form.classList.remove("dropping");
    upload([...event.dataTransfer.files]).catch(() => {
      state.textContent = form.dataset.failed;
    });
  });
}
