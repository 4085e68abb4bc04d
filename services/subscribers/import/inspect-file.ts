/** Inspects the head of a held file: its columns, their first values, and how they would be imported. */
import { readPart } from "../../../models/statements/imports.ts";
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { isServiceError } from "../../lib/errors.ts";
import type { Static } from "../../lib/shapes.ts";
import type { ColumnMeaning, FileColumns } from "../contract-import.ts";
import {
  type Columns,
  looksLikeData,
  type Mapping,
  namesOf,
  numbersOf,
  onlyMapped,
  readColumns,
  requireUsable,
  spelledAsStored,
} from "./columns.ts";
import { type CsvRow, delimiterOf } from "./csv-reader.ts";
import { decodeText, guessCharset } from "./decode-text.ts";
import { isBlank } from "./import-rows.ts";
import { openCsv } from "./import-subscribers.ts";

type Look = Static<typeof FileColumns>;
type Meaning = Pick<Look["columns"][number], "as" | "attribute">;

const SHOWN_ROWS = 3;
const SHOWN_CHARS = 100;
/** Long enough to recognise the column; a mapping uses the full name. */
const NAME_CHARS = 1_000;
const MAX_COLUMNS = 500;
/** Enough for the delimiter, which the first line shows. */
const HEAD_BYTES = 64 * 1024;

async function* partsFrom(companyId: string, id: string, first: Buffer): AsyncGenerator<Buffer> {
  yield first;
  for (let partNo = 1; ; partNo++) {
    const part = await readPart(companyId, id, partNo);
    if (!part) return;
    yield part;
  }
}

const FIELDS = [
  ["email", "email"],
  ["firstName", "first_name"],
  ["lastName", "last_name"],
  ["fullName", "name"],
] as const;

/** Keyed by the column's number; ignored columns are missing. */
function meaningsOf(columns: Columns): Map<number, Meaning> {
  const meaning = (as: ColumnMeaning): Meaning => ({ as, attribute: null });
  return new Map<number, Meaning>([
    ...columns.attributes.map(({ at, name }) => [at, { as: "attribute", attribute: name }] as const),
    ...columns.objects.map(({ at }) => [at, meaning("attributes")] as const),
    ...columns.statuses.map(
      ({ at, state }) => [at, meaning(state === undefined ? "status" : SUBSCRIBER_STATUSES[state]!)] as const,
    ),
    ...FIELDS.flatMap(([key, as]) => (columns[key] === -1 ? [] : [[columns[key], meaning(as)] as const])),
  ]);
}

const sentenceOf = (error: unknown): string => {
  if (!isServiceError(error, "INVALID")) throw error;
  return Object.values(error.data.fields).flat()[0]!;
};

/** Includes the reason if these columns cannot be imported. */
async function readAs(
  companyId: string,
  names: readonly string[],
  mapping: Mapping,
): Promise<{ meanings: Map<number, Meaning>; problem: string | null }> {
  let meanings = new Map<number, Meaning>();
  try {
    const columns = await spelledAsStored(companyId, readColumns(names, mapping));
    meanings = meaningsOf(columns);
    requireUsable(columns, names);
    return { meanings, problem: null };
  } catch (error) {
    return { meanings, problem: sentenceOf(error) };
  }
}

/** `rows` begin with the file's first line, which is skipped if it is a header. */
async function firstRows(rows: AsyncIterable<CsvRow[]>, header: boolean): Promise<string[][]> {
  const found: string[][] = [];
  const rowCount = SHOWN_ROWS + (header ? 1 : 0);
  for await (const batch of rows) {
    const usable = batch.filter((row) => !row.error && !isBlank(row));
    found.push(...usable.slice(0, rowCount - found.length).map(({ cells }) => cells));
    if (found.length === rowCount) break;
  }
  return header ? found.slice(1) : found;
}

const cut = (text: string) => (text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text).toWellFormed();

async function headText(first: Buffer, charset: string): Promise<string> {
  for await (const text of decodeText([first.subarray(0, HEAD_BYTES)] as unknown as AsyncIterable<Buffer>, charset)) {
    return text;
  }
  return "";
}

const NO_COLUMNS = { header: true, delimiter: null, columns: [] };

/** `first` is the first part of the file. */
export async function inspectFile(
  { companyId, id, first }: { companyId: string; id: string; first: Buffer },
  asked: { charset?: string | undefined; mapping: Mapping; header?: boolean | undefined },
): Promise<Look> {
  const { charset = guessCharset(first), mapping } = asked;
  try {
    const csv = await openCsv(partsFrom(companyId, id, first), { charset, header: false }, namesOf);
    const header = asked.header ?? !looksLikeData(csv.columns);
    const names = header ? csv.columns : numbersOf(csv.columns);
    const [rows, text] = await Promise.all([firstRows(csv.rows, header), headText(first, charset)]);
    const { meanings, problem } = await readAs(companyId, names, header ? mapping : onlyMapped(names, mapping));
    const columns = names.slice(0, MAX_COLUMNS).map((name, at) => ({
      name: name.slice(0, NAME_CHARS).toWellFormed(),
      values: rows.map((cells) => cut(cells[at]?.trim() ?? "")),
      ...(meanings.get(at) ?? { as: "ignored" as const, attribute: null }),
    }));
    return { charset, header, delimiter: delimiterOf(text), columns, problem };
  } catch (error) {
    return { charset, ...NO_COLUMNS, problem: sentenceOf(error) };
  }
}
