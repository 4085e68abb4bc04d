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
import { csvPages, csvStream } from "../lib/csv-export.ts";
import { type FieldErrors, missingObject, notFound } from "../lib/errors.ts";
import { bulkSteps } from "../lib/give-way.ts";
import { listErrors } from "./members.ts";

const PAGE = 2_000;
/** Rows whose names of attributes are read at once: of them nothing else is kept. */
const NAMES_PAGE = 10_000;

// Beyond it no spreadsheet opens the file.
const MAX_ATTRIBUTE_COLUMNS = 1_000;

export interface ExportFilters {
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

/** Each page's, of which the last has all: a statement takes no longer than its share of the list. */
async function* attributeNames(companyId: string, which: Chosen): AsyncGenerator<string[]> {
  let known: string[] = [];
  for (let after = BEFORE_ALL; ; ) {
    const size = bulkSteps.rows(companyId, NAMES_PAGE);
    const sql = namesSql(which, size);
    const values = [...which.values, after, known];
    const page = (await exportRead(companyId, (client) => queryOne<Names>(sql, values, client), which.settings))!;
    known = page.names;
    yield known;
    if (page.n < size) return;
    after = page.last!;
  }
}

/** By the ids of lists, as PostgreSQL writes an array: most people are on the same few. */
class ListCells {
  static readonly #MOST = 10_000;
  readonly #companyId: string;
  #cells = new Map([["{}", ""]]);

  constructor(companyId: string) {
    this.#companyId = companyId;
  }

  /** Writes the names of the lists, as a cell, in the place of their ids at the end of each row. */
  async write(rows: TextRow[], client: Client): Promise<void> {
    if (this.#cells.size > ListCells.#MOST) this.#cells = new Map([["{}", ""]]);
    const unknown = new Set(rows.map((row) => row.at(-1)!).filter((ids) => !this.#cells.has(ids)));
    if (unknown.size > 0) await this.#learn([...unknown], client);
    for (const row of rows) row[row.length - 1] = this.#cells.get(row.at(-1)!)!;
  }

  async #learn(unknown: string[], client: Client): Promise<void> {
    const idsOf = new Map(unknown.map((ids) => [ids, new Set(ids.slice(1, -1).split(","))]));
    const all = [...new Set([...idsOf.values()].flatMap((ids) => [...ids]))];
    const sql = "select id, name from lists where company_id = $1 and id = any ($2) order by name, id";
    const lists = await query<{ id: string; name: string }>(sql, [this.#companyId, all], client);
    for (const [text, ids] of idsOf) {
      const names = lists.filter(({ id }) => ids.has(id)).map(({ name }) => name);
      this.#cells.set(text, csvCell(names.join("; ")));
    }
  }
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

async function* lines(companyId: string, which: Chosen, bom: boolean): AsyncGenerator<string> {
  // All names of attributes are known once everybody was read; whoever waits for the file sees soon that it comes.
  let names: string[] | undefined;
  for await (const known of attributeNames(companyId, which)) {
    if (!names) yield `${bom ? "\uFEFF" : ""}email,first_name,last_name,status,created_at,lists`;
    names = known;
  }
  yield csvRow(["", ...names!]);
  const listCells = new ListCells(companyId);
  const read = (after: string, size: number) =>
    exportRead(
      companyId,
      async (client) => {
        const rows = await textRows(pageSql(which, size), [...which.values, after], client);
        await listCells.write(rows, client);
        return rows;
      },
      which.settings,
    );
  yield* csvPages({ companyId, size: PAGE, first: BEFORE_ALL, read, line: lineOf(names!) });
}

export async function exportSubscribers(companyId: string, asked: ExportFilters = {}): Promise<NodeJS.ReadableStream> {
  return csvStream(lines(companyId, await chosen(companyId, asked), asked.bom ?? false));
}
