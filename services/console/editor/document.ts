/** The design as the editor sees it: where blocks may stand, new blocks, and paths as the API writes them. */
import { BLOCKS, isKind, type Kind } from "../../lib/design/blocks/fields.ts";
import {
  type Block,
  type Column,
  type Condition,
  type Design,
  isCondition,
  isLoop,
  isSection,
  MAX_COLUMNS,
  SECTION,
  type Section,
} from "../../lib/design/design.ts";
import { EMPTY_TEXT, type Field, type Fields } from "../../lib/design/fields.ts";
import { getAt, indexOf, insertAt, isWithin, type Moved, moveTo, type Path, parentOf, setAt } from "./tree.ts";

export type BlockType = Kind | "section" | "if" | "each" | "saved";

/** Paths of the lists of blocks directly inside a block. */
export function listPaths(block: Block, path: Path): Path[] {
  if (isSection(block)) return block.columns.map((_, no) => [...path, "columns", no, "blocks"]);
  if (isCondition(block)) return [[...path, "blocks"], ...(block.else ? [[...path, "else"]] : [])];
  return isLoop(block) ? [[...path, "blocks"]] : [];
}

/** Every block with its path, top down. */
export function allBlocks(design: Design, list: Path = ["blocks"]): [Block, Path][] {
  const blocks = (getAt(design, list) ?? []) as Block[];
  return blocks.flatMap((block, no) => {
    const path = [...list, no];
    return [[block, path] as [Block, Path], ...listPaths(block, path).flatMap((inner) => allBlocks(design, inner))];
  });
}

export const blockAt = (design: Design, path: Path | null): Block | undefined =>
  path ? (getAt(design, path) as Block | undefined) : undefined;

/** Lists outside of columns hold sections, and conditions and loops around sections. */
export const isForSections = (list: Path): boolean => !list.includes("columns");

export function fits(block: Block, list: Path): boolean {
  if (block.type === "saved") return true;
  if (!isCondition(block) && !isLoop(block)) return isSection(block) === isForSections(list);
  const inside = isCondition(block) ? [...block.blocks, ...(block.else ?? [])] : block.blocks;
  return inside.every((one) => fits(one, list));
}

const firstOf = (field: Field): unknown => {
  if (field.kind === "rich") return EMPTY_TEXT;
  return field.kind === "items" ? [newItem(field.fields)] : undefined;
};

/** Defaults are left out: they may change with the brand. */
export function newItem(fields: Fields): Record<string, unknown> {
  const values = Object.entries(fields).map(([name, field]) => [name, firstOf(field)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

export const newSection = (columns: number, blocks: Block[] = []): Section => ({
  type: "section",
  columns: Array.from({ length: columns }, (_, no): Column => ({ blocks: no === 0 ? blocks : [] })),
});

const FIRST_VARIABLE = "first_name";

export function newBlock(type: BlockType, columns = 1): Block {
  if (type === "section") return newSection(columns);
  if (type === "if" || type === "each") return { type, variable: FIRST_VARIABLE, blocks: [] } as Condition;
  if (!isKind(type)) return { type };
  return { type, ...newItem(BLOCKS[type]) };
}

export const emptyDesign = (): Design => ({
  version: 1,
  blocks: [
    newSection(1, [newBlock("header")]),
    newSection(1, [newBlock("heading"), newBlock("text")]),
    newSection(1, [newBlock("footer")]),
  ],
});

/** As it may stand in the list: a block outside of columns gets a section of its own. */
export function wrapped(block: Block, list: Path): Block {
  if (fits(block, list)) return block;
  if (!isForSections(list)) return block;
  return newSection(1, [block]);
}

/** The place after the selected block, in the nearest list that takes the block; a selected empty column or section takes it inside. */
export function placeFor(design: Design, block: Block, selected: Path | null): Path {
  if (selected) {
    const at = blockAt(design, selected);
    const inner =
      at && !fits(block, parentOf(selected)) ? listPaths(at, selected).find((list) => fits(block, list)) : undefined;
    if (inner) return [...inner, (getAt(design, inner) as Block[]).length];
    for (let path = selected; path.length > 1; path = outerOf(path) ?? []) {
      if (fits(block, parentOf(path))) return [...parentOf(path), indexOf(path) + 1];
    }
  }
  return placeAtEnd(design, block);
}

/** At the end of the last section, but above the footer. */
function placeAtEnd({ blocks }: Design, block: Block): Path {
  const isFooter = (one: Block) =>
    isSection(one) && one.columns.some((column) => column.blocks.some(({ type }) => type === "footer"));
  const end = blocks.length > 0 && isFooter(blocks.at(-1)!) ? blocks.length - 1 : blocks.length;
  const last = blocks[end - 1];
  if (!last || !isSection(last) || fits(block, ["blocks"])) return ["blocks", end];
  return ["blocks", end - 1, "columns", 0, "blocks", last.columns[0]!.blocks.length];
}

/** The block around a block; undefined for the outermost. */
export function outerOf(path: Path): Path | undefined {
  for (let n = path.length - 2; n > 1; n--) {
    const outer = path.slice(0, n);
    if (typeof outer.at(-1) === "number" && outer.at(-2) !== "columns") return outer;
  }
  return undefined;
}

export function insertBlock(design: Design, block: Block, path: Path): Moved<Design> {
  const made = wrapped(block, parentOf(path));
  const tree = insertAt(design, path, made);
  const isInner = made !== block && isSection(made);
  return { tree, path: isInner ? [...path, "columns", 0, "blocks", 0] : path };
}

/** Moves a block to a place before the move, with a section around it if the place needs one. */
export function moveBlock(design: Design, from: Path, to: Path): Moved<Design> {
  const block = blockAt(design, from);
  if (!block || isWithin(to, from)) return { tree: design, path: from };
  const made = wrapped(block, parentOf(to));
  if (!fits(made, parentOf(to))) return { tree: design, path: from };
  if (made === block) return moveTo(design, from, to);
  return moveTo(setAt(design, from, made), from, to);
}

/** One step up or down: past a neighbour, else out of the condition, else into the section before or after. */
export function stepped(design: Design, path: Path, by: 1 | -1): Moved<Design> {
  const list = (getAt(design, parentOf(path)) ?? []) as Block[];
  const to = indexOf(path) + by;
  if (to >= 0 && to < list.length) {
    return moveTo(design, path, [...parentOf(path), by === 1 ? to + 1 : to]);
  }
  const lists = allLists(design).filter((one) => !isWithin(one, path) && fits(blockAt(design, path)!, one));
  const here = lists.findIndex((one) => one.join("/") === parentOf(path).join("/"));
  const next = lists[here + by];
  if (!next) return { tree: design, path };
  const end = ((getAt(design, next) ?? []) as Block[]).length;
  return moveTo(design, path, [...next, by === 1 ? 0 : end]);
}

/** Lists in the order of the document. */
export const allLists = (design: Design, list: Path = ["blocks"]): Path[] => [
  list,
  ...((getAt(design, list) ?? []) as Block[]).flatMap((block, no) =>
    listPaths(block, [...list, no]).flatMap((inner) => allLists(design, inner)),
  ),
];

/** Blocks of removed columns move to the last one that stays. */
export function withColumns(section: Section, count: number): Section {
  const wanted = Math.min(Math.max(count, 1), MAX_COLUMNS);
  const kept = section.columns.slice(0, wanted).map(({ share: _, ...column }) => column);
  while (kept.length < wanted) kept.push({ blocks: [] });
  const lost = section.columns.slice(wanted).flatMap(({ blocks }) => blocks);
  const last = kept.at(-1)!;
  return {
    ...section,
    columns: lost.length > 0 ? kept.with(-1, { ...last, blocks: [...last.blocks, ...lost] }) : kept,
  };
}

/** Puts a block into a condition on `variable`; an empty name takes it out of the one around it. */
export function withCondition(design: Design, path: Path, variable: string): Moved<Design> {
  const block = blockAt(design, path)!;
  const outer = conditionAround(design, path);
  if (outer && variable !== "") return { tree: setAt(design, [...outer, "variable"], variable), path };
  if (outer) return { tree: setAt(design, outer, block), path: outer };
  if (variable === "") return { tree: design, path };
  return { tree: setAt(design, path, { type: "if", variable, blocks: [block] }), path: [...path, "blocks", 0] };
}

/** The condition that holds nothing but this block. */
export function conditionAround(design: Design, path: Path): Path | undefined {
  const outer = outerOf(path);
  const around = outer && blockAt(design, outer);
  return around && isCondition(around) && around.blocks.length === 1 && !around.else?.length ? outer : undefined;
}

export const fieldsOf = (block: Block): Fields =>
  isKind(block.type) ? BLOCKS[block.type] : isSection(block) ? SECTION : {};

/** "blocks[0].columns[1].blocks[2].text" as a path. */
export const pathFrom = (text: string): Path =>
  [...text.matchAll(/[^.[\]]+/g)].map(([part]) => (/^\d+$/.test(part) ? Number(part) : part));

/** The innermost block on the way to a value, and the value's path below it. */
export function blockOnWay(path: Path): { block: Path; rest: Path } | undefined {
  for (let n = path.length; n > 1; n--) {
    const [list, index] = [path[n - 2], path[n - 1]];
    if (typeof index === "number" && (list === "blocks" || list === "else")) {
      return { block: path.slice(0, n), rest: path.slice(n) };
    }
  }
  return undefined;
}
