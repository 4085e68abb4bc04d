/** Subscribers as CSV, read in keyset pages: no snapshot is held open and memory stays flat. */
import { exportRead } from "../../models/database/bulk.ts";
import { type Client, query, queryOne } from "../../models/database/db.ts";
import { listMembersOf, subscriberAt } from "../../models/database/row-at.ts";
import type { Settings } from "../../models/database/session-settings.ts";
import { isoTime, type TextRow, textRows } from "../../models/database/text-rows.ts";
import { Segment } from "../../models/segment.ts";
import { segmentSql } from "../../models/segment-rules/segment-sql.ts";
import type { SubscriberStatus } from "../../models/subscriber.ts";
import type { Attributes, AttributeValue } from "../lib/attributes.ts";
import { csvCell, csvRow } from "../lib/csv.ts";
import { csvPage } from "../lib/download.ts";
import { type FieldErrors, missingObject, notFound } from "../lib/errors.ts";
import type { DownloadPage } from "../lib/shapes.ts";
import { listErrors } from "./members.ts";

const PAGE = 2_000;
/** Rows whose names of attributes are read at once: of them nothing else is kept. */
const NAMES_PAGE = 10_000;

// Beyond it no spreadsheet opens the file.
const MAX_ATTRIBUTE_COLUMNS = 1_000;

interface ExportFilters {
  list?: string;
  status?: SubscriberStatus;
  segment?: string;
  /** Excel takes a file without a byte order mark for one of its own charset. */
  bom?: boolean;
}

export async function exportErrors(
  companyId: string,
  asked: ExportFilters,
  isValid: (field: keyof ExportFilters) => boolean,
): Promise<FieldErrors> {
  const errors = isValid("list") ? await listErrors(companyId, "list", [asked.list!]) : {};
  if (isValid("segment") && !(await Segment.count({ where: { companyId, id: asked.segment! } }))) {
    errors.segment = [missingObject(asked.segment!)];
  }
  return errors;
}

/** Whom the file is of, in the order of `key`. */
interface Chosen {
  /** Has the alias `s`. */
  from: string;
  /** Names the company. */
  where: string;
  key: string;
  values: unknown[];
  /** For the transaction of a page. */
  settings?: Settings;
}

/** SQL: behind the key $n. Of a join both sides are told, which the planner does not conclude. */
const isBehind = ({ key }: Chosen, n: number) => (key === "s.id" ? `s.id > $${n}` : `${key} > $${n} and s.id > $${n}`);

/** Two indexes in the same order are read side by side, whatever the planner believes that it costs. */
const SIDE_BY_SIDE: Settings = { enable_nestloop: "off", enable_hashjoin: "off", enable_sort: "off" };
/** Of so many people one at least is on the list: looked up one by one they take 2.5 µs each, side by side 1.2. */
const DENSE = 3;

async function isDense(companyId: string, list: string): Promise<boolean> {
  const sql = "select count_of($1, 'list_members', $2) as members, count_of($1, 'subscribers', $1) as people";
  const counted = (await queryOne<{ members: number; people: number }>(sql, [companyId, list]))!;
  return counted.members * DENSE >= counted.people;
}

async function chosen(companyId: string, { list, status, segment }: ExportFilters): Promise<Chosen> {
  const values: unknown[] = [companyId];
  const where: string[] = [];
  let [from, key] = ["subscribers s", "s.id"];
  let settings: Settings | undefined;
  if (list) {
    // Walked by the list's own index: as a condition, each page would read the list anew.
    where.push(`m.company_id = $1 and m.list_id = $${values.push(list)} and m.left_at is null`);
    key = "m.subscriber_id";
    from = `list_members m cross join lateral (${subscriberAt("$1", "m.subscriber_id", "r.*")}) s`;
    // Rules of a segment may have joins of their own.
    if (!segment && (await isDense(companyId, list))) {
      from = "list_members m join subscribers s on s.company_id = $1 and s.id = m.subscriber_id";
      settings = SIDE_BY_SIDE;
    }
  } else where.push("s.company_id = $1");
  if (status) where.push(`s.status = $${values.push(status)}`);
  if (segment) {
    const found = await Segment.findOne({ where: { companyId, id: segment } });
    if (!found) throw notFound();
    const rules = segmentSql(found.rules, companyId, values.length + 1);
    where.push(rules.where);
    values.push(...rules.values);
  }
  return { from, where: where.join(" and "), key, values, ...(settings ? { settings } : {}) };
}

/** One page: the key of its last row, and the first names in the order of the database of those known before and its own. */
const namesSql = (which: Chosen, size: number) => `
  with page as materialized (
    select ${which.key} as key, s.attributes from ${which.from}
    where ${which.where} and ${isBehind(which, which.values.length + 1)} order by ${which.key} limit ${size})
  select (select count(*) from page) as n, (select key from page offset ${size - 1}) as last, array(
    select name from (
      select jsonb_object_keys(attributes) as name from page where attributes <> '{}'
      union select unnest($${which.values.length + 2}::text[])) x
    order by name limit ${MAX_ATTRIBUTE_COLUMNS}) as names`;

const pageSql = (which: Chosen, size: number) => `
  select s.id, s.email, s.first_name, s.last_name, s.status, s.created_at, s.attributes, array(
    select o.list_id from ${listMembersOf("s.id")} o where o.company_id = $1 and o.left_at is null) as lists
  from ${which.from} where ${which.where} and ${isBehind(which, which.values.length + 1)} order by ${which.key} limit ${size}`;

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

interface Names {
  n: number;
  /** Of a full page. */
  last: string | null;
  names: string[];
}

/** Writes the names of the lists, as a cell, in the place of their ids at the end of each row. */
async function writeLists(companyId: string, rows: TextRow[], client: Client): Promise<void> {
  // As PostgreSQL writes an array of ids; most people are on the same few lists.
  const cells = new Map(rows.map((row) => [row.at(-1)!, ""]));
  const idsOf = (text: string) => text.slice(1, -1).split(",");
  const all = [...new Set([...cells.keys()].filter((text) => text !== "{}").flatMap(idsOf))];
  const sql = "select id, name from lists where company_id = $1 and id = any ($2) order by name, id";
  const lists = all.length > 0 ? await query<{ id: string; name: string }>(sql, [companyId, all], client) : [];
  for (const text of cells.keys()) {
    const ids = new Set(idsOf(text));
    cells.set(text, csvCell(lists.flatMap(({ id, name }) => (ids.has(id) ? [name] : [])).join("; ")));
  }
  for (const row of rows) row[row.length - 1] = cells.get(row.at(-1)!)!;
}

const cell = (value: AttributeValue | undefined): string =>
  csvCell(Array.isArray(value) ? value.join("; ") : String(value ?? ""));

function lineOf(names: readonly string[]) {
  const none = `${",".repeat(names.length)}\r\n`;
  return ([, email, firstName, lastName, status, createdAt, json, lists]: TextRow): string => {
    let text = `${csvCell(email)},${csvCell(firstName)},${csvCell(lastName)},${status},${isoTime(createdAt!)},${lists}`;
    if (json === "{}") return text + none;
    const attributes: Attributes = JSON.parse(json!);
    for (const name of names) text += Object.hasOwn(attributes, name) ? `,${cell(attributes[name])}` : ",";
    return `${text}\r\n`;
  };
}

/** First all names of attributes are read, then the people: the names are the columns. */
interface Cursor {
  reading: "names" | "people";
  after: string;
  names: string[];
}

const textOf = (cursor: Cursor) => JSON.stringify(cursor);

/** The names that were known before and those of one page of people. */
async function namesPage(companyId: string, which: Chosen, { after, names: known }: Cursor): Promise<DownloadPage> {
  const values = [...which.values, after, known];
  const sql = namesSql(which, NAMES_PAGE);
  const page = (await exportRead(companyId, (client) => queryOne<Names>(sql, values, client), which.settings))!;
  const { n, last, names } = page;
  if (n === NAMES_PAGE) return { body: "", next: textOf({ reading: "names", after: last!, names }) };
  return { body: csvRow(["", ...names]), next: textOf({ reading: "people", after: BEFORE_ALL, names }) };
}

async function peoplePage(companyId: string, which: Chosen, { after, names }: Cursor): Promise<DownloadPage> {
  const read = async (client: Client) => {
    const rows = await textRows(pageSql(which, PAGE), [...which.values, after], client);
    await writeLists(companyId, rows, client);
    return rows;
  };
  const rows = await exportRead(companyId, read, which.settings);
  const { body, next } = await csvPage(rows, PAGE, lineOf(names));
  return { body, next: next && textOf({ reading: "people", after: next, names }) };
}

const START: Cursor = { reading: "names", after: BEFORE_ALL, names: [] };

/** The first page has the columns that are always there: a client sees soon that the file comes. */
export async function exportSubscribers(
  companyId: string,
  asked: ExportFilters = {},
  cursor?: string,
): Promise<DownloadPage> {
  const which = await chosen(companyId, asked);
  const at: Cursor = cursor === undefined ? START : JSON.parse(cursor);
  if (at.reading === "people") return peoplePage(companyId, which, at);
  const { body, next } = await namesPage(companyId, which, at);
  const columns = `${asked.bom ? "\uFEFF" : ""}email,first_name,last_name,status,created_at,lists`;
  return { body: cursor === undefined ? columns + body : body, next };
}
