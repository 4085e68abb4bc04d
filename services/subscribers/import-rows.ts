/** Rows of a file → lines of PostgreSQL's COPY text format; what cannot be used is noted with its reason. */
import { isAddress } from "../lib/address.ts";
import { MAX_BYTES, MAX_TEXT } from "../lib/attributes.ts";
import { withoutGuard } from "../lib/csv.ts";
import { newId } from "../lib/ids.ts";
import { isOneLine, ONE_LINE_ERROR } from "../lib/one-line.ts";
import type { CsvRow } from "./csv-reader.ts";
import type { Columns } from "./import-columns.ts";

const MAX_TOLD = 100;
const MAX_EMAIL = 254;
const MAX_NAME = 255;

export interface RowError {
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
    if (this.errors.length < MAX_TOLD) this.errors.push({ row, email: email.slice(0, MAX_EMAIL), error });
  }
}

const copyEscapes: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const escaped = (text: string) =>
  /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (char) => copyEscapes[char]!) : text;

const isUnreadable = (text: string) => text.includes("\uFFFD") || text.includes("\0");

const textAt = (cells: string[], at: number): string => withoutGuard(cells[at]?.trim() ?? "");

function nameFault(field: string, name: string): string | undefined {
  if (name.length > MAX_NAME) return `${field}: Ensure this field has no more than ${MAX_NAME} characters.`;
  return isOneLine(name) ? undefined : `${field}: ${ONE_LINE_ERROR}`;
}

/** JSON of the columns that are not blank, or a fault; `\N` (null) where there are none. */
function attributesOf(columns: Columns, cells: string[]): { json: string } | { fault: string } {
  let json = "";
  for (const { name, at } of columns.attributes) {
    const value = textAt(cells, at);
    if (!value) continue;
    if (value.length > MAX_TEXT)
      return { fault: `${name}: Ensure this field has no more than ${MAX_TEXT} characters.` };
    json += `${json ? "," : "{"}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  if (!json) return { json: "\\N" };
  json += "}";
  return json.length > MAX_BYTES / 4 && Buffer.byteLength(json) > MAX_BYTES
    ? { fault: `Ensure the attributes have no more than ${MAX_BYTES} bytes as JSON.` }
    : { json: escaped(json) };
}

/** The row's line for COPY, or undefined where it was skipped. */
function copyLine(columns: Columns, row: CsvRow, tally: Tally): string | undefined {
  const { cells, line } = row;
  const email = textAt(cells, columns.email);
  const skip = (error: string) => void tally.skip(line, email, error);
  if (row.fault) return skip(row.fault);
  if (cells.some(isUnreadable)) return skip("The row is not valid UTF-8 text.");
  if (cells.length > columns.width && cells.slice(columns.width).some((cell) => cell.trim() !== "")) {
    return skip(`The row has ${cells.length} columns, the header ${columns.width}.`);
  }
  if (email === "") return skip("email: This field may not be blank.");
  if (!isAddress(email)) return skip("email: Enter a valid email address.");
  const first = textAt(cells, columns.firstName);
  const last = textAt(cells, columns.lastName);
  const fault = nameFault("first_name", first) ?? nameFault("last_name", last);
  if (fault) return skip(fault);
  const attributes = attributesOf(columns, cells);
  if ("fault" in attributes) return skip(attributes.fault);
  return `${line}\t${newId()}\t${escaped(email)}\t${escaped(first)}\t${escaped(last)}\t${attributes.json}\n`;
}

export const isBlank = ({ cells, fault }: CsvRow) => !fault && cells.every((cell) => cell.trim() === "");

/** One piece of text for each batch of rows; blank lines are nothing. */
export async function* copyLines(columns: Columns, batches: AsyncIterable<CsvRow[]>, tally: Tally) {
  for await (const batch of batches) {
    let text = "";
    for (const row of batch) {
      if (isBlank(row)) continue;
      tally.total++;
      text += copyLine(columns, row, tally) ?? "";
    }
    if (text) yield text;
  }
}
