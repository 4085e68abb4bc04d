// "/" focuses the search field and opens the menu that contains it; Escape and clicks elsewhere close open menus.
// Everything works without this script.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
    return;
  }
  // The code editor is in a shadow root.
  const isTyping = event.composedPath()[0].closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const field = document.querySelector(".search-field input");
  if (!field) return;
  event.preventDefault();
  const menu = document.querySelector("#menu");
  if (!menu.checkVisibility()) menu.showPopover();
  field.focus();
});
document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
});
