/** Keys of the whole editor, and those of a block that has the focus itself. Texts and form fields keep their own. */
import { visual as t } from "../messages/visual.ts";
import { copyBlock, pasteText } from "./clipboard.ts";
import { duplicate, remove, selectNext, selectOuter, step, stepColumn } from "./commands.ts";
import { blockElement, focusPalette, pathOf } from "./focus.ts";
import { redo, type Store, select, selectedBlock, undo } from "./store.ts";
import { indexOf, type Path, parentOf } from "./tree.ts";

const FIELDS = "input, textarea, select";

/** The block whose frame has the focus. */
const focusedBlock = (target: EventTarget | null): Path | undefined =>
  target instanceof HTMLElement && target.dataset.path ? pathOf(target) : undefined;

/** Into the block's first text, else to its first setting. */
function enter(path: Path): void {
  const element = blockElement(path);
  const inner = element?.querySelector<HTMLElement>(":scope > :not(.block-menu) .ProseMirror");
  const isOwn = inner?.closest(".block") === element;
  const setting = document.querySelector<HTMLElement>(
    ".visual-settings .side-body :is(input, select, textarea, button)",
  );
  if (isOwn && inner) inner.focus();
  else if (element?.querySelector(":scope .block")) selectFirst(element);
  else setting?.focus();
}

const selectFirst = (element: HTMLElement) => element.querySelector<HTMLElement>(".block")?.focus();

function onBlock(store: Store, path: Path, event: KeyboardEvent): boolean {
  const { key, altKey } = event;
  const withControl = event.ctrlKey || event.metaKey;
  if (withControl) {
    if (key.toLowerCase() !== "d") return false;
    duplicate(store, path);
    return true;
  }
  if (altKey) {
    const by = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 }[key] as 1 | -1 | undefined;
    if (!by) return false;
    (key === "ArrowUp" || key === "ArrowDown" ? step : stepColumn)(store, path, by);
    return true;
  }
  switch (key) {
    case "ArrowUp":
      selectNext(store, -1);
      return true;
    case "ArrowDown":
      selectNext(store, 1);
      return true;
    case "Enter":
      enter(path);
      return true;
    case "Delete":
    case "Backspace":
      remove(store, path);
      return true;
    case "Escape":
      selectOuter(store, path);
      return true;
    case "a":
    case "A":
      store.set({ target: [...parentOf(path), indexOf(path) + 1], said: t.says.choose });
      focusPalette();
      return true;
    default:
      return false;
  }
}

export function listenToKeys(store: Store, save: () => void): void {
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    const isField = event.target instanceof HTMLElement && event.target.matches(FIELDS);
    if ((event.ctrlKey || event.metaKey) && !event.altKey) {
      if (key === "s") {
        event.preventDefault();
        return save();
      }
      // A form field takes back what was typed into it by itself.
      if (!isField && (key === "z" || key === "y")) {
        event.preventDefault();
        const isRedo = key === "y" || event.shiftKey;
        return isRedo ? redo(store, t.redone) : undo(store, t.undone);
      }
    }
    const path = focusedBlock(event.target);
    if (path && onBlock(store, path, event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "ArrowDown" && event.target === document.body) selectNext(store, 1);
  });

  /** A block itself is copied while no text has the focus. */
  const takes = (event: ClipboardEvent) =>
    focusedBlock(event.target) !== undefined || (event.target === document.body && store.read().selected !== null);
  const onCopy = (event: ClipboardEvent) => {
    const block = selectedBlock(store.read());
    const { selected } = store.read();
    if (!block || !selected || !takes(event)) return;
    event.preventDefault();
    copyBlock(store, block, event.clipboardData);
    if (event.type === "cut") remove(store, selected);
  };
  document.addEventListener("copy", onCopy);
  document.addEventListener("cut", onCopy);
  document.addEventListener("paste", (event) => {
    const isInText = event.target instanceof HTMLElement && event.target.closest(`${FIELDS}, .ProseMirror`) !== null;
    if (isInText) return;
    event.preventDefault();
    if (!pasteText(store, event.clipboardData?.getData("text/plain") ?? "")) store.set({ said: t.says.nothingToPaste });
  });
  document.addEventListener("pointerdown", ({ target }) => {
    const isBeside = target instanceof Element && target.closest(".visual-mail") && !target.closest(".block");
    if (isBeside) select(store, null);
  });
  document.addEventListener("focusin", ({ target }) => {
    const path = focusedBlock(target);
    if (path) select(store, path);
  });
}
