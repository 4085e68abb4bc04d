/**
 * Takes advisory locks by company: one bulk writer at a time, and an exact subscriber limit of the plan. Part of the
 * models because campaigns save receivers as subscribers in the transaction that writes their recipients.
 */
import { type Client, queryOne } from "../database/db.ts";
import { countOfPeople } from "./plan-usage.ts";

/**
 * Admits one bulk writer of subscribers per company until the transaction ends: two that write the same addresses in
 * different order would deadlock until PostgreSQL aborts one of them after a second.
 */
export async function lockBulkWrites(client: Client, companyId: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtextextended('bulk subscribers ' || $1, 0))", [companyId]);
}

/** Null: unlimited. */
export type Limit = number | null;

/**
 * Returns how many subscribers the plan still allows. With a limit, locks the company until the transaction ends, so
 * that concurrent requests never both use the last one; without a limit nobody waits.
 */
export async function roomFor(client: Client, companyId: string, limit: Limit): Promise<number> {
  if (limit === null) return Number.POSITIVE_INFINITY;
  await client.query("select pg_advisory_xact_lock(hashtextextended('subscribers ' || $1, 0))", [companyId]);
  const counted = await queryOne<{ n: number }>(countOfPeople("$1"), [companyId], client);
  return Math.max(0, limit - (counted?.n ?? 0));
}
