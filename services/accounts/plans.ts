/** Plans are rows: what a company may do is read from there, at most PLAN_AGE_MS ago. */
import { query, queryOne } from "../../models/database/db.ts";
import { Plan } from "../../models/plan.ts";
import { requireQuota } from "../../models/statements/monthly-quota.ts";
import { featureNotAvailable, notFound } from "../lib/errors.ts";
import type { Plan as PlanView } from "./contract-shapes.ts";

const PLAN_AGE_MS = 1_000;
const MAX_REMEMBERED = 10_000;

const remembered = new Map<string, { plan: PlanView; readAtMs: number }>();

async function readPlan(companyId: string): Promise<PlanView> {
  const company = await queryOne<{ plan: string }>("select plan from companies where id = $1", [companyId]);
  const plan = company && (await Plan.findByPk(company.plan));
  if (!plan) throw notFound();
  return plan.view();
}

export async function planOf(companyId: string): Promise<PlanView> {
  const known = remembered.get(companyId);
  const readAtMs = performance.now();
  if (known && readAtMs - known.readAtMs < PLAN_AGE_MS) return known.plan;
  remembered.delete(companyId);
  const plan = await readPlan(companyId);
  remembered.set(companyId, { plan, readAtMs });
  if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
  return plan;
}

/** This node need not wait for PLAN_AGE_MS after it changed a plan itself. */
export const forgetPlan = (companyId: string): void => {
  remembered.delete(companyId);
};

export async function requireFeature(companyId: string, feature: string): Promise<null> {
  const { plan, features } = await planOf(companyId);
  if (!features.includes(feature)) throw featureNotAvailable(feature, plan);
  return null;
}

export async function admitEmails(companyId: string, emails: number): Promise<null> {
  const limit = (await planOf(companyId)).limits.emails_per_month;
  if (limit !== null) await requireQuota(companyId, emails, limit);
  return null;
}

export async function planNames(): Promise<string[]> {
  return (await query<{ name: string }>("select name from plans order by name")).map(({ name }) => name);
}

/** Found at the start and not by the first customer who registers. */
export async function requireDefaultPlan(name: string): Promise<void> {
  const names = await planNames();
  if (names.includes(name)) return;
  throw new Error(`DEFAULT_PLAN is "${name}", but there is no such plan. Choose one of: ${names.join(", ")}.`);
}
