/** The document of a visual template: a tree of blocks, versioned, without HTML except in blocks of HTML. */
import { choice, colour, type Fields, flag, line, pixels } from "./fields.ts";

export const DESIGN_VERSION = 1;
export const MAX_DESIGN_BYTES = 512 * 1_024;
export const MAX_BLOCKS = 500;
/** Sections within conditions within loops …; columns count as one level. */
export const MAX_DEPTH = 8;
export const MAX_COLUMNS = 4;

/** Look of the whole mail. */
export const SETTINGS = {
  width: pixels(600, 800, 320),
  background: colour("#f4f5f7"),
  content_background: colour("brand.background"),
  text_color: colour("brand.text"),
  link_color: colour("brand.primary"),
  /** BCP 47, for screen readers; empty: unknown. */
  language: line("", 35),
} as const satisfies Fields;

export const SECTION = {
  background: colour(),
  padding: pixels(16, 80),
  /** Columns below each other on phones. */
  stack: flag(true),
  vertical: choice("top", "middle", "bottom"),
} as const satisfies Fields;

/** A block without nested blocks; its settings are beside `type` (blocks/). */
export interface LeafBlock {
  type: string;
  [setting: string]: unknown;
}
/** Reference to a saved block, so that changes apply wherever it is used. */
export interface SavedReference {
  type: "saved";
  id: string;
}
export interface Condition {
  type: "if";
  variable: string;
  blocks: Block[];
  else?: Block[];
}
export interface Loop {
  type: "each";
  variable: string;
  blocks: Block[];
}
export interface Column {
  /** Share of the section's width; 1 for all: equal columns. */
  share?: number;
  blocks: Block[];
}
export interface Section {
  type: "section";
  columns: Column[];
  [setting: string]: unknown;
}
export type Block = Section | Condition | Loop | SavedReference | LeafBlock;

export interface Design {
  version: typeof DESIGN_VERSION;
  settings?: Record<string, unknown>;
  /** Sections, and conditions, loops and saved blocks of sections. */
  blocks: Block[];
}

export const isSection = (block: Block): block is Section => block.type === "section";
export const isCondition = (block: Block): block is Condition => block.type === "if";
export const isLoop = (block: Block): block is Loop => block.type === "each";
export const isSaved = (block: Block): block is SavedReference => block.type === "saved";

/** The lists of blocks directly inside a block, each with its path below the block. */
export function listsIn(block: Block): { path: string; blocks: Block[] }[] {
  if (isSection(block)) return block.columns.map(({ blocks }, no) => ({ path: `columns[${no}].blocks`, blocks }));
  if (isCondition(block)) {
    return [{ path: "blocks", blocks: block.blocks }, ...(block.else ? [{ path: "else", blocks: block.else }] : [])];
  }
  return isLoop(block) ? [{ path: "blocks", blocks: block.blocks }] : [];
}
