// Adds a copy button to each text that is meant to be copied. Without this script a click selects the text.
function addButtons(root) {
  for (const text of root.querySelectorAll("[data-copy]:not([data-has-button])")) {
    text.dataset.hasButton = "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${text.textContent.slice(0, 60)}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        // Browsers only allow clipboard access over HTTPS; otherwise the text is selected, to be copied with the keyboard.
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
