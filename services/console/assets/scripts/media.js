/** Media: addresses copied by a button, and files that are dropped uploaded one after the other. The form works without. */
const form = document.querySelector("form.upload");

for (const element of document.querySelectorAll("[data-scripted]")) element.hidden = false;
for (const element of document.querySelectorAll("[data-plain]")) element.hidden = true;

async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    // Without https there is no clipboard; the older way takes what is selected.
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

/** What the page that refuses it says. */
async function refusalOf(response) {
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.querySelector(".alert, main p, p")?.textContent.trim() || form.dataset.failed;
}

async function upload(files) {
  for (const file of files) {
    state.textContent = form.dataset.uploading.replace("…", file.name);
    const body = new FormData();
    body.append("form_token", form.elements.form_token.value);
    body.append("file", file);
    const response = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    if (response.type !== "opaqueredirect") {
      state.textContent = `${file.name}: ${await refusalOf(response)}`;
      return;
    }
  }
  location.assign(`${location.pathname}?notice=uploaded`);
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
