/**
 * Replaces the `[[…]]` of a template by words while HTML, MJML or CSS is parsed, and restores them. Each word consists
 * of lower-case letters and digits: text in markup, a name in CSS, and never escaped.
 */
import { type Tag, tokenize } from "./lexer.ts";

const isBlock = ({ type }: Tag) => type !== "value";

/** Prefix of words that the template does not contain itself. */
function unusedIn(source: string): string {
  const lower = source.toLowerCase();
  let nextKey = 0;
  while (lower.includes(`tag${nextKey}x`)) nextKey++;
  return `tag${nextKey}x`;
}

export class TagsAside {
  /** The text with each tag replaced by a word. */
  readonly text: string;
  readonly #start: string;
  readonly #word: RegExp;
  readonly #kept: string[] = [];
  readonly #blocks = new Set<number>();
  readonly #texts = new Set<number>();
  /** Positions of the words in `text`, and the shift of the text after them. */
  readonly #moves: { at: number; by: number }[] = [];

  /** `source`: a template without syntax errors. */
  constructor(source: string) {
    this.#start = unusedIn(source);
    this.#word = new RegExp(`${this.#start}(\\d+)z`, "g");
    let text = "";
    let position = 0;
    for (const token of tokenize(source).tokens) {
      if (token.type === "text") continue;
      const isRaw = token.type === "value" && token.raw;
      const end = isRaw ? source.indexOf("]]]", token.at) + 3 : source.indexOf("]]", token.at) + 2;
      text += source.slice(position, token.at);
      if (isBlock(token)) this.#blocks.add(this.#kept.length);
      text += this.#wordFor(source.slice(token.at, end));
      position = end;
      this.#moves.push({ at: text.length, by: end - text.length });
    }
    this.text = text + source.slice(position);
  }

  #wordFor(text: string): string {
    return `${this.#start}${this.#kept.push(text) - 1}z`;
  }

  /** A word for any other part of `text`. */
  keep(part: string): string {
    this.#texts.add(this.#kept.length);
    return this.#wordFor(part);
  }

  /** Restores the kept parts; tags remain words. */
  withParts(text: string): string {
    return text.replace(this.#word, (word, key) => (this.#texts.has(Number(key)) ? this.#kept[Number(key)]! : word));
  }

  restored(text: string): string {
    return this.withParts(text).replace(this.#word, (_, key) => this.#kept[Number(key)]!);
  }

  withoutWords(part: string): string {
    return part.replace(this.#word, "");
  }

  /** Maps a position in `text` to the template. */
  positionOf(at: number): number {
    return at + (this.#moves.findLast((move) => move.at <= at)?.by ?? 0);
  }

  hasTag(part: string): boolean {
    return part.includes(this.#start);
  }

  /** True if a part of `text` with tags may render to this name. */
  mayBecome(part: string, name: string): boolean {
    const fixed = part.trim().split(new RegExp(`${this.#start}\\d+z`));
    const pattern = fixed.map((piece) => piece.replace(/[^\w-]/g, "\\$&")).join(".*");
    return new RegExp(`^${pattern}$`, "i").test(name);
  }

  /** True if a part of `text` contains only conditions and loops, and their ends. */
  isOnlyBlocks(part: string): boolean {
    const rest = part.replace(this.#word, (word, no) => (this.#blocks.has(Number(no)) ? "" : word));
    return part.trim() !== "" && rest.trim() === "";
  }

  isValue(part: string): boolean {
    const [word, no] = new RegExp(this.#word).exec(part) ?? [];
    return word === part && !this.#blocks.has(Number(no)) && !this.#texts.has(Number(no));
  }

  /** The numbers of the conditions and loops in a part of `text`, and of their ends, in order. */
  blocksIn(part: string): number[] {
    return [...part.matchAll(this.#word)].map(([, no]) => Number(no)).filter((no) => this.#blocks.has(no));
  }

  /** The tag as written. */
  tagOf(key: number): string {
    return this.#kept[key]!;
  }
}
