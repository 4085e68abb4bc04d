/** Advisory locks by company: one bulk writer at a time, and the plan's subscriber limit held exactly. */
import { type Client, query, queryOne } from "../../models/database/db.ts";
import { call } from "../call.ts";
import type { Ctx } from "../lib/caller.ts";

const BULK = "hashtextextended('bulk subscribers ' || $1, 0)";

const waitAtMost = (client: Client, ms: number) =>
  query("select set_config('lock_timeout', $1, true)", [String(ms)], client);

/**
 * Admits one bulk writer of subscribers per company until the transaction ends: two that write the same addresses in
 * different order would wait for each other until PostgreSQL aborts one of them (deadlock, after a second). With `waitMs`
 * a writer that does not get in soon fails (55P03).
 */
export async function lockBulkWrites(client: Client, companyId: string, waitMs?: number): Promise<void> {
  if (waitMs !== undefined) await waitAtMost(client, waitMs);
  await client.query(`select pg_advisory_xact_lock(${BULK})`, [companyId]);
}

/** The same without waiting: false where another writer is at work. */
export async function tryLockBulkWrites(client: Client, companyId: string): Promise<boolean> {
  return (await queryOne<{ held: boolean }>(`select pg_try_advisory_xact_lock(${BULK}) held`, [companyId], client))!
    .held;
}

/** Null: unlimited. */
export type Limit = number | null;

export async function subscriberLimit(ctx: Ctx, companyId?: string): Promise<Limit> {
  const meta = companyId ? { ...ctx.meta, companyId } : ctx.meta;
  return (await call(ctx, "accounts.planOf", {}, { meta })).limits.subscribers;
}

/**
 * How many subscribers the plan still allows. Under a limit the company's lock is held until the transaction ends, so
 * that two requests never both take the last place; without a limit nobody waits.
 */
export async function roomFor(client: Client, companyId: string, limit: Limit): Promise<number> {
  if (limit === null) return Number.POSITIVE_INFINITY;
  await client.query("select pg_advisory_xact_lock(hashtextextended('subscribers ' || $1, 0))", [companyId]);
  const counted = await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [companyId], client);
  return Math.max(0, limit - (counted?.n ?? 0));
}
