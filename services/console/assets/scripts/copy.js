// Beside each text to take along a button that copies it. Without this script one click selects the text.
function addButtons(root) {
  for (const text of root.querySelectorAll("[data-copy]:not([data-has-button])")) {
    text.dataset.hasButton = "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${text.textContent.slice(0, 60)}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        // Browsers give the clipboard to pages by https alone: then the text is selected, to be copied by the keyboard.
        getSelection().selectAllChildren(text);
        button.textContent = "Selected";
      }
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2_000);
    });
    text.after(button);
  }
}
addButtons(document);
document.addEventListener("htmx:afterSwap", () => addButtons(document));
