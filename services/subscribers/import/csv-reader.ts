/**
 * Reads CSV as spreadsheets write it: delimited by comma, semicolon, tab or bar (detected from the first line or given by
 * a line `sep=;`), with LF, CRLF or CR, and quoted cells with line breaks, doubled quotes and surrounding blanks. Yields
 * rows with the number of their first line.
 *
 * Not a library, because lines without a quote can be split with split(), which is several times faster
 * (test/bench/import.ts).
 *
 * An unclosed quote costs only its own line, and so does a line without an end: after MAX_ROW_CHARS (or at the end of the
 * file) the row is yielded with `error`, and reading continues with the next line. Memory holds one chunk and one row.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

export interface CsvRow {
  line: number;
  cells: string[];
  /** Reason why the row could not be split into cells. */
  error?: string;
}

const MAX_ROW_CHARS = 1024 * 1024;
const UNCLOSED = "A quoted field is not closed.";
const ENDLESS = "The row is too long.";
/** Reported part of a row that is too long, enough to identify it. */
const REPORTED_CHARS = 1_000;

interface Dialect {
  delimiter: string;
  newline: "\n" | "\r";
}

/** Detected from the first line that is not blank, ignoring quoted text. */
function dialectOf(text: string): Dialect {
  const bare = text.trimStart().replace(/"(?:[^"]|"")*"?/g, "x");
  const newline = /^[^\n]*\r(?!\n|$)/.test(bare) ? "\r" : "\n";
  const first = bare.split(newline, 1)[0]!;
  const [delimiter] = [",", ";", "\t", "|"].toSorted((a, b) => first.split(b).length - first.split(a).length);
  return { delimiter: delimiter!, newline };
}

/** Excel's `sep=` line with leading characters, without its line break. */
const SEP_LINE = /^\s*"?sep=([^"\s\p{L}\p{N}]|\t)"?[^\S\r\n]*(?=[\r\n]|$)/iu;

/** Returns the delimiter of a file that begins with this text. */
export const delimiterOf = (text: string): string => SEP_LINE.exec(text)?.[1] ?? dialectOf(text).delimiter;

class Rows {
  private text = "";
  private at = 0;
  private line = 1;
  private dialect: Dialect | undefined;
  private nextQuote = -1;
  /** Skipping the rest of a line that was too long. */
  private dropping = false;

  /** Adds a chunk and returns the rows it completes; `last` marks the end of the text. */
  add(piece: string, last: boolean): CsvRow[] {
    this.text = this.text.slice(this.at) + piece;
    this.at = 0;
    this.nextQuote = this.text.indexOf('"');
    if (!this.dialect) {
      if (!last && !/[\r\n]./s.test(this.text.trimStart()) && this.text.length < MAX_ROW_CHARS) return [];
      this.dialect = dialectOf(this.text);
      this.skipSaidDelimiter();
    }
    const rows: CsvRow[] = [];
    for (let row = this.next(last); row; row = this.next(last)) rows.push(row);
    return rows;
  }

  private skipSaidDelimiter(): void {
    const separator = SEP_LINE.exec(this.text);
    if (!separator) return;
    this.dialect!.delimiter = separator[1]!;
    const before = separator[0].split(this.dialect!.newline).length - 1;
    this.moveTo(separator[0].length, before);
    const end = this.text.indexOf(this.dialect!.newline, this.at);
    this.moveTo(end === -1 ? this.text.length : end + 1, 1);
  }

  private next(last: boolean): CsvRow | undefined {
    if (this.dropping) this.drop();
    const { text, at } = this;
    const { delimiter, newline } = this.dialect!;
    if (at >= text.length) return undefined;
    let end = text.indexOf(newline, at);
    if (end === -1) {
      if (!last) return text.length - at > MAX_ROW_CHARS ? this.endless() : undefined;
      end = text.length;
    }
    if (this.nextQuote !== -1 && this.nextQuote < at) this.nextQuote = text.indexOf('"', at);
    if (this.nextQuote !== -1 && this.nextQuote < end) return this.quoted(last, end);
    const row = { line: this.line, cells: this.withoutReturn(at, end).split(delimiter) };
    this.moveTo(end + 1, 1);
    return row;
  }

  /** Reports a row that is too long; `from` is where its last line continues after the last closed quote. */
  private endless(from = this.at): CsvRow {
    const { delimiter, newline } = this.dialect!;
    const head = this.text.slice(this.at, this.at + REPORTED_CHARS);
    const row = { line: this.line, cells: head.replaceAll('"', "").split(delimiter), error: ENDLESS };
    this.moveTo(from, this.text.slice(this.at, from).split(newline).length - 1);
    this.drop();
    return row;
  }

  private drop(): void {
    const end = this.text.indexOf(this.dialect!.newline, this.at);
    if (end === -1) this.at = this.text.length;
    else this.moveTo(end + 1, 1);
    this.dropping = end === -1;
  }

  private moveTo(at: number, lines: number): void {
    this.at = Math.min(at, this.text.length);
    this.line += lines;
  }

  private withoutReturn(from: number, end: number): string {
    const isCrLf = this.dialect!.newline === "\n" && end > from && this.text.charCodeAt(end - 1) === 13;
    return this.text.slice(from, isCrLf ? end - 1 : end);
  }

  /** Reads a row with a quote in its first line, which ends at `lineEnd`. */
  private quoted(last: boolean, lineEnd: number): CsvRow | undefined {
    const { text } = this;
    const { delimiter, newline } = this.dialect!;
    const cells: string[] = [];
    for (let at = this.at; ; ) {
      let value = "";
      const open = this.afterBlanks(at);
      const isQuoted = text[open] === '"';
      if (isQuoted) {
        at = open;
        const close = this.closing(at + 1);
        if (close === -1) return this.unclosed(last, lineEnd);
        value = text.slice(at + 1, close).replaceAll('""', '"');
        at = close + 1;
        // The next character, which decides how the cell continues, is not there yet.
        if (at === text.length && !last) return undefined;
      }
      let end = text.indexOf(newline, at);
      if (end === -1) {
        if (!last) return text.length - this.at > MAX_ROW_CHARS ? this.endless(at) : undefined;
        end = text.length;
      }
      const cut = text.indexOf(delimiter, at);
      if (cut === -1 || cut > end) {
        cells.push(value + (isQuoted ? this.withoutReturn(at, end).trimEnd() : this.withoutReturn(at, end)));
        return this.finish(cells, end);
      }
      cells.push(value + (isQuoted ? text.slice(at, cut).trimEnd() : text.slice(at, cut)));
      at = cut + 1;
    }
  }

  /** Some products write a blank between the delimiter and the opening quote. */
  private afterBlanks(from: number): number {
    let at = from;
    while (this.text[at] === " " || (this.text[at] === "\t" && this.dialect!.delimiter !== "\t")) at++;
    return at;
  }

  private closing(from: number): number {
    for (let at = this.text.indexOf('"', from); at !== -1; at = this.text.indexOf('"', at + 2)) {
      if (this.text[at + 1] !== '"') return at;
    }
    return -1;
  }

  private unclosed(last: boolean, lineEnd: number): CsvRow | undefined {
    if (!last && this.text.length - this.at <= MAX_ROW_CHARS) return undefined;
    const row = { line: this.line, cells: [], error: UNCLOSED };
    this.moveTo(lineEnd + 1, 1);
    return row;
  }

  private finish(cells: string[], end: number): CsvRow {
    const row = { line: this.line, cells };
    const breaks = this.text.slice(this.at, end).split(this.dialect!.newline).length;
    this.moveTo(end + 1, breaks);
    return row;
  }
}

/**
 * Rows yielded at a time, before other work gets the event loop: one chunk has a thousand rows, and requests of others
 * need several iterations of the loop.
 */
const ROWS_PER_YIELD = 200;

async function* inTurns(rows: CsvRow[]): AsyncGenerator<CsvRow[]> {
  for (let at = 0; at < rows.length; at += ROWS_PER_YIELD) {
    await yieldToEventLoop();
    yield rows.slice(at, at + ROWS_PER_YIELD);
  }
}

/** Yields the rows in the order of the file, in groups. */
export async function* readCsv(text: AsyncIterable<string>): AsyncGenerator<CsvRow[]> {
  const rows = new Rows();
  for await (const piece of text) yield* inTurns(rows.add(piece, false));
  yield* inTurns(rows.add("", true));
}
