/**
 * Image files that are dropped on the mail or pasted: into the image under the pointer or selected, else as new images
 * below that block.
 */
import { visual as t } from "../messages/visual.ts";
import { isProblem } from "./ask.ts";
import type { Boot } from "./boot.ts";
import { add } from "./commands.ts";
import { blockAt, fieldsOf, newBlock } from "./document.ts";
import { blockElement, pathOf } from "./focus.ts";
import { uploadImage } from "./images.ts";
import { designOf, type Store, select } from "./store.ts";
import { takeImage } from "./take-image.ts";
import { indexOf, type Path, parentOf } from "./tree.ts";

const OVER = "drops-file";

const holdsFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false;
const under = ({ target }: DragEvent) =>
  target instanceof Element ? target.closest<HTMLElement>(".block, .block-list") : null;

/** Selects the block that takes the image, and returns the path of its address. */
function placeFor(store: Store, element: HTMLElement | null): Path {
  if (element?.matches(".block")) {
    const path = pathOf(element);
    const block = blockAt(designOf(store.read()), path);
    if (block && fieldsOf(block).src) {
      select(store, path);
      return [...path, "src"];
    }
    const at = path.includes("columns") ? [...parentOf(path), indexOf(path) + 1] : undefined;
    if (!at) select(store, path);
    add(store, newBlock("image"), at);
  } else add(store, newBlock("image"), element ? [...pathOf(element), 0] : undefined);
  return [...store.read().selected!, "src"];
}

interface Editing {
  boot: Boot;
  store: Store;
  /** Shows why a file was refused. */
  refuse(sentence: string): void;
}

const imagesIn = ({ files }: DataTransfer): File[] => [...files].filter(({ type }) => type.startsWith("image/"));

/** Word and Excel add an image of copied text; the text is pasted then. */
const isPicture = (data: DataTransfer) => imagesIn(data).length > 0 && !data.types.includes("text/plain");

/** Returns a function that removes the paste listener. */
export function takeImageFiles({ boot, store, refuse }: Editing, canvas: HTMLElement): () => void {
  const take = async (files: File[], element: HTMLElement | null) => {
    for (const [no, file] of files.entries()) {
      const made = await uploadImage(boot, file);
      if (isProblem(made)) return refuse(made.problem);
      // The second file goes below the first.
      const path = placeFor(store, no === 0 ? element : null);
      store.set({ said: t.says.uploaded });
      refuse(await takeImage({ boot, store }, path, made));
    }
  };
  const mark = (element: Element | null) => {
    for (const one of canvas.querySelectorAll(`.${OVER}`)) if (one !== element) one.classList.remove(OVER);
    element?.classList.add(OVER);
  };
  canvas.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(under(event));
  });
  canvas.addEventListener("dragleave", (event) => {
    if (!canvas.contains(event.relatedTarget as Node | null)) mark(null);
  });
  canvas.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(null);
    const files = imagesIn(event.dataTransfer!);
    refuse(files.length === 0 ? t.problems.noImage : "");
    void take(files, under(event));
  });
  const onPaste = (event: ClipboardEvent) => {
    const data = event.clipboardData;
    const isField = event.target instanceof Element && event.target.closest("input, textarea, select, dialog") !== null;
    if (!data || isField || !isPicture(data)) return;
    event.preventDefault();
    event.stopPropagation();
    refuse("");
    const { selected } = store.read();
    void take(imagesIn(data), selected && blockElement(selected));
  };
  // In the capture phase: the text editors would discard the image.
  document.addEventListener("paste", onPaste, true);
  return () => document.removeEventListener("paste", onPaste, true);
}
