import { query } from "../../../models/database/db.ts";
import { isDatabaseOutage } from "../../../models/database/outage.ts";

/** Autovacuum analyses what fewer rows change, a minute later at most. */
const MANY = 5_000;

/**
 * PostgreSQL recommends ANALYZE after many rows were loaded: until then the planner takes the company for a small one. The rows are
 * there without it, so that an outage is no failure of the import.
 */
export async function analyzeTables(loaded: number): Promise<void> {
  if (loaded < MANY) return;
  await query("select analyze_subscribers()").catch((error: unknown) => {
    if (!isDatabaseOutage(error)) throw error;
  });
}
