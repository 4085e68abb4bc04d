/**
 * Pure changes of a JSON tree. A path is the list of keys that leads to a value; the path of a block ends with its index in
 * a list. Unchanged branches stay the same objects, so that only what changed is drawn again.
 */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };
export type Path = readonly (string | number)[];

/** Keys of drawn elements. A changed object keeps the key of the one that it replaces. */
const keys = new WeakMap<object, string>();
let lastKey = 0;

export function keyOf(value: object): string {
  const known = keys.get(value);
  if (known) return known;
  const made = `b${++lastKey}`;
  keys.set(value, made);
  return made;
}

const isObject = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === "object" && value !== null;

export const isSame = (one: Path, other: Path): boolean =>
  one.length === other.length && one.every((key, n) => key === other[n]);
export const isWithin = (path: Path, outer: Path): boolean => isSame(path.slice(0, outer.length), outer);
export const parentOf = (path: Path): Path => path.slice(0, -1);
export const indexOf = (path: Path): number => Number(path.at(-1));

export function getAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const key of path) {
    if (!isObject(value)) return undefined;
    value = value[key];
  }
  return value;
}

export function setAt<T>(tree: T, path: Path, value: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return value as T;
  const branch = (isObject(tree) ? tree : {}) as Record<string | number, unknown>;
  const next = setAt(branch[key], rest, value);
  if (next === branch[key] && key in branch) return tree;
  const copy = (Array.isArray(branch) ? [...branch] : { ...branch }) as Record<string | number, unknown>;
  if (next === undefined) delete copy[key];
  else copy[key] = next;
  const known = keys.get(branch);
  if (known) keys.set(copy, known);
  return copy as T;
}

const listAt = (tree: unknown, path: Path): unknown[] => (getAt(tree, path) ?? []) as unknown[];

export function insertAt<T>(tree: T, path: Path, block: object): T {
  const list = listAt(tree, parentOf(path));
  return setAt(tree, parentOf(path), list.toSpliced(indexOf(path), 0, block));
}

export function removeAt<T>(tree: T, path: Path): T {
  return setAt(tree, parentOf(path), listAt(tree, parentOf(path)).toSpliced(indexOf(path), 1));
}

/** A copy whose objects are all new, so that it gets keys of its own. */
export const copyOf = <T>(value: T): T => structuredClone(value);

export function duplicateAt<T>(tree: T, path: Path): T {
  return insertAt(tree, [...parentOf(path), indexOf(path) + 1], copyOf(getAt(tree, path) as object));
}

/** The path of the same value after the block at `removed` is gone. */
function afterRemoval(path: Path, removed: Path): Path {
  const list = parentOf(removed);
  const at = list.length;
  if (path.length <= at || !isWithin(path, list) || Number(path[at]) <= indexOf(removed)) return path;
  return path.with(at, Number(path[at]) - 1);
}

export interface Moved<T> {
  tree: T;
  path: Path;
}

/** Moves a block to the place that `to` names before the move. A block is never moved into itself. */
export function moveTo<T>(tree: T, from: Path, to: Path): Moved<T> {
  const block = getAt(tree, from);
  if (!isObject(block) || isWithin(to, from)) return { tree, path: from };
  const path = afterRemoval(to, from);
  return { tree: insertAt(removeAt(tree, from), path, block), path };
}
