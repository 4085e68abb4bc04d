/** Subscribers as CSV, read in keyset pages: no snapshot is held open and memory stays flat. */
import { Readable } from "node:stream";
import { exportRead } from "../../models/database/bulk.ts";
import { query } from "../../models/database/db.ts";
import { Segment } from "../../models/segment.ts";
import { segmentSql } from "../../models/segment-rules/segment-sql.ts";
import type { SubscriberStatus } from "../../models/subscriber.ts";
import type { AttributeValue } from "../lib/attributes.ts";
import { csvCell } from "../lib/csv.ts";
import { type FieldErrors, missingObject, notFound } from "../lib/errors.ts";
import { listErrors } from "./members.ts";
import type { SubscriberRow } from "./subscriber.ts";

const PAGE = 2_000;

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

interface Chosen {
  /** Over the alias `s`; names the company. */
  where: string;
  values: unknown[];
}

async function chosen(companyId: string, { list, status, segment }: ExportFilters): Promise<Chosen> {
  const values: unknown[] = [companyId];
  const where = ["s.company_id = $1"];
  if (status) where.push(`s.status = $${values.push(status)}`);
  if (list) {
    where.push(`exists (select from list_members m where m.company_id = $1 and m.list_id = $${values.push(list)}
      and m.subscriber_id = s.id and m.left_at is null)`);
  }
  if (segment) {
    const found = await Segment.findOne({ where: { companyId, id: segment } });
    if (!found) throw notFound();
    const rules = segmentSql(found.rules, companyId, values.length + 1);
    where.push(rules.where);
    values.push(...rules.values);
  }
  return { where: where.join(" and "), values };
}

const names = (where: string) => `
  select distinct name from subscribers s, jsonb_object_keys(s.attributes) name
  where ${where} and s.attributes <> '{}' order by name limit ${MAX_ATTRIBUTE_COLUMNS}`;

const page = (where: string, after: number) => `
  select s.id, s.email, s.first_name, s.last_name, s.status, s.attributes, s.created_at, array(
    select l.name from list_members m join lists l on l.company_id = m.company_id and l.id = m.list_id
    where m.company_id = s.company_id and m.subscriber_id = s.id and m.left_at is null order by l.name, l.id) as lists
  from subscribers s where ${where} and s.id > $${after} order by s.id limit ${PAGE}`;

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

const cell = (value: AttributeValue | undefined): string =>
  csvCell(Array.isArray(value) ? value.join("; ") : String(value ?? ""));

const line = (cells: (AttributeValue | undefined)[]) => `${cells.map(cell).join(",")}\r\n`;

async function* lines(companyId: string, { where, values }: Chosen, bom: boolean): AsyncGenerator<string> {
  const read = <T>(text: string, given: unknown[]) => exportRead(companyId, (client) => query<T>(text, given, client));
  const attributes = (await read<{ name: string }>(names(where), values)).map(({ name }) => name);
  if (bom) yield "\uFEFF";
  yield line(["email", "first_name", "last_name", "status", "created_at", "lists", ...attributes]);
  const sql = page(where, values.length + 1);
  for (let after = BEFORE_ALL; ; ) {
    const rows = await read<SubscriberRow>(sql, [...values, after]);
    if (rows.length > 0) {
      yield rows
        .map((row) => {
          const own = attributes.map((name) =>
            Object.hasOwn(row.attributes, name) ? row.attributes[name] : undefined,
          );
          const { email, first_name, last_name, status, created_at, lists } = row;
          return line([email, first_name, last_name, status, created_at.toISOString(), lists, ...own]);
        })
        .join("");
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

// Bytes, not objects: the stream may travel over NATS.
export async function exportSubscribers(companyId: string, asked: ExportFilters = {}): Promise<NodeJS.ReadableStream> {
  const which = await chosen(companyId, asked);
  return Readable.from(lines(companyId, which, asked.bom ?? false), { objectMode: false });
}
