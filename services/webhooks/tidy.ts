/** What nobody needs any more: waiting deliveries of disabled endpoints are dead, old ones are forgotten. In slices. */
import { pool } from "../../models/database/db.ts";
import { firstIdAt } from "../lib/ids.ts";

const KEEP_DAYS = 30;
const SLICE = 5_000;

const BURY = `
  update webhook_deliveries set status = 'dead', next_attempt_at = null, last_error = coalesce(last_error, $2)
  where id in (
    select d.id from webhook_deliveries d
    join webhook_endpoints w on w.company_id = d.company_id and w.id = d.endpoint_id
    where d.status = 'pending' and w.disabled_at is not null
    limit $1 for update of d skip locked)`;

const FORGET = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries
    where id < $2 and status <> 'pending' order by id limit $1 for update skip locked)`;

async function inSlices(sql: string, value: unknown): Promise<void> {
  for (;;) {
    const { rowCount } = await pool().query(sql, [SLICE, value]);
    if ((rowCount ?? 0) < SLICE) return;
  }
}

export async function tidy(now = Date.now()): Promise<null> {
  await inSlices(BURY, "The endpoint is disabled.");
  await inSlices(FORGET, firstIdAt(now - KEEP_DAYS * 24 * 3_600_000));
  return null;
}
