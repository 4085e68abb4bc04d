/** The editor's state, and every change of it. */
import type { Block, Design } from "../../lib/design/design.ts";
import type { Finding } from "../../lib/mail-check/finding.ts";
import type { Boot, Mail, SavedBlock } from "./boot.ts";
import { allBlocks, blockAt, emptyDesign } from "./document.ts";
import { begin, changed, type History, redone, undone } from "./history.ts";
import { isSame, type Path, setAt } from "./tree.ts";

/** State that one step of undo restores. */
export interface Content {
  design: Design;
  mail: Mail;
}

export type View = "edit" | "desktop" | "phone" | "dark";

export interface Conflict {
  /** Null for a campaign's draft, which does not say who changed it. */
  who: string | null;
  at: string;
  /** Identifies what is stored now. */
  seen: string;
  theirs: string;
}

export interface Checks {
  findings: Finding[];
  /** Sentences without a block. */
  warnings: string[];
  /** Bytes of the HTML. */
  size: number;
  /** True if links and spam were checked, too. */
  isWhole: boolean;
}

export interface State {
  history: History<Content>;
  selected: Path | null;
  /** A place for the next block, chosen before the block. */
  target: Path | null;
  /** The tab at the right. */
  tab: "block" | "section" | "mail" | "checks";
  view: View;
  reader: string;
  /** The template as it is saved; null until the first save. */
  id: string | null;
  seen: string | null;
  /** The content that is saved. */
  saved: Content;
  savedAtMs: number | null;
  isSaving: boolean;
  /** Sentences of a refused save, some with the path of a value. */
  problems: { path: Path; sentence: string }[];
  conflict: Conflict | null;
  notice: "restored" | "older" | null;
  /** Null before the first check. */
  checks: Checks | null;
  isChecking: boolean;
  savedBlocks: readonly SavedBlock[];
  /** Variable that is selected in a text. */
  chip: { name: string; fallback: string } | null;
  /** Names of the marks at the text cursor. */
  marks: string;
  /** For screen readers. */
  said: string;
}

type Listener = () => void;

export interface Store {
  read(): State;
  set(change: Partial<State>): void;
  /** Changes the content; `about` joins quick changes of one field to one step of undo. */
  edit(change: Partial<Content>, about?: string, more?: Partial<State>): void;
  /** Returns what ends the subscription. */
  subscribe(listener: Listener): () => void;
}

export const contentOf = (state: State): Content => state.history.now;
export const designOf = (state: State): Design => state.history.now.design;
export function isChanged(state: State): boolean {
  const { design, mail } = contentOf(state);
  return design !== state.saved.design || mail !== state.saved.mail;
}
export const selectedBlock = (state: State): Block | undefined => blockAt(designOf(state), state.selected);

/** The saved block that a block refers to. */
export const savedFor = ({ savedBlocks }: State, block: Block): SavedBlock | undefined =>
  savedBlocks.find(({ id }) => id === (block as { id?: unknown }).id);

export function createStore(given: Boot, now: () => number = Date.now): Store {
  const content: Content = { design: given.design ?? emptyDesign(), mail: given.mail };
  const listeners = new Set<Listener>();
  let state: State = {
    history: begin(content),
    selected: null,
    target: null,
    tab: "mail",
    view: "edit",
    reader: "",
    id: given.id,
    seen: given.seen,
    saved: content,
    savedAtMs: null,
    isSaving: false,
    problems: [],
    conflict: null,
    notice: null,
    checks: null,
    isChecking: false,
    savedBlocks: given.savedBlocks,
    chip: null,
    marks: "",
    said: "",
  };
  const set = (change: Partial<State>) => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };
  return {
    read: () => state,
    set,
    edit(change, about = "", more = {}) {
      const next = { ...contentOf(state), ...change };
      set({ history: changed(state.history, next, about, now()), ...more });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Selects another block; does nothing if it is selected. */
export function select(store: Store, path: Path | null): void {
  const { selected } = store.read();
  if (selected === path || (selected && path && isSame(selected, path))) return;
  store.set({ selected: path, target: null, chip: null, tab: path ? "block" : "mail" });
}

/** Changes one value of the design. */
export function setValue(store: Store, path: Path, value: unknown): void {
  const design = setAt(designOf(store.read()), path, value);
  store.edit({ design }, path.join("/"));
}

function stepTo(store: Store, history: History<Content>, said: string): void {
  const { selected } = store.read();
  const isThere = selected && allBlocks(history.now.design).some(([, path]) => isSame(path, selected));
  store.set({ history, said, selected: isThere ? selected : null, chip: null });
}

export function undo(store: Store, said: string): void {
  const { history } = store.read();
  if (history.past.length > 0) stepTo(store, undone(history), said);
}

export function redo(store: Store, said: string): void {
  const { history } = store.read();
  if (history.future.length > 0) stepTo(store, redone(history), said);
}
