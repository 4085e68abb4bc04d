/** Blocks as JSON text in the clipboard, so that they can be pasted into another template. */
import { BLOCKS, isKind } from "../../lib/design/blocks/fields.ts";
import { type Block, MAX_COLUMNS, SECTION } from "../../lib/design/design.ts";
import type { Field, Fields } from "../../lib/design/fields.ts";
import { visual as t } from "../messages/visual.ts";
import { nameOf, paste } from "./commands.ts";
import type { Store } from "./store.ts";

const MARK = "flockmail-block";
/** Browsers let pages read the clipboard only on a key press: the menu pastes from here. */
const KEPT = "flockmail:block";

export const textOf = (block: Block): string => JSON.stringify({ [MARK]: 1, block });

type Values = Record<string, unknown>;
const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isFit(field: Field, value: unknown): boolean {
  if (field.kind === "items") return Array.isArray(value) && value.every(isObject);
  if (field.kind === "rich") return isObject(value) && value.type === "doc" && Array.isArray(value.content);
  if (field.kind === "pixels") return typeof value === "number";
  if (field.kind === "flag") return typeof value === "boolean";
  if (field.kind === "choice") return field.values.includes(`${value}`);
  return typeof value === "string";
}

function fitting(fields: Fields, given: Values): Values {
  const entries = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    const value = given[name];
    if (value === undefined || !isFit(field, value)) return [];
    if (field.kind !== "items") return [[name, value]];
    return [[name, (value as Values[]).map((one) => fitting(field.fields, one))]];
  });
  return Object.fromEntries(entries);
}

/** Blocks in a pasted value; unknown kinds and settings are dropped. */
function blockFrom(value: unknown): Block | undefined {
  if (!isObject(value) || typeof value.type !== "string") return undefined;
  const { type } = value;
  const list = (given: unknown): Block[] =>
    Array.isArray(given) ? given.map(blockFrom).filter((one) => one !== undefined) : [];
  if (type === "section") {
    const columns = (Array.isArray(value.columns) ? value.columns : [{}]).filter(isObject).slice(0, MAX_COLUMNS);
    return { type, ...fitting(SECTION, value), columns: columns.map(({ blocks }) => ({ blocks: list(blocks) })) };
  }
  if ((type === "if" || type === "each") && typeof value.variable === "string") {
    const other = type === "if" && value.else !== undefined ? { else: list(value.else) } : {};
    return { type, variable: value.variable, blocks: list(value.blocks), ...other } as Block;
  }
  return isKind(type) ? { type, ...fitting(BLOCKS[type], value) } : undefined;
}

export function blockInText(text: string): Block | undefined {
  try {
    const given = JSON.parse(text) as unknown;
    return isObject(given) && MARK in given ? blockFrom(given.block) : undefined;
  } catch {
    return undefined;
  }
}

/** For the menu, which has no clipboard event. */
export function copyBlock(store: Store, block: Block, data?: DataTransfer | null): void {
  const text = textOf(block);
  localStorage.setItem(KEPT, text);
  if (data) data.setData("text/plain", text);
  else navigator.clipboard?.writeText(text).catch(() => undefined);
  store.set({ said: t.says.copied(nameOf(block)) });
}

export function pasteText(store: Store, text: string): boolean {
  const block = blockInText(text);
  if (block) paste(store, block);
  return block !== undefined;
}

export function pasteKept(store: Store): void {
  if (!pasteText(store, localStorage.getItem(KEPT) ?? "")) store.set({ said: t.says.nothingToPaste });
}
