/**
 * Reads a mail's HTML once, in document order, for the rules of accessibility.ts and support.ts. Iterative, because
 * pasted HTML may be nested deeply. Style sheets are not applied: the caller inlines them.
 */
import { Parser } from "htmlparser2";
import { declarationsIn } from "../css-declarations.ts";
import { BLOCK_MARK } from "../design/markup.ts";
import { backgroundIn, colourIn } from "./css-colour.ts";

export interface MailElement {
  name: string;
  attributes: Record<string, string>;
  /** Declarations of its style attribute, names in lower case. */
  style: Map<string, string>;
  path: string | null;
}
export interface MailText {
  text: string;
  /** Null if unknown. */
  color: string | null;
  background: string | null;
  size: number;
  isBold: boolean;
  path: string | null;
}
export interface MailTable {
  isLayout: boolean;
  hasHeader: boolean;
  hasTables: boolean;
  rows: number;
  /** Cells of its longest row. */
  columns: number;
  path: string | null;
}
export interface Mail {
  language: string;
  elements: MailElement[];
  texts: MailText[];
  links: { href: string; text: string; path: string | null }[];
  images: { src: string; alt: string | undefined; width: number | null; path: string | null }[];
  headings: { level: number; text: string; path: string | null }[];
  tables: MailTable[];
  /** Contents of style sheets. */
  sheets: string[];
}

/** Tags that leave no text: conditions, loops and their ends. */
const BLOCK_TAG = /\[\[[#/].*?\]\]/gs;
/** Characters without a shape, with which mails fill their preview text. */
const INVISIBLE = /\u034f|[\u200b-\u200d\u2060\ufeff]/g;
const words = (text: string) => text.replaceAll(BLOCK_TAG, "").replaceAll(INVISIBLE, "").replaceAll(/\s+/g, " ").trim();

export function declarationsOf(style: string): Map<string, string> {
  const pairs = declarationsIn(style).map((text) => {
    const at = text.indexOf(":");
    return [text.slice(0, Math.max(at, 0)).trim().toLowerCase(), text.slice(at + 1).trim()] as const;
  });
  return new Map(pairs.filter(([name]) => name !== ""));
}

interface Look {
  color: string | null;
  background: string | null;
  size: number;
  isBold: boolean;
  isHidden: boolean;
}

const ROOT: Look = { color: "#000000", background: "#ffffff", size: 16, isBold: false, isHidden: false };
const HEADING_SIZES: Record<string, number> = { h1: 32, h2: 24, h3: 18.72, h4: 16, h5: 13.28, h6: 10.72 };
const BOLD = new Set(["b", "strong", "th", ...Object.keys(HEADING_SIZES)]);
const LINK_COLOUR = "#0000ee";

function sizeIn(value: string, outer: number): number {
  const [, number, unit] = /^([\d.]+)(px|pt|em|rem|%)/.exec(value) ?? [];
  const factor = { px: 1, pt: 4 / 3, em: outer, rem: 16, "%": outer / 100 }[unit ?? ""];
  return factor === undefined ? outer : Number(number) * factor;
}

const colourOr = (value: string | undefined, outer: string | null): string | null => {
  if (value === undefined || /^(?:inherit|currentcolor)/i.test(value)) return outer;
  return colourIn(value) ?? null;
};

function backgroundOf({ attributes, style }: MailElement, outer: string | null): string | null {
  if (attributes.background !== undefined) return null;
  const shorthand = style.get("background");
  const found = shorthand === undefined ? undefined : backgroundIn(shorthand);
  if (found === null || style.get("background-image")?.includes("(")) return null;
  const given = style.get("background-color") ?? found ?? attributes.bgcolor;
  return given === undefined || /^(?:transparent|inherit|none)/i.test(given) ? outer : colourOr(given, outer);
}

const isHidden = ({ attributes, style }: MailElement): boolean =>
  "hidden" in attributes ||
  attributes["aria-hidden"] === "true" ||
  /^none/i.test(style.get("display") ?? "") ||
  /^hidden/i.test(style.get("visibility") ?? "") ||
  /^0(?:px)?(?:$|\s)/.test(style.get("max-height") ?? "");

function lookOf(element: MailElement, outer: Look): Look {
  const { name, attributes, style } = element;
  const weight = style.get("font-weight");
  const ownColour = style.get("color") ?? (name === "font" ? attributes.color : undefined);
  const usual = name === "a" && "href" in attributes ? LINK_COLOUR : outer.color;
  return {
    color: colourOr(ownColour, ownColour === undefined ? usual : outer.color),
    background: backgroundOf(element, outer.background),
    size: sizeIn(style.get("font-size") ?? "", HEADING_SIZES[name] ?? outer.size),
    isBold: weight === undefined ? outer.isBold || BOLD.has(name) : /bold|^[7-9]\d\d/i.test(weight),
    isHidden: outer.isHidden || isHidden(element),
  };
}

const UNSEEN = new Set(["head", "title", "style", "script"]);
/** Nothing is read below it: no email client shows so deep an element, and the parser's time is its square. */
const MAX_DEPTH = 500;
/** Sizes that only hide text. */
const MIN_SIZE = 2;

class Reader implements Mail {
  language = "";
  readonly elements: MailElement[] = [];
  readonly texts: MailText[] = [];
  readonly links: Mail["links"] = [];
  readonly images: Mail["images"] = [];
  readonly headings: Mail["headings"] = [];
  readonly tables: MailTable[] = [];
  readonly sheets: string[] = [];
  #path: string | null = null;
  readonly #looks: Look[] = [ROOT];
  readonly #tables: MailTable[] = [];
  readonly #cells: number[] = [];
  /** Link or heading that takes the text. */
  readonly #named: { name: string; entry: { text: string } }[] = [];
  #sheet: string | undefined;

  get depth(): number {
    return this.#looks.length;
  }

  mark(comment: string): void {
    const [, path] = BLOCK_MARK.exec(comment.trim()) ?? [];
    if (path) this.#path = path;
  }

  open(name: string, attributes: Record<string, string>): void {
    const path = this.#path;
    const element = { name, attributes, style: declarationsOf(attributes.style ?? ""), path };
    const outer = this.#looks.at(-1)!;
    const look = lookOf(element, outer);
    if (UNSEEN.has(name)) look.isHidden = true;
    this.#looks.push(look);
    this.elements.push(element);
    if (name === "html" || name === "body") this.language ||= (attributes.lang ?? "").trim();
    if (name === "style") this.#sheet = "";
    if (look.isHidden) return;
    this.#openTable(name, attributes);
    const [, level] = /^h([1-6])$/.exec(name) ?? [];
    if (level) this.#name(name, this.headings, { level: Number(level), text: "", path });
    if (name === "a" && attributes.href !== undefined) {
      this.#name(name, this.links, { href: attributes.href, text: attributes["aria-label"] ?? "", path });
    }
    if (name === "img") {
      const { src = "", alt } = attributes;
      const width = Number.parseFloat(attributes.width ?? element.style.get("width") ?? "");
      this.images.push({ src, alt, width: Number.isFinite(width) ? width : null, path });
      this.#add(` ${alt ?? ""}`);
    }
  }

  #name<E extends { text: string }>(name: string, list: E[], entry: E): void {
    list.push(entry);
    this.#named.push({ name, entry });
  }

  #add(text: string): void {
    for (const { entry } of this.#named) entry.text += text;
  }

  #openTable(name: string, { role }: Record<string, string>): void {
    const table = this.#tables.at(-1);
    if (name === "table") {
      if (table) table.hasTables = true;
      const isLayout = role === "presentation" || role === "none";
      const opened = { isLayout, hasHeader: false, hasTables: false, rows: 0, columns: 0, path: this.#path };
      this.tables.push(opened);
      this.#tables.push(opened);
      this.#cells.push(0);
    } else if (table && name === "tr") {
      table.rows++;
      this.#cells[this.#cells.length - 1] = 0;
    } else if (table && (name === "td" || name === "th")) {
      table.columns = Math.max(table.columns, ++this.#cells[this.#cells.length - 1]!);
      if (name === "th") table.hasHeader = true;
    }
  }

  text(given: string): void {
    if (this.#sheet !== undefined) this.#sheet += given;
    const { isHidden: isUnseen, ...look } = this.#looks.at(-1)!;
    if (isUnseen) return;
    this.#add(given);
    const text = words(given);
    if (text !== "" && look.size >= MIN_SIZE) this.texts.push({ ...look, text, path: this.#path });
  }

  close(name: string): void {
    const look = this.#looks.length > 1 ? this.#looks.pop()! : ROOT;
    if (name === "style" && this.#sheet !== undefined) {
      this.sheets.push(this.#sheet);
      this.#sheet = undefined;
    }
    if (look.isHidden) return;
    if (name === "table") {
      this.#tables.pop();
      this.#cells.pop();
    }
    const named = this.#named.at(-1);
    if (named?.name !== name) return;
    this.#named.pop();
    named.entry.text = words(named.entry.text);
  }
}

export function readMail(html: string): Mail {
  const reader = new Reader();
  const parser = new Parser({
    oncomment: (comment) => reader.mark(comment),
    onopentag(name, attributes) {
      reader.open(name, attributes);
      if (reader.depth > MAX_DEPTH) parser.pause();
    },
    ontext: (text) => reader.text(text),
    onclosetag: (name) => reader.close(name),
  });
  parser.end(html);
  return reader;
}
