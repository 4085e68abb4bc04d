/** The plan endpoint: limits beside what is used of them. */
import { query, queryOne } from "../../models/database/db.ts";
import { emailsThisMonth } from "../../models/statements/plan-usage.ts";
import { call } from "../call.ts";
import { type Caller, type Ctx, companyOf } from "../lib/caller.ts";
import { apiLimiter } from "../lib/limits/api-limiter.ts";
import { apiCallsToday } from "../lib/limits/limiter.ts";
import type { PlanUsage } from "./contract-shapes.ts";
import { ownCompany } from "./permission.ts";
import { planOf } from "./plans.ts";

const SENDER_TIMEOUT_MS = 2_000;

/** The UTC month. */
export function periodOf(now: Date): { start: string; end: string } {
  const month = (offset: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset)).toISOString();
  return { start: month(0), end: month(1) };
}

async function subscribersOf(companyId: string): Promise<number> {
  return (await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [companyId]))!.n;
}

/** The limiter knows; where no sender answers, the recipients of the last hour do. */
async function smtpThisHour(ctx: Ctx): Promise<number> {
  try {
    return (await call(ctx, "smtp-sender.hourRoom", {}, { timeout: SENDER_TIMEOUT_MS })).used;
  } catch (error) {
    if (!(error as { retryable?: boolean }).retryable) throw error;
    const sent = await queryOne<{ n: number }>(
      "select count(*) n from sent_emails where company_id = $1 and sent_at > now() - interval '1 hour'",
      [companyOf(ctx)],
    );
    return sent!.n;
  }
}

/** Of the key that asks, or of the people; an operator is neither and sees whoever is nearest to the limit. */
async function callsToday({ meta }: Ctx, companyId: string): Promise<number> {
  const callsOf = async (caller: Caller) => (await apiLimiter().used(apiCallsToday(caller))).used;
  if (meta.apiKeyId || meta.userId) return callsOf(meta);
  const keys = await query<{ id: string }>("select id from api_keys where company_id = $1", [companyId]);
  const callers = [{ companyId }, ...keys.map(({ id }) => ({ companyId, apiKeyId: id }))];
  return Math.max(...(await Promise.all(callers.map(callsOf))));
}

export async function getPlan(ctx: Ctx<{ id: string }>): Promise<PlanUsage> {
  const companyId = ownCompany(ctx);
  const [plan, calls, subscribers, emails, smtp] = await Promise.all([
    planOf(companyId),
    callsToday(ctx, companyId),
    subscribersOf(companyId),
    emailsThisMonth(companyId),
    smtpThisHour(ctx),
  ]);
  const usage = { api_calls_per_day: calls, subscribers, emails_per_month: emails, smtp_per_hour: smtp };
  return { ...plan, usage, period: periodOf(new Date()) };
}
