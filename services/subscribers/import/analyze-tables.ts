import { query } from "../../../models/database/db.ts";
import { isDatabaseOutage } from "../../../models/database/outage.ts";

/** Autovacuum handles smaller changes within a minute. */
const MANY = 5_000;

/**
 * Runs ANALYZE after a large import, because the planner would still assume a small company. Errors are ignored: the
 * rows are imported anyway.
 */
export async function analyzeTables(loaded: number): Promise<void> {
  if (loaded < MANY) return;
  await query("select analyze_subscribers()").catch((error: unknown) => {
    if (!isDatabaseOutage(error)) throw error;
  });
}
