/**
 * Dragging with SortableJS, by mouse and touch. It moves elements itself: they are put back before the tree changes, so that
 * Preact finds the page as it has drawn it.
 */
import Sortable, { type SortableEvent } from "sortablejs";
import type { Block } from "../../lib/design/design.ts";
import { add, move } from "./commands.ts";
import { type BlockType, blockAt, fits, newBlock, wrapped } from "./document.ts";
import { pathOf } from "./focus.ts";
import { designOf, type Store, select } from "./store.ts";
import { isWithin, type Path } from "./tree.ts";

const COMMON: Sortable.Options = {
  // The browser's own dragging does not work by touch.
  forceFallback: true,
  fallbackOnBody: true,
  fallbackTolerance: 4,
  // Animated blocks would take their fixed menu along.
  animation: 0,
  // Before or after the block under the pointer, whichever edge is nearer.
  invertSwap: true,
  invertedSwapThreshold: 1,
  emptyInsertThreshold: 12,
  scrollSensitivity: 60,
  scrollSpeed: 14,
  ghostClass: "drop-here",
  fallbackClass: "dragged",
};

/** The block that an element of the palette or the canvas stands for. */
function blockOf(store: Store, element: HTMLElement): Block | undefined {
  const { kind, columns = "1" } = element.dataset;
  if (kind) return newBlock(kind as BlockType, Number(columns));
  return blockAt(designOf(store.read()), pathOf(element));
}

type Point = Pick<MouseEvent, "clientX" | "clientY">;

/** Outer lists are asked, too, while the pointer is over an inner one, and would take the block away from it. */
function isNearest(list: HTMLElement, { clientX, clientY }: Point): boolean {
  const under = document.elementFromPoint(clientX, clientY)?.closest("[data-list]");
  return !under || under === list || !list.contains(under);
}

function mayDrop(store: Store, element: HTMLElement, list: HTMLElement, event: Point): boolean {
  const block = blockOf(store, element);
  const path = pathOf(list);
  if (block && !fits(block, path) && !isNearest(list, event)) return false;
  if (!block || (element.dataset.path && isWithin(path, pathOf(element)))) return false;
  return fits(wrapped(block, path), path);
}

/** Place of the dragged element before the drag, to put it back. */
interface Home {
  parent: Node;
  next: Node | null;
}
let home: Home | undefined;

const onStart = ({ item }: SortableEvent): void => {
  home = { parent: item.parentNode!, next: item.nextSibling };
  document.body.classList.add("is-dragging");
};

function putBack({ item, clone }: SortableEvent): void {
  document.body.classList.remove("is-dragging");
  if (clone?.isConnected && clone !== item && item.dataset.kind) clone.replaceWith(item);
  else home?.parent.insertBefore(item, home.next);
  home = undefined;
}

/** Sortable's own index counts what may be dragged in the list where the drag began. */
const indexIn = (list: HTMLElement, item: HTMLElement): number =>
  [...list.children].filter((child) => child === item || child.matches(".block")).indexOf(item);

/** A list of the canvas. Blocks are dragged by their handle, so that texts can be selected. */
export function makeList(store: Store, element: HTMLElement): Sortable {
  return Sortable.create(element, {
    ...COMMON,
    group: {
      name: "blocks",
      put: (to, _from, dragged, event) => mayDrop(store, dragged, to.el, event as unknown as Point),
    },
    draggable: ".block",
    handle: ".block-handle",
    onStart: (event) => {
      select(store, pathOf(event.item));
      onStart(event);
    },
    onEnd(event) {
      const { from, to, item, oldDraggableIndex: old = 0 } = event;
      const at = indexIn(to, item);
      const list: Path = pathOf(to);
      const path = pathOf(item);
      putBack(event);
      if (from === to && old === at) return;
      // Sortable counts without the dragged block, the tree with it.
      move(store, path, [...list, from === to && at > old ? at + 1 : at]);
    },
  });
}

/** Blocks to add. */
export function makePalette(store: Store, element: HTMLElement): Sortable {
  return Sortable.create(element, {
    ...COMMON,
    group: { name: "palette", pull: "clone", put: false },
    sort: false,
    draggable: "[data-kind]",
    onStart,
    onEnd(event) {
      const { to, from, item } = event;
      const at = indexIn(to, item);
      const block = blockOf(store, item);
      const list = to === from ? undefined : pathOf(to);
      putBack(event);
      if (block && list) add(store, block, [...list, at]);
    },
  });
}
