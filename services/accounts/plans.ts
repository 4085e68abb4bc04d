/** Reads plans, cached for at most PLAN_AGE_MS, and reports limits with their usage. */
import { LRUCache } from "lru-cache";
import { ApiKey } from "../../models/api-key.ts";
import { Company } from "../../models/company.ts";
import { Plan } from "../../models/plan.ts";
import { requireQuota } from "../../models/statements/monthly-quota.ts";
import { emailsThisMonth, mediaBytesOf, sentInTheLastHour, subscribersOf } from "../../models/statements/plan-usage.ts";
import { call } from "../call.ts";
import { type Caller, type Ctx, companyOf } from "../lib/caller.ts";
import { featureNotAvailable, notFound } from "../lib/errors.ts";
import { apiLimiter } from "../lib/limits/api-limiter.ts";
import { apiCallsToday } from "../lib/limits/limiter.ts";
import type { PlanUsage, Plan as PlanView } from "./contract-account-shapes.ts";
import { ownCompany } from "./permission.ts";

const PLAN_AGE_MS = 1_000;
const MAX_CACHED = 10_000;
const SENDER_TIMEOUT_MS = 2_000;

/** Process-wide cache. Age counts from the start of the query. */
const cached = new LRUCache<string, PlanView>({ max: MAX_CACHED, ttl: PLAN_AGE_MS });

async function readPlan(companyId: string): Promise<PlanView> {
  const company = await Company.findByPk(companyId, { attributes: ["id"], include: "planRow" });
  if (!company?.planRow) throw notFound();
  return company.planRow.view();
}

export async function planOf(companyId: string): Promise<PlanView> {
  const cachedPlan = cached.get(companyId);
  if (cachedPlan) return cachedPlan;
  const start = performance.now();
  const plan = await readPlan(companyId);
  cached.set(companyId, plan, { start });
  return plan;
}

/** Clears the cache on the node that changed a plan. */
export const forgetPlan = (companyId: string): void => {
  cached.delete(companyId);
};

export async function requireFeature(companyId: string, feature: string): Promise<null> {
  const { plan, features } = await planOf(companyId);
  if (!features.includes(feature)) throw featureNotAvailable(feature, plan);
  return null;
}

/** `due` is when the emails are to be sent; null means now. */
export async function admitEmails(companyId: string, emails: number, due: Date | null = null): Promise<null> {
  const limit = (await planOf(companyId)).limits.emails_per_month;
  if (limit !== null) await requireQuota({ companyId, emails, due }, limit);
  return null;
}

export async function planNames(): Promise<string[]> {
  return (await Plan.findAll({ attributes: ["name"], order: ["name"] })).map(({ name }) => name);
}

/** Checked at startup, before the first customer registers. */
export async function requireDefaultPlan(name: string): Promise<void> {
  const names = await planNames();
  if (names.includes(name)) return;
  throw new Error(`DEFAULT_PLAN is "${name}", but there is no such plan. Choose one of: ${names.join(", ")}.`);
}

/** Start and end of the UTC month that contains `now`. */
export function periodOf(now: Date): { start: string; end: string } {
  const month = (offset: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset)).toISOString();
  return { start: month(0), end: month(1) };
}

/** Reads the rate limiter, or counts recipients of the last hour if no sender answers. */
async function smtpThisHour(ctx: Ctx): Promise<number> {
  try {
    return (await call(ctx, "smtp-sender.hourRoom", {}, { timeout: SENDER_TIMEOUT_MS })).used;
  } catch (error) {
    if (!(error as { retryable?: boolean }).retryable) throw error;
    return sentInTheLastHour(companyOf(ctx));
  }
}

/** Daily calls of the calling key, or of the company's people; operators see the caller nearest to its limit. */
async function callsToday({ meta }: Ctx, companyId: string): Promise<number> {
  const callsOf = async (caller: Caller) => (await apiLimiter().used(apiCallsToday(caller))).used;
  if (meta.apiKeyId || meta.userId) return callsOf(meta);
  const keys = await ApiKey.findAll({ attributes: ["id"], where: { companyId } });
  const callers = [{ companyId }, ...keys.map(({ id }) => ({ companyId, apiKeyId: id }))];
  return Math.max(...(await Promise.all(callers.map(callsOf))));
}

export async function getPlan(ctx: Ctx<{ id: string }>): Promise<PlanUsage> {
  const companyId = ownCompany(ctx);
  const [plan, calls, subscribers, emails, smtp, media] = await Promise.all([
    planOf(companyId),
    callsToday(ctx, companyId),
    subscribersOf(companyId),
    emailsThisMonth(companyId),
    smtpThisHour(ctx),
    mediaBytesOf(companyId),
  ]);
  const usage = {
    api_calls_per_day: calls,
    subscribers,
    emails_per_month: emails,
    smtp_per_hour: smtp,
    media_bytes: media,
  };
  return { ...plan, usage, period: periodOf(new Date()) };
}
