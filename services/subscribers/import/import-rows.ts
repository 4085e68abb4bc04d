/**
 * From CSV rows to lines of PostgreSQL's COPY text format: the header decides which column is what, and rows that cannot
 * be used are reported with the reason.
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

/** Where all errors go; the answer has the first ones. */
interface ErrorSink {
  add(row: number, email: string, error: string): void;
  /** Between two batches of rows. */
  writeIfMuch(): Promise<void>;
}

export class Tally {
  readonly #sink: ErrorSink | undefined;
  total = 0;
  skipped = 0;
  /** The most careful status of all rows. */
  state = NOTHING_SAID;
  readonly types = new CellTypes();
  /** Cells in which HTML entities were decoded. */
  decoded = 0;
  readonly errors: RowError[] = [];

  constructor(sink?: ErrorSink) {
    this.#sink = sink;
  }

  /** `forgotten`: the address itself is not kept, because it is an erased person's. */
  skip(row: number, given: string, error: string, forgotten = false): void {
    this.skipped++;
    // As it can be stored: a NUL cannot, nor half of a character.
    const email = given.slice(0, MAX_EMAIL).replaceAll("\0", "\uFFFD").toWellFormed();
    this.#sink?.add(row, forgotten ? "" : email, error);
    if (this.errors.length < MAX_REPORTED) this.errors.push({ row, email, error });
  }

  async settle(): Promise<void> {
    await this.#sink?.writeIfMuch();
  }
}

const copyEscapes: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
/** A text as COPY takes it. */
export const copyText = (text: string) =>
  /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (char) => copyEscapes[char]!) : text;

export const isUnreadable = (text: string) => text.includes("\uFFFD") || text.includes("\0");

/** Named and numbered characters of HTML that end in a semicolon, as products export them by mistake: `R&amp;D`. */
const ENTITY = /&(?:#\d+|#[xX][\da-fA-F]+|[a-zA-Z][a-zA-Z\d]*);/;

function withoutEntities(text: string, tally: Tally): string {
  if (!ENTITY.test(text)) return text;
  const decoded = decodeHTMLStrict(text);
  if (decoded !== text) tally.decoded++;
  return decoded;
}

const textAt = (cells: string[], at: number): string => withoutGuard(cells[at]?.trim() ?? "");

/** Google Contacts writes all addresses of a label into one cell; the first one is taken. */
const SEVERAL = " ::: ";
/** Written by Outlook for a day that is not known. */
const NO_DAY = "0/0/00";

/** One line, because it stands in the header of mails; a cell of a spreadsheet may have several. */
const nameAt = (cells: string[], at: number, tally: Tally): string =>
  toOneLine(withoutEntities(textAt(cells, at), tally)).trim();

function namesAt({ firstName, lastName, fullName }: Columns, cells: string[], tally: Tally) {
  if (fullName !== -1) return partsOf(nameAt(cells, fullName, tally));
  return [nameAt(cells, firstName, tally), nameAt(cells, lastName, tally)] as const;
}

const isLong = (name: string) => name.length > MAX_NAME;
const nameError = (field: string) => `${field}: Ensure this field has no more than ${MAX_NAME} characters.`;

/** The most careful status that the row's columns give, or a word that is none. */
function stateAt(columns: Columns, cells: string[]): number | { unknown: string } {
  let state = NOTHING_SAID;
  for (const { at, state: affirmed } of columns.statuses) {
    const text = textAt(cells, at);
    if (text === "") continue;
    const said = affirmed === undefined ? stateOfWord(text) : isAffirmed(text) ? affirmed : NOTHING_SAID;
    if (said === undefined) return { unknown: text };
    state = Math.max(state, said);
  }
  return state;
}

/** The members of columns in JSON, as `"name":value` with commas between. */
function membersOf(columns: Columns, cells: string[]): { json: string } | { error: string } {
  let json = "";
  for (const { name, at } of columns.objects) {
    const text = textAt(cells, at);
    if (!text) continue;
    const read = readObject(text) ?? { attributes: { [name]: text } };
    if ("error" in read) return { error: `${name}: ${read.error}` };
    if (Object.keys(read.attributes).length > MAX_ATTRIBUTES) {
      return { error: `${name}: Ensure this field has no more than ${MAX_ATTRIBUTES} elements.` };
    }
    const members = JSON.stringify(read.attributes).slice(1, -1);
    if (members) json += `${json ? "," : ""}${members}`;
  }
  return { json };
}

interface RowAttributes {
  /** As COPY takes it: `\N` (null) if all columns are blank. */
  json: string;
  /** Readings of cells besides text (cell-types.ts), as COPY takes them. */
  readings: string;
}

/** A column wins over a member of its name. */
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

/** Why an address may not be imported; undefined where it may. */
export type Refusal = (address: string) => string | undefined;

/** The row's line for COPY, or undefined if the row was skipped. */
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

/** One piece of COPY text for each batch of rows, after a rest; blank lines are ignored. */
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
