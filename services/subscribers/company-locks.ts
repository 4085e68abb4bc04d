/** The plan's limit of subscribers, held exactly: two requests never both take the last place. */
import { type Client, queryOne } from "../../models/database/db.ts";
import { call } from "../call.ts";
import type { Ctx } from "../lib/caller.ts";

/** Null: unlimited. */
export type Limit = number | null;

export async function subscriberLimit(ctx: Ctx, companyId?: string): Promise<Limit> {
  const meta = companyId ? { ...ctx.meta, companyId } : ctx.meta;
  return (await call(ctx, "accounts.planOf", {}, { meta })).limits.subscribers;
}

/**
 * How many more there may be. Under a limit the company's lock is held to the end of the transaction, so that the
 * answer stays true; without one nobody waits for anybody.
 */
export async function roomFor(client: Client, companyId: string, limit: Limit): Promise<number> {
  if (limit === null) return Number.POSITIVE_INFINITY;
  await client.query("select pg_advisory_xact_lock(hashtextextended('subscribers ' || $1, 0))", [companyId]);
  const counted = await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [companyId], client);
  return Math.max(0, limit - (counted?.n ?? 0));
}
