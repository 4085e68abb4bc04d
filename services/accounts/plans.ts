/**
 * Plans are rows: what a company may do is read from there, at most PLAN_AGE_MS ago. And the plan endpoint: limits beside
 * what is used of them.
 */
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

/** Of the process: a plan is the same for whoever asks. Age counts from the question, not from the answer. */
const cached = new LRUCache<string, PlanView>({ max: MAX_CACHED, ttl: PLAN_AGE_MS });

async function readPlan(companyId: string): Promise<PlanView> {
  const company = await Company.findByPk(companyId, { attributes: ["id"], include: "planRow" });
  if (!company?.planRow) throw notFound();
  return company.planRow.view();
}

export async function planOf(companyId: string): Promise<PlanView> {
  const known = cached.get(companyId);
  if (known) return known;
  const start = performance.now();
  const plan = await readPlan(companyId);
  cached.set(companyId, plan, { start });
  return plan;
}

/** This node need not wait for PLAN_AGE_MS after it changed a plan itself. */
export const forgetPlan = (companyId: string): void => {
  cached.delete(companyId);
};

export async function requireFeature(companyId: string, feature: string): Promise<null> {
  const { plan, features } = await planOf(companyId);
  if (!features.includes(feature)) throw featureNotAvailable(feature, plan);
  return null;
}

/** `due`: when they are to be sent; null: now. */
export async function admitEmails(companyId: string, emails: number, due: Date | null = null): Promise<null> {
  const limit = (await planOf(companyId)).limits.emails_per_month;
  if (limit !== null) await requireQuota({ companyId, emails, due }, limit);
  return null;
}

export async function planNames(): Promise<string[]> {
  return (await Plan.findAll({ attributes: ["name"], order: ["name"] })).map(({ name }) => name);
}

/** Found at the start and not by the first customer who registers. */
export async function requireDefaultPlan(name: string): Promise<void> {
  const names = await planNames();
  if (names.includes(name)) return;
  throw new Error(`DEFAULT_PLAN is "${name}", but there is no such plan. Choose one of: ${names.join(", ")}.`);
}

/** The UTC month. */
export function periodOf(now: Date): { start: string; end: string } {
  const month = (offset: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset)).toISOString();
  return { start: month(0), end: month(1) };
}

/** The limiter knows; where no sender answers, the recipients of the last hour do. */
async function smtpThisHour(ctx: Ctx): Promise<number> {
  try {
    return (await call(ctx, "smtp-sender.hourRoom", {}, { timeout: SENDER_TIMEOUT_MS })).used;
  } catch (error) {
    if (!(error as { retryable?: boolean }).retryable) throw error;
    return sentInTheLastHour(companyOf(ctx));
  }
}

/** Of the key that asks, or of the people; an operator is neither and sees the caller that is nearest to the limit. */
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
