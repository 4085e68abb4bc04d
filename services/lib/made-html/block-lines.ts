/**
 * Places the lines of Markdown that consist of conditions and loops, so that they do not break what is around them: in
 * tables, code and HTML as they are, in a list as items of their own, elsewhere as paragraphs. `withoutFrames` removes
 * the row, item or paragraph around them from the HTML.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { TagsAside } from "../template/tags-aside.ts";

/** Start of a list item: indentation and marker. */
const ITEM = /^(\s*(?:[-*+]|\d{1,9}[.)]))\s/;

/** A condition or loop whose tags stand on lines of their own. */
interface Block {
  /** Numbers of these lines. */
  lines: number[];
  isLoop: boolean;
  outer: Block | undefined;
  place: "html" | "row or code" | "item" | "apart";
  /** Indentation and marker of the first item within. */
  marker: string;
}

/** Each condition, loop and end on a line of its own, where a line has nothing else. */
function linesOf(tags: TagsAside, text: string): string[] {
  const word = /\S+?z/g;
  return text.split("\n").flatMap((line) => {
    if (!tags.isOnlyBlocks(line)) return [line];
    const indentation = /^\s*/.exec(line)![0];
    return (line.match(word) ?? []).map((one) => indentation + one);
  });
}

function blocksOf(tags: TagsAside, lines: readonly string[]): Block[] {
  const open: Block[] = [];
  const blocks: Block[] = [];
  for (const [no, line] of lines.entries()) {
    for (const tag of tags.blocksIn(line).map((key) => tags.tagOf(key))) {
      const [, name] = /^\[\[\s*#(if|each)\s/.exec(tag) ?? [];
      if (name) {
        const block: Block = { lines: [], isLoop: name === "each", outer: open.at(-1), place: "apart", marker: "" };
        open.push(block);
        blocks.push(block);
      }
      open.at(-1)!.lines.push(no);
      if (/^\[\[\s*\//.test(tag)) open.pop();
    }
  }
  // A tag within a line stays there, and so do the others of its block.
  return blocks.filter((block) => block.lines.every((no) => tags.isOnlyBlocks(lines[no]!)));
}

/** Tokens by the trimmed lines that they consist of. */
function* tokensByLine(tokens: readonly Token[]): Generator<[line: string, token: MarkedToken]> {
  for (const token of tokens as readonly MarkedToken[]) {
    if (token.type === "html" || token.type === "code") {
      for (const line of token.raw.split("\n")) yield [line.trim(), token];
    } else if (token.type === "table") {
      for (const [cell] of token.rows) yield [cell!.text, token];
    } else if (token.type === "list") {
      for (const item of token.items) {
        yield [item.text.trim(), token];
        yield* tokensByLine(item.tokens);
      }
    } else if (token.type === "blockquote") yield* tokensByLine(token.tokens);
  }
}

type Places = (MarkedToken | undefined)[];

const isOne = (places: Places): boolean => places[0] !== undefined && new Set(places).size === 1;
const isRowOrCode = (places: Places): boolean =>
  isOne(places) && (places[0]!.type === "table" || places[0]!.type === "code");

/** Setting one apart may split the table or list that others are in. */
const MAX_CORRECTIONS = 5;

class BlockLines {
  readonly #tags: TagsAside;
  readonly #lines: readonly string[];
  readonly blocks: readonly Block[];
  readonly #blockAt: ReadonlyMap<number, Block>;

  constructor(tags: TagsAside, text: string) {
    this.#tags = tags;
    this.#lines = linesOf(tags, text);
    this.blocks = blocksOf(tags, this.#lines);
    this.#blockAt = new Map(this.blocks.flatMap((block) => block.lines.map((no) => [no, block])));
  }

  /** Places by what marked makes of the lines as typed, and of the first line within each block. */
  guess(): void {
    const placesOf = this.#placesIn(this.#lines.join("\n"));
    const next: string[] = [];
    for (let no = this.#lines.length - 1, content = ""; no >= 0; no--) {
      next[no] = content;
      if (this.#isContent(no)) content = this.#lines[no]!;
    }
    for (const block of this.blocks) {
      const places = placesOf(block);
      const first = next[block.lines[0]!]!;
      const isInHtml = places[0]?.type === "html" && (block.outer?.place === "html" || /^\s*</.test(first));
      block.marker = ITEM.exec(first)?.[1] ?? "";
      if (isInHtml) block.place = "html";
      else if (isRowOrCode(places)) block.place = "row or code";
      else block.place = block.marker ? "item" : "apart";
    }
  }

  /** Sets blocks apart that marked does not take as placed. Returns whether there were any. */
  correct(): boolean {
    const placesOf = this.#placesIn(this.placed());
    const wrong = this.blocks.filter((block) => !this.#isTaken(block, placesOf(block)));
    for (const block of wrong) block.place = "apart";
    return wrong.length > 0;
  }

  #isTaken(block: Block, places: Places): boolean {
    if (block.place === "html" || block.place === "apart") return true;
    if (block.place === "row or code") return isRowOrCode(places);
    const [list] = places;
    // A condition around a whole list would leave an empty one.
    return isOne(places) && list?.type === "list" && (block.isLoop || !this.#isWhole(list, block));
  }

  placed(): string {
    const result: string[] = [];
    let content = "";
    for (const [no, line] of this.#lines.entries()) {
      const block = this.#blockAt.get(no);
      const after = this.#lines[no + 1] ?? "";
      if (this.#isContent(no)) content = line;
      if (!block) {
        if (!this.#opensList(no - 1) || line.trim() !== "") result.push(line);
      } else if (block.place === "apart") result.push("", line.trim(), "");
      else if (block.place !== "item") {
        result.push(line);
        // Otherwise text after a table would be a row.
        const isEndOfTable = no === block.lines.at(-1) && /^\s*\|/.test(content);
        if (isEndOfTable && !after.includes("|") && !this.#blockAt.has(no + 1)) result.push("");
      } else {
        if (no !== block.lines[0]) while (result.at(-1)?.trim() === "") result.pop();
        else if (!this.#isInList(result.at(-1) ?? "")) result.push("");
        result.push(`${block.marker} ${line.trim()}`);
        if (!this.#isInList(after)) result.push("");
      }
    }
    return result.join("\n");
  }

  #isContent(no: number): boolean {
    return this.#lines[no]!.trim() !== "" && !this.#tags.isOnlyBlocks(this.#lines[no]!);
  }

  #isInList(line: string): boolean {
    return line === "" || /^\s/.test(line) || ITEM.test(line) || this.#tags.isOnlyBlocks(line);
  }

  #opensList(no: number): boolean {
    const block = this.#blockAt.get(no);
    return block?.place === "item" && no !== block.lines.at(-1);
  }

  #isWhole({ items }: Tokens.List, { lines }: Block): boolean {
    const isAt = (item: Tokens.ListItem | undefined, no: number) => item?.text.trim() === this.#lines[no]!.trim();
    return isAt(items[0], lines[0]!) && isAt(items.at(-1), lines.at(-1)!);
  }

  /** Gives the token of each line of a block. */
  #placesIn(source: string): (block: Block) => Places {
    const tokens = new Map(tokensByLine(lexer(source)));
    return ({ lines }) => lines.map((no) => tokens.get(this.#lines[no]!.trim()));
  }
}

export function withPlacedBlocks(tags: TagsAside, text: string): string {
  const lines = new BlockLines(tags, text);
  if (lines.blocks.length === 0) return text;
  lines.guess();
  for (let n = 0; n < MAX_CORRECTIONS && lines.correct(); n++);
  return lines.placed();
}

/** Rows, items and paragraphs of `html` that hold nothing but conditions and loops become these. */
export function withoutFrames(tags: TagsAside, html: string): string {
  const unframed = (frame: string, words: string) => (tags.isOnlyBlocks(words) ? words : frame);
  return html
    .replace(/<tr>\s*<td[^>]*>([a-z0-9\s]+)<\/td>(?:\s*<td[^>]*><\/td>)*\s*<\/tr>/g, unframed)
    .replace(/<li>(?:<p>)?([a-z0-9\s]+)(?:<\/p>\s*)?<\/li>/g, unframed)
    .replace(/<p>([a-z0-9\s]+)<\/p>/g, unframed)
    .replace(/^[ \t]*([a-z0-9]+)\n/gm, unframed);
}
