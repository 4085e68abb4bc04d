/** Commands of menus, keys and dragging: each changes the tree, selects the result and announces it to screen readers. */
import { type Block, type Design, isSection } from "../../lib/design/design.ts";
import { visual as t } from "../messages/visual.ts";
import type { SavedBlock } from "./boot.ts";
import {
  allBlocks,
  blockAt,
  fits,
  insertBlock,
  moveBlock,
  newSection,
  outerOf,
  placeFor,
  stepped,
  withColumns,
  withCondition,
} from "./document.ts";
import { focusBlock } from "./focus.ts";
import { designOf, type Store, select } from "./store.ts";
import {
  copyOf,
  duplicateAt,
  getAt,
  indexOf,
  insertAt,
  isSame,
  type Moved,
  type Path,
  parentOf,
  removeAt,
  setAt,
} from "./tree.ts";

export const nameOf = (block: Block): string => t.kinds[block.type as keyof typeof t.kinds] ?? block.type;

function placeWords(design: Design, path: Path): string {
  const list = getAt(design, parentOf(path)) as Block[];
  const place = t.says.place(indexOf(path) + 1, list.length);
  const at = path.lastIndexOf("columns");
  const columns = at < 0 ? 1 : (getAt(design, path.slice(0, at + 1)) as unknown[]).length;
  return columns > 1 ? `${t.column(Number(path[at + 1]) + 1)}, ${place}` : place;
}

function show(store: Store, { tree, path }: Moved<Design>, said: string): void {
  store.edit({ design: tree }, "", { selected: path, target: null, tab: "block", said, chip: null });
  focusBlock(path);
}

export function add(store: Store, block: Block, at?: Path): void {
  const { selected, target } = store.read();
  const design = designOf(store.read());
  const to = at ?? (target && fits(block, parentOf(target)) ? target : placeFor(design, block, selected));
  show(store, insertBlock(design, block, to), t.says.added(nameOf(block)));
}

/** A saved block: a reference, which follows its changes, or a copy of its blocks. */
export function addSaved(store: Store, { id, name, blocks }: SavedBlock, isCopy: boolean): void {
  const first = blocks[0];
  if (!first) return;
  const { selected } = store.read();
  const design = designOf(store.read());
  const path = placeFor(design, first, selected);
  const given: Block[] = isCopy ? copyOf(blocks) : [{ type: "saved", id }];
  const inserted = fits(first, parentOf(path)) ? given : [newSection(1, given)];
  const tree = inserted.reduceRight((all, block) => insertAt(all, path, block), design);
  show(store, { tree, path }, t.says.added(name));
}

/** Puts the blocks of a saved block in place of the reference to it, so that they can be changed. */
export function detach(store: Store, path: Path, { name, blocks }: SavedBlock): void {
  const without = removeAt(designOf(store.read()), path);
  const tree = copyOf(blocks).reduceRight((all, block) => insertAt(all, path, block), without);
  show(store, { tree, path }, t.says.detached(name));
}

export function move(store: Store, from: Path, to: Path): void {
  const design = designOf(store.read());
  const block = blockAt(design, from)!;
  const moved = moveBlock(design, from, to);
  show(store, moved, t.says.moved(nameOf(block), placeWords(moved.tree, moved.path)));
}

function tell(store: Store, moved: Moved<Design>, path: Path): void {
  const design = designOf(store.read());
  if (moved.tree === design) store.set({ said: t.says.notMoved });
  else show(store, moved, t.says.moved(nameOf(blockAt(design, path)!), placeWords(moved.tree, moved.path)));
}

export const step = (store: Store, path: Path, by: 1 | -1): void =>
  tell(store, stepped(designOf(store.read()), path, by), path);

/** To the end of the column beside its own. */
export function stepColumn(store: Store, path: Path, by: 1 | -1): void {
  const design = designOf(store.read());
  const at = path.lastIndexOf("columns");
  const next = [...path.slice(0, at + 1), Number(path[at + 1]) + by, "blocks"];
  const list = at < 0 ? undefined : (getAt(design, next) as Block[] | undefined);
  tell(store, list ? moveBlock(design, path, [...next, list.length]) : { tree: design, path }, path);
}

export function duplicate(store: Store, path: Path): void {
  const design = designOf(store.read());
  const next = [...parentOf(path), indexOf(path) + 1];
  show(store, { tree: duplicateAt(design, path), path: next }, t.says.duplicated(nameOf(blockAt(design, path)!)));
}

/** Selects the block after the removed one, else the one before, else the one around. */
export function remove(store: Store, path: Path, said?: string): void {
  const design = designOf(store.read());
  const block = blockAt(design, path);
  if (!block) return;
  const tree = removeAt(design, path);
  const left = (getAt(tree, parentOf(path)) as Block[]).length;
  const next = left > 0 ? path.with(-1, Math.min(indexOf(path), left - 1)) : (outerOf(path) ?? null);
  store.edit({ design: tree }, "", { selected: next, said: said ?? t.says.deleted(nameOf(block)), chip: null });
  focusBlock(next);
}

/** Pastes below the selected block. */
export function paste(store: Store, block: Block): void {
  const { selected } = store.read();
  const design = designOf(store.read());
  show(store, insertBlock(design, copyOf(block), placeFor(design, block, selected)), t.says.pasted(nameOf(block)));
}

export function setColumns(store: Store, path: Path, count: number): void {
  const section = blockAt(designOf(store.read()), path);
  if (section && isSection(section)) {
    store.edit({ design: setAt(designOf(store.read()), path, withColumns(section, count)) });
  }
}

export function setCondition(store: Store, path: Path, variable: string): void {
  const { tree, path: next } = withCondition(designOf(store.read()), path, variable);
  store.edit({ design: tree }, "", { selected: next });
}

/** Selects the block before or after, in the order of the document. */
export function selectNext(store: Store, by: 1 | -1): void {
  const { selected } = store.read();
  const all = allBlocks(designOf(store.read()));
  const here = selected ? all.findIndex(([, path]) => isSame(path, selected)) : by === 1 ? -1 : all.length;
  const next = all[here + by];
  if (!next) return;
  select(store, next[1]);
  focusBlock(next[1]);
}

export function selectOuter(store: Store, path: Path): void {
  const outer = outerOf(path);
  if (!outer) return;
  select(store, outer);
  focusBlock(outer);
}
