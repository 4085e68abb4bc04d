/** Subscriber limit of a company's plan. */
import type { Limit } from "../../models/statements/subscriber-locks.ts";
import { call } from "../call.ts";
import type { Ctx } from "../lib/caller.ts";

export async function subscriberLimit(ctx: Ctx, companyId?: string): Promise<Limit> {
  const meta = companyId ? { ...ctx.meta, companyId } : ctx.meta;
  return (await call(ctx, "accounts.planOf", {}, { meta })).limits.subscribers;
}
