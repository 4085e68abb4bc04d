/**
 * Advisory locks by company: one bulk writer at a time, and the plan's subscriber limit held exactly. Stands with the models
 * because campaigns save the receivers of their mail as subscribers in the transaction that writes their recipients.
 */
import { type Client, queryOne } from "../database/db.ts";

/**
 * Admits one bulk writer of subscribers per company until the transaction ends: two that write the same addresses in
 * different order would wait for each other until PostgreSQL aborts one of them (deadlock, after a second).
 */
export async function lockBulkWrites(client: Client, companyId: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtextextended('bulk subscribers ' || $1, 0))", [companyId]);
}

/** Null: unlimited. */
export type Limit = number | null;

/**
 * Returns how many subscribers the plan still allows. Under a limit the company's lock is held until the transaction ends, so
 * that two requests never both take the last one; without a limit nobody waits.
 */
export async function roomFor(client: Client, companyId: string, limit: Limit): Promise<number> {
  if (limit === null) return Number.POSITIVE_INFINITY;
  await client.query("select pg_advisory_xact_lock(hashtextextended('subscribers ' || $1, 0))", [companyId]);
  const counted = await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [companyId], client);
  return Math.max(0, limit - (counted?.n ?? 0));
}
