/** Exports all suppressions as CSV in keyset pages, without an open snapshot and with constant memory. */
import { exportRead } from "../../models/database/bulk.ts";
import { query } from "../../models/database/db.ts";
import { csvRow } from "../lib/csv.ts";
import { csvPage } from "../lib/download.ts";
import type { DownloadPage } from "../lib/shapes.ts";

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

const line = ({ email, domain, kind, reason, created_at }: Row) => csvRow([email, domain, kind, reason, created_at]);

export async function exportSuppressions(companyId: string, after?: string): Promise<DownloadPage> {
  const rows = await exportRead(companyId, (client) => query<Row>(ROWS, [companyId, after ?? BEFORE_ALL], client));
  const { body, next } = csvPage(rows, PAGE, line, ({ id }) => id);
  const header = after === undefined ? csvRow(["email", "domain", "kind", "reason", "created_at"]) : "";
  return { body: header + body, next };
}
