/** All subscribers as CSV, read in keyset pages: no snapshot is held open and memory stays flat. */
import { Readable } from "node:stream";
import { exportRead } from "../../models/database/bulk.ts";
import { query } from "../../models/database/db.ts";
import type { AttributeValue } from "../lib/attributes.ts";
import { csvCell } from "../lib/csv.ts";
import type { SubscriberRow } from "./subscriber.ts";

const PAGE = 2_000;

// Beyond it no spreadsheet opens the file.
const MAX_ATTRIBUTE_COLUMNS = 1_000;

const NAMES = `
  select distinct name from subscribers s, jsonb_object_keys(s.attributes) name
  where s.company_id = $1 and s.attributes <> '{}' order by name limit ${MAX_ATTRIBUTE_COLUMNS}`;

const ROWS = `
  select id, email, first_name, last_name, status, attributes, created_at from subscribers
  where company_id = $1 and id > $2 order by id limit ${PAGE}`;

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

type Row = Omit<SubscriberRow, "lists">;

const cell = (value: AttributeValue | undefined): string =>
  csvCell(Array.isArray(value) ? value.join("; ") : String(value ?? ""));

const line = (cells: (AttributeValue | undefined)[]) => `${cells.map(cell).join(",")}\r\n`;

async function* lines(companyId: string): AsyncGenerator<string> {
  const page = <T>(text: string, values: unknown[]) =>
    exportRead(companyId, (client) => query<T>(text, values, client));
  const names = (await page<{ name: string }>(NAMES, [companyId])).map(({ name }) => name);
  yield line(["email", "first_name", "last_name", "status", "created_at", ...names]);
  for (let after = BEFORE_ALL; ; ) {
    const rows = await page<Row>(ROWS, [companyId, after]);
    if (rows.length > 0) {
      yield rows
        .map((row) => {
          const own = names.map((name) => (Object.hasOwn(row.attributes, name) ? row.attributes[name] : undefined));
          return line([row.email, row.first_name, row.last_name, row.status, row.created_at.toISOString(), ...own]);
        })
        .join("");
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

// Bytes, not objects: the stream may travel over NATS.
export const exportSubscribers = (companyId: string): NodeJS.ReadableStream =>
  Readable.from(lines(companyId), { objectMode: false });
