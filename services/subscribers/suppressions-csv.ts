/** All suppressions as CSV, read in keyset pages: no snapshot is held open and memory stays flat. */
import { Readable } from "node:stream";
import { exportRead } from "../../models/database/bulk.ts";
import { query } from "../../models/database/db.ts";
import { csvRow } from "../lib/csv.ts";

const PAGE = 5_000;
const ROWS = `
  select id, email, domain, kind, reason, created_at from suppressions
  where company_id = $1 and id > $2 order by id limit ${PAGE}`;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

interface Row {
  id: string;
  email: string | null;
  domain: string | null;
  kind: string;
  reason: string;
  created_at: Date;
}

async function* lines(companyId: string): AsyncGenerator<string> {
  yield csvRow(["email", "domain", "kind", "reason", "created_at"]);
  for (let after = BEFORE_ALL; ; ) {
    const rows = await exportRead(companyId, (client) => query<Row>(ROWS, [companyId, after], client));
    yield rows.map((row) => csvRow([row.email, row.domain, row.kind, row.reason, row.created_at])).join("");
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

// Bytes, not objects: the stream may travel over NATS.
export const exportSuppressions = (companyId: string): NodeJS.ReadableStream =>
  Readable.from(lines(companyId), { objectMode: false });
