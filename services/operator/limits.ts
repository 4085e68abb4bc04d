import { call } from "../call.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";

type Names = keyof ReturnsOf<"accounts.getPlan">["limits"];
const NAMES: Names[] = ["api_calls_per_day", "subscribers", "emails_per_month"];

/** The plan's four limits; the hour is asked of the senders, who count it. */
export async function limitsNow(ctx: Ctx<{ company_id: string }>): Promise<ReturnsOf<"operator.limits">> {
  const companyId = ctx.params.company_id;
  const as = { meta: { companyId } };
  const { limits, usage } = await call(ctx, "accounts.getPlan", { id: companyId }, as);
  const hour = await call(ctx, "smtp-sender.hourRoom", {}, as);
  return [
    ...NAMES.map((limit) => ({ limit, allowed: limits[limit], used: usage[limit], retry_after_seconds: 0 })),
    {
      limit: "smtp_per_hour",
      allowed: hour.limit,
      used: hour.used,
      retry_after_seconds: hour.room === 0 ? hour.retry_after_seconds : 0,
    },
  ];
}
