/**
 * From CSV rows to lines of PostgreSQL's COPY text format: the header decides which column is what, and rows that cannot
 * be used are reported with the reason.
 */
import { isAddress } from "../../lib/address.ts";
import { isAttributeName, MAX_ATTRIBUTES, MAX_BYTES, MAX_TEXT } from "../../lib/attributes.ts";
import { withoutGuard } from "../../lib/csv.ts";
import { invalid } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { isOneLine, ONE_LINE_ERROR } from "../../lib/one-line.ts";
import type { CsvRow } from "./csv-reader.ts";

interface Columns {
  email: number;
  /** -1 where the file has none. */
  firstName: number;
  lastName: number;
  attributes: { name: string; at: number }[];
  width: number;
}

export const fileError = (sentence: string) => invalid({ file: [sentence] });
export const notUtf8 = () => fileError("The file is not UTF-8 text. Save it as CSV UTF-8.");

/** `First Name`, `first-name` and `FIRST_NAME` are all first_name. */
const normalized = (name: string) => name.toLowerCase().replace(/[\s-]+/g, "_");

/** Columns of an export that an import ignores: otherwise they would be refused, or stored as attributes. */
const READ_ONLY = new Set(["status", "created_at"]);

export function columnsOf(header: readonly string[]): Columns {
  if (header.some((cell) => /[\0\uFFFD]/.test(cell))) throw notUtf8();
  const names = header.map((cell) => withoutGuard(cell.replace(/\s+/g, " ").trim()));
  const columns: Columns = { email: -1, firstName: -1, lastName: -1, attributes: [], width: names.length };
  const seen = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (name === "" || READ_ONLY.has(normalized(name))) continue;
    const key = ["email", "first_name", "last_name"].includes(normalized(name)) ? normalized(name) : name;
    if (seen.has(key)) throw fileError(`The column "${key.slice(0, 100)}" is there twice.`);
    seen.add(key);
    if (key === "email") columns.email = at;
    else if (key === "first_name") columns.firstName = at;
    else if (key === "last_name") columns.lastName = at;
    else if (isAttributeName(name)) columns.attributes.push({ name, at });
    else throw fileError(`The column name "${name.slice(0, 100)}" cannot be used.`);
  }
  if (columns.email === -1) throw fileError('The header has no column "email".');
  if (columns.attributes.length > MAX_ATTRIBUTES) {
    throw fileError(`No more than ${MAX_ATTRIBUTES} columns besides email, first_name and last_name are allowed.`);
  }
  return columns;
}

const MAX_REPORTED = 100;
const MAX_EMAIL = 254;
const MAX_NAME = 255;

interface RowError {
  row: number;
  email: string;
  error: string;
}

export class Tally {
  total = 0;
  skipped = 0;
  readonly errors: RowError[] = [];

  skip(row: number, email: string, error: string): void {
    this.skipped++;
    if (this.errors.length < MAX_REPORTED) this.errors.push({ row, email: email.slice(0, MAX_EMAIL), error });
  }
}

const copyEscapes: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const escaped = (text: string) =>
  /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (char) => copyEscapes[char]!) : text;

const isUnreadable = (text: string) => text.includes("\uFFFD") || text.includes("\0");

const textAt = (cells: string[], at: number): string => withoutGuard(cells[at]?.trim() ?? "");

function nameError(field: string, name: string): string | undefined {
  if (name.length > MAX_NAME) return `${field}: Ensure this field has no more than ${MAX_NAME} characters.`;
  return isOneLine(name) ? undefined : `${field}: ${ONE_LINE_ERROR}`;
}

/** JSON of the columns that are not blank, or an error; `\N` (null) if all are blank. */
function attributesOf(columns: Columns, cells: string[]): { json: string } | { error: string } {
  let json = "";
  for (const { name, at } of columns.attributes) {
    const value = textAt(cells, at);
    if (!value) continue;
    if (value.length > MAX_TEXT)
      return { error: `${name}: Ensure this field has no more than ${MAX_TEXT} characters.` };
    json += `${json ? "," : "{"}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  if (!json) return { json: "\\N" };
  json += "}";
  return json.length > MAX_BYTES / 4 && Buffer.byteLength(json) > MAX_BYTES
    ? { error: `Ensure the attributes have no more than ${MAX_BYTES} bytes as JSON.` }
    : { json: escaped(json) };
}

/** Why an address may not be imported; undefined where it may. */
export type Refusal = (address: string) => string | undefined;

/** The row's line for COPY, or undefined if the row was skipped. */
function copyLine(columns: Columns, row: CsvRow, tally: Tally, refusal: Refusal): string | undefined {
  const { cells, line } = row;
  const email = textAt(cells, columns.email);
  const skip = (error: string) => void tally.skip(line, email, error);
  if (row.error) return skip(row.error);
  if (cells.some(isUnreadable)) return skip("The row is not valid UTF-8 text.");
  if (cells.length > columns.width && cells.slice(columns.width).some((cell) => cell.trim() !== "")) {
    return skip(`The row has ${cells.length} columns, the header ${columns.width}.`);
  }
  if (email === "") return skip("email: This field may not be blank.");
  if (!isAddress(email)) return skip("email: Enter a valid email address.");
  const refused = refusal(email);
  if (refused) return skip(`email: ${refused}`);
  const first = textAt(cells, columns.firstName);
  const last = textAt(cells, columns.lastName);
  const error = nameError("first_name", first) ?? nameError("last_name", last);
  if (error) return skip(error);
  const attributes = attributesOf(columns, cells);
  if ("error" in attributes) return skip(attributes.error);
  return `${line}\t${newId()}\t${escaped(email)}\t${escaped(first)}\t${escaped(last)}\t${attributes.json}\n`;
}

export const isBlank = ({ cells, error }: CsvRow) => !error && cells.every((cell) => cell.trim() === "");

/** One piece of COPY text for each batch of rows; blank lines are ignored. */
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
    if (text) yield text;
  }
}
