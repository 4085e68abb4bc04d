/** Exports subscribers as CSV in keyset pages, without an open snapshot and with constant memory. */
import { exportRead } from "../../models/database/bulk.ts";
import { query, queryOne } from "../../models/database/db.ts";
import { isOneOf } from "../../models/database/listing.ts";
import { listMembersOf } from "../../models/database/row-at.ts";
import { Segment } from "../../models/segment.ts";
import { segmentSql } from "../../models/segment-rules/segment-sql.ts";
import type { SubscriberStatus } from "../../models/subscriber.ts";
import type { Attributes, AttributeValue } from "../lib/attributes.ts";
import { csvRow } from "../lib/csv.ts";
import { csvPage } from "../lib/download.ts";
import { type FieldErrors, missingObject, notFound } from "../lib/errors.ts";
import { addFieldError } from "../lib/field-errors.ts";
import type { DownloadPage } from "../lib/shapes.ts";
import { type SubscriberFilter, type Which, whichOf } from "./chosen.ts";
import { listErrors } from "./members.ts";

const PAGE = 2_000;
/** Rows whose attribute names are read together; nothing else of them is kept. */
const NAMES_PAGE = 10_000;

// Spreadsheets cannot open files with more columns.
const MAX_ATTRIBUTE_COLUMNS = 1_000;

interface ExportFilters extends SubscriberFilter {
  segment?: string | string[];
  id?: string | string[];
  /** Excel needs a byte order mark to detect UTF-8. */
  bom?: boolean;
}

export async function exportErrors(
  companyId: string,
  asked: ExportFilters,
  isValid: (field: keyof ExportFilters) => boolean,
): Promise<FieldErrors> {
  const errors = isValid("list") ? await listErrors(companyId, "list", [asked.list!].flat()) : {};
  for (const id of isValid("segment") ? [asked.segment!].flat() : []) {
    if (!(await Segment.count({ where: { companyId, id } }))) addFieldError(errors, "segment", missingObject(id));
  }
  return errors;
}

async function rowsToExport(companyId: string, { segment, id, ...filter }: ExportFilters): Promise<Which> {
  const { where, values, ...which } = whichOf(companyId, filter);
  if (id) where.push(isOneOf("s.id", id, values));
  const holds: string[] = [];
  for (const id of [segment ?? []].flat()) {
    const found = await Segment.findOne({ where: { companyId, id } });
    if (!found) throw notFound();
    const rules = segmentSql(found.rules, companyId, values.length + 1);
    holds.push(`(${rules.where})`);
    values.push(...rules.values);
  }
  if (holds.length > 0) where.push(`(${holds.join(" or ")})`);
  return { ...which, where, values };
}

/** Reads one page: key of its last row, and the first names (in database order) of those known before and its own. */
const namesSql = (which: Which, size: number) => `
  with page as materialized (
    select ${which.key} as key, s.attributes from ${which.from}
    where ${which.where.join(" and ")} and ${which.key} > $${which.values.length + 1} order by ${which.key} limit ${size})
  select (select count(*) from page) as n, (select key from page offset ${size - 1}) as last, array(
    select name from (
      select jsonb_object_keys(attributes) as name from page where attributes <> '{}'
      union select unnest($${which.values.length + 2}::text[])) x
    order by name limit ${MAX_ATTRIBUTE_COLUMNS}) as names`;

const pageSql = (which: Which, size: number) => `
  select s.id, s.email, s.first_name, s.last_name, s.status, s.created_at, s.attributes, array(
    select l.name from ${listMembersOf("s.id")} o
    cross join lateral (select id, name from lists where company_id = $1 and id = o.list_id offset 0) l
    where o.company_id = $1 and o.left_at is null order by l.name, l.id) as lists
  from ${which.from} where ${which.where.join(" and ")} and ${which.key} > $${which.values.length + 1} order by ${which.key} limit ${size}`;

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

interface Names {
  n: number;
  /** Key of the last row of a full page. */
  last: string | null;
  names: string[];
}

const cell = (value: AttributeValue | undefined) => (Array.isArray(value) ? value.join("; ") : String(value ?? ""));

interface Row {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  status: SubscriberStatus;
  created_at: Date;
  attributes: Attributes;
  lists: string[];
}

const lineOf =
  (names: readonly string[]) =>
  ({ email, first_name, last_name, status, created_at, attributes, lists }: Row): string =>
    csvRow([
      ...[email, first_name, last_name, status, created_at, lists.join("; ")],
      ...names.map((name) => cell(Object.hasOwn(attributes, name) ? attributes[name] : undefined)),
    ]);

/** First all attribute names are read, because they are the columns, then the subscribers. */
interface Cursor {
  reading: "names" | "people";
  after: string;
  names: string[];
}

const textOf = (cursor: Cursor) => JSON.stringify(cursor);

/** Merges the names known before with those of one page of subscribers. */
async function namesPage(companyId: string, which: Which, { after, names: known }: Cursor): Promise<DownloadPage> {
  const values = [...which.values, after, known];
  const sql = namesSql(which, NAMES_PAGE);
  const page = (await exportRead(companyId, (client) => queryOne<Names>(sql, values, client)))!;
  const { n, last, names } = page;
  if (n === NAMES_PAGE) return { body: "", next: textOf({ reading: "names", after: last!, names }) };
  return { body: csvRow(["", ...names]), next: textOf({ reading: "people", after: BEFORE_ALL, names }) };
}

async function peoplePage(companyId: string, which: Which, { after, names }: Cursor): Promise<DownloadPage> {
  const sql = pageSql(which, PAGE);
  const rows = await exportRead(companyId, (client) => query<Row>(sql, [...which.values, after], client));
  const { body, next } = csvPage(rows, PAGE, lineOf(names), ({ id }) => id);
  return { body, next: next && textOf({ reading: "people", after: next, names }) };
}

const START: Cursor = { reading: "names", after: BEFORE_ALL, names: [] };

/** The first page contains the fixed columns, so that the client soon sees the download start. */
export async function exportSubscribers(
  companyId: string,
  asked: ExportFilters = {},
  cursor?: string,
): Promise<DownloadPage> {
  const which = await rowsToExport(companyId, asked);
  const at: Cursor = cursor === undefined ? START : JSON.parse(cursor);
  if (at.reading === "people") return peoplePage(companyId, which, at);
  const { body, next } = await namesPage(companyId, which, at);
  const columns = `${asked.bom ? "\uFEFF" : ""}email,first_name,last_name,status,created_at,lists`;
  return { body: cursor === undefined ? columns + body : body, next };
}
