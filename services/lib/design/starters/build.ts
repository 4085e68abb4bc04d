/** Short forms for writing designs by hand. */
import type { Block, Column, Condition, Design, LeafBlock, Loop, Section } from "../design.ts";
import type { Inline, RichText } from "../fields.ts";

export type StarterKind = "newsletter" | "marketing" | "lifecycle" | "transactional";

export interface Starter {
  id: string;
  kind: StarterKind;
  name: string;
  /** One sentence for the gallery: what it is for. */
  about: string;
  subject: string;
  preheader: string;
  design: Design;
}

/** `**bold**` and `[words](address)` in a paragraph; nothing else of Markdown. */
const SPAN = /\*\*(.+?)\*\*|\[([^[\]]+)\]\(([^()\s]+)\)/g;

function inlines(text: string): Inline[] {
  const all: Inline[] = [];
  let from = 0;
  for (const match of text.matchAll(SPAN)) {
    if (match.index > from) all.push({ type: "text", text: text.slice(from, match.index) });
    const [whole, bold, words, href] = match;
    all.push(
      bold === undefined
        ? { type: "text", text: words!, marks: [{ type: "link", attrs: { href: href! } }] }
        : { type: "text", text: bold, marks: [{ type: "bold" }] },
    );
    from = match.index + whole.length;
  }
  if (from < text.length) all.push({ type: "text", text: text.slice(from) });
  return all;
}

const doc = (paragraphs: readonly string[]): RichText => ({
  type: "doc",
  content: paragraphs.map((text) => ({ type: "paragraph", content: inlines(text) })),
});

export const text = (...paragraphs: string[]): LeafBlock => ({ type: "text", content: doc(paragraphs) });
export const small = (...paragraphs: string[]): LeafBlock => ({ ...text(...paragraphs), size: 14 });
export const centred = (...paragraphs: string[]): LeafBlock => ({ ...text(...paragraphs), align: "center" });
export const heading = (words: string, level: "1" | "2" | "3" = "1", more: object = {}): LeafBlock => ({
  type: "heading",
  text: words,
  level,
  ...more,
});
export const button = (words: string, href: string, more: object = {}): LeafBlock => ({
  type: "button",
  text: words,
  href,
  ...more,
});
export const list = (kind: "bullets" | "numbers" | "checks", ...entries: string[]): LeafBlock => ({
  type: "list",
  kind,
  entries: entries.map((one) => ({ text: one })),
});
export const table = (...rows: string[][]): LeafBlock => ({
  type: "table",
  rows: rows.map((cells) => ({ cells: cells.map((one) => ({ text: one })) })),
});
export const quote = (words: string, author: string): LeafBlock => ({ type: "quote", text: words, author });
export const card = (title: string, words: string, price: string, label: string, href: string): LeafBlock => ({
  type: "card",
  title,
  text: words,
  price,
  button: label,
  href,
});
export const divider: LeafBlock = { type: "divider" };
export const spacer = (height: number): LeafBlock => ({ type: "spacer", height });

export const column = (...blocks: Block[]): Column => ({ blocks });
export const columns = (all: Column[], more: object = {}): Section => ({ type: "section", columns: all, ...more });
export const section = (...blocks: Block[]): Section => columns([column(...blocks)]);
/** A band in the brand's colour; its texts take `ON_BAND`. */
export const band = (...blocks: Block[]): Section =>
  columns([column(...blocks)], { background: "brand.primary", padding: 32 });
export const ON_BAND = { color: "brand.on_primary" };

export const when = (variable: string, blocks: Block[], other?: Block[]): Condition => ({
  type: "if",
  variable,
  blocks,
  ...(other ? { else: other } : {}),
});
export const each = (variable: string, ...blocks: Block[]): Loop => ({ type: "each", variable, blocks });

const HEADER = section({ type: "header" });
const FOOTER = columns([column({ type: "footer", align: "center" })], { background: "#f4f5f7", padding: 16 });
/** Receipts and the like go to people who are on no list. */
const SHORT_FOOTER = columns([column({ type: "footer", align: "center", unsubscribe: "", preferences: "" })], {
  background: "#f4f5f7",
  padding: 16,
});

const whole = (blocks: Block[]): Design => ({ version: 1, settings: { language: "en" }, blocks });
export const marketing = (...blocks: Block[]): Design => whole([HEADER, ...blocks, FOOTER]);
export const transactional = (...blocks: Block[]): Design => whole([HEADER, ...blocks, SHORT_FOOTER]);
export const HELLO = "Hello [[first_name|default:there]],";
