/**
 * Converts CSV rows to PostgreSQL's COPY text format: the header assigns the columns, and unusable rows are reported
 * with a reason.
 */
import { decodeHTMLStrict } from "entities";
import { addressError, addressText, isAddress } from "../../lib/address.ts";
import { MAX_ATTRIBUTES, MAX_BYTES, MAX_TEXT } from "../../lib/attributes.ts";
import { withoutGuard } from "../../lib/csv.ts";
import { newIdTail } from "../../lib/ids.ts";
import { toOneLine } from "../../lib/one-line.ts";
import { CellTypes } from "./cell-types.ts";
import type { Columns } from "./columns.ts";
import type { CsvRow } from "./csv-reader.ts";
import { partsOf } from "./full-names.ts";
import { readObject } from "./nested-attributes.ts";
import { isAffirmed, NOTHING_SAID, stateOfWord } from "./status-words.ts";

const MAX_REPORTED = 100;
const MAX_EMAIL = 254;
const MAX_NAME = 255;

const STATUS_HINT = "If the column is not the subscription status, map it to something else with `mapping`.";

interface RowError {
  row: number;
  email: string;
  error: string;
}

/** Receives all errors; the response has the first ones. */
interface ErrorSink {
  add(row: number, email: string, error: string): void;
  /** Called between two batches of rows. */
  flushIfLarge(): Promise<void>;
}

export class Tally {
  readonly #sink: ErrorSink | undefined;
  total = 0;
  skipped = 0;
  /** Most restrictive status of all rows. */
  state = NOTHING_SAID;
  readonly types = new CellTypes();
  /** Number of cells in which HTML entities were decoded. */
  decoded = 0;
  readonly errors: RowError[] = [];

  constructor(sink?: ErrorSink) {
    this.#sink = sink;
  }

  /** `forgotten`: the address is an erased person's and must not be kept. */
  skip(row: number, given: string, error: string, forgotten = false): void {
    this.skipped++;
    // PostgreSQL can store neither NUL nor lone surrogates.
    const email = given.slice(0, MAX_EMAIL).replaceAll("\0", "\uFFFD").toWellFormed();
    this.#sink?.add(row, forgotten ? "" : email, error);
    if (this.errors.length < MAX_REPORTED) this.errors.push({ row, email, error });
  }

  async settle(): Promise<void> {
    await this.#sink?.flushIfLarge();
  }
}

const copyEscapes: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
/** Escapes text for COPY. */
export const copyText = (text: string) =>
  /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (char) => copyEscapes[char]!) : text;

export const isUnreadable = (text: string) => text.includes("\uFFFD") || text.includes("\0");

/** HTML entities that end in a semicolon, which products export by mistake: `R&amp;D`. */
const ENTITY = /&(?:#\d+|#[xX][\da-fA-F]+|[a-zA-Z][a-zA-Z\d]*);/;

function withoutEntities(text: string, tally: Tally): string {
  if (!ENTITY.test(text)) return text;
  const decoded = decodeHTMLStrict(text);
  if (decoded !== text) tally.decoded++;
  return decoded;
}

const textAt = (cells: string[], at: number): string => withoutGuard(cells[at]?.trim() ?? "");

/** Google Contacts writes all addresses of a label into one cell; the first one is used. */
const SEVERAL = " ::: ";
/** Outlook's value for an unknown day. */
const NO_DAY = "0/0/00";

/** Names are single lines, because headers of emails contain them; a spreadsheet cell may have several. */
const nameAt = (cells: string[], at: number, tally: Tally): string =>
  toOneLine(withoutEntities(textAt(cells, at), tally)).trim();

function namesAt({ firstName, lastName, fullName }: Columns, cells: string[], tally: Tally) {
  if (fullName !== -1) return partsOf(nameAt(cells, fullName, tally));
  return [nameAt(cells, firstName, tally), nameAt(cells, lastName, tally)] as const;
}

const isLong = (name: string) => name.length > MAX_NAME;
const nameError = (field: string) => `${field}: Ensure this field has no more than ${MAX_NAME} characters.`;

/** Most restrictive status of the row's columns, or an unknown word. */
function stateAt(columns: Columns, cells: string[]): number | { unknown: string } {
  let state = NOTHING_SAID;
  for (const { at, state: affirmed } of columns.statuses) {
    const text = textAt(cells, at);
    if (text === "") continue;
    const stateInFile = affirmed === undefined ? stateOfWord(text) : isAffirmed(text) ? affirmed : NOTHING_SAID;
    if (stateInFile === undefined) return { unknown: text };
    state = Math.max(state, stateInFile);
  }
  return state;
}

/** Members of JSON columns as `"name":value`, separated by commas. */
function membersOf(columns: Columns, cells: string[]): { json: string } | { error: string } {
  let json = "";
  for (const { name, at } of columns.objects) {
    const text = textAt(cells, at);
    if (!text) continue;
    const parsed = readObject(text) ?? { attributes: { [name]: text } };
    if ("error" in parsed) return { error: `${name}: ${parsed.error}` };
    if (Object.keys(parsed.attributes).length > MAX_ATTRIBUTES) {
      return { error: `${name}: Ensure this field has no more than ${MAX_ATTRIBUTES} elements.` };
    }
    const members = JSON.stringify(parsed.attributes).slice(1, -1);
    if (members) json += `${json ? "," : ""}${members}`;
  }
  return { json };
}

interface RowAttributes {
  /** Escaped for COPY: `\N` (null) if all columns are blank. */
  json: string;
  /** Readings of cells besides text (cell-types.ts), escaped for COPY. */
  readings: string;
}

/** A column takes precedence over a JSON member of the same name. */
function attributesOf(columns: Columns, cells: string[], tally: Tally): RowAttributes | { error: string } {
  const members = columns.objects.length > 0 ? membersOf(columns, cells) : { json: "" };
  if ("error" in members) return members;
  let { json } = members;
  let readings = "";
  for (const { name, at } of columns.attributes) {
    const value = withoutEntities(textAt(cells, at), tally);
    if (!value || value === NO_DAY) continue;
    if (value.length > MAX_TEXT)
      return { error: `${name}: Ensure this field has no more than ${MAX_TEXT} characters.` };
    json += `${json ? "," : ""}${JSON.stringify(name)}:${JSON.stringify(value)}`;
    const read = tally.types.add(name, value);
    if (read) readings += `${readings ? "," : ""}${read}`;
  }
  if (!json) return { json: "\\N", readings: "\\N" };
  json = `{${json}}`;
  return json.length > MAX_BYTES / 4 && Buffer.byteLength(json) > MAX_BYTES
    ? { error: `Ensure the attributes have no more than ${MAX_BYTES} bytes as JSON.` }
    : { json: copyText(json), readings: readings ? copyText(`{${readings}}`) : "\\N" };
}

/** Returns why an address must not be imported, else undefined. */
export type Refusal = (address: string) => string | undefined;

/** Returns the row's COPY line, or undefined if it was skipped. */
function copyLine(columns: Columns, row: CsvRow, tally: Tally, refusal: Refusal): string | undefined {
  const { cells, line } = row;
  const email = addressText(textAt(cells, columns.email).split(SEVERAL)[0]!);
  const skip = (error: string) => void tally.skip(line, email, error);
  if (row.error) return skip(row.error);
  if (cells.some(isUnreadable)) return skip("The row is not valid UTF-8 text.");
  if (cells.length > columns.width && cells.slice(columns.width).some((cell) => cell.trim() !== "")) {
    return skip(`The row has ${cells.length} columns, but the header has ${columns.width}.`);
  }
  if (email === "") return skip("email: This field may not be blank.");
  if (!isAddress(email)) return skip(`email: ${addressError(email)}`);
  const refused = refusal(email);
  if (refused) return void tally.skip(line, email, `email: ${refused}`, true);
  const [first, last] = namesAt(columns, cells, tally);
  if (isLong(first)) return skip(nameError("first_name"));
  if (isLong(last)) return skip(nameError("last_name"));
  const state = columns.statuses.length > 0 ? stateAt(columns, cells) : NOTHING_SAID;
  if (typeof state === "object") {
    return skip(`status: "${state.unknown.slice(0, 100).toWellFormed()}" is not known. ${STATUS_HINT}`);
  }
  const attributes = attributesOf(columns, cells, tally);
  if ("error" in attributes) return skip(attributes.error);
  if (state > tally.state) tally.state = state;
  const { json, readings } = attributes;
  return `${line}\t${newIdTail()}\t${copyText(email)}\t${copyText(first)}\t${copyText(last)}\t${json}\t${readings}\t${state}\n`;
}

export const isBlank = ({ cells, error }: CsvRow) => !error && cells.every((cell) => cell.trim() === "");

/** Yields COPY text for each batch of rows, with a pause before each; ignores blank lines. */
export async function* copyLines(
  columns: Columns,
  batches: AsyncIterable<CsvRow[]>,
  tally: Tally,
  refusal: Refusal = () => undefined,
) {
  for await (const batch of batches) {
    let text = "";
    for (const row of batch) {
      if (isBlank(row)) continue;
      tally.total++;
      text += copyLine(columns, row, tally, refusal) ?? "";
    }
    await tally.settle();
    if (text) yield text;
  }
}
