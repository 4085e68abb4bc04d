/** All suppressions as CSV, read in keyset pages: no snapshot is held open and memory stays flat. */
import { exportRead } from "../../models/database/bulk.ts";
import { isoTime, type TextRow, textRows } from "../../models/database/text-rows.ts";
import { csvRow } from "../lib/csv.ts";
import { csvPages, csvStream } from "../lib/csv-export.ts";

const PAGE = 5_000;
const rowsSql = (size: number) => `
  select id, email, domain, kind, reason, created_at from suppressions
  where company_id = $1 and id > $2 order by id limit ${size}`;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

const line = ([, email, domain, kind, reason, createdAt]: TextRow) =>
  csvRow([email, domain, kind, reason, isoTime(createdAt!)]);

async function* lines(companyId: string): AsyncGenerator<string> {
  yield csvRow(["email", "domain", "kind", "reason", "created_at"]);
  const read = (after: string, size: number) =>
    exportRead(companyId, (client) => textRows(rowsSql(size), [companyId, after], client));
  yield* csvPages({ companyId, size: PAGE, first: BEFORE_ALL, read, line });
}

export const exportSuppressions = (companyId: string): NodeJS.ReadableStream => csvStream(lines(companyId));
