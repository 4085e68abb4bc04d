/** What an operator does to companies, from the REPL. */
import { Company } from "../../models/company.ts";
import { query, queryOne, transaction } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import { Plan } from "../../models/plan.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { config } from "../lib/config.ts";
import { invalid, notFound } from "../lib/errors.ts";
import { isoTime } from "./iso-time.ts";
import { storeNewKey } from "./keys.ts";
import { hashPassword } from "./password.ts";
import { forgetPlan, planNames, planOf } from "./plans.ts";

export function listCompanies(
  params: ParamsOf<"accounts.listCompanies">,
): Promise<ReturnsOf<"accounts.listCompanies">> {
  return listPage(
    {
      from: "companies c",
      columns: `c.id, c.name, c.plan, count_of(c.id, 'subscribers', c.id) as subscribers,
        array(select u.email from memberships m join users u on u.id = m.user_id
          where m.company_id = c.id and m.role = 'owner' order by u.email limit 5) as owners,
        coalesce((select emails from usage_months um where um.company_id = c.id
          and um.month = date_trunc('month', now() at time zone 'utc')), 0) as emails_this_month,
        ${isoTime("c.sending_paused_at")} as sending_paused_at, ${isoTime("c.created_at")} as created_at`,
      where: ["true"],
      values: [],
      id: "c.id",
      orderings: { name: "c.name", plan: "c.plan" },
      searchIn: ["c.name", "c.id::text"],
    },
    params,
  );
}

async function requirePlan(name: string): Promise<void> {
  const names = await planNames();
  if (!names.includes(name))
    throw invalid({ plan: [`There is no plan "${name}". Choose one of: ${names.join(", ")}.`] });
}

export async function createCompany(params: ParamsOf<"accounts.createCompany">) {
  const { name, plan = config().DEFAULT_PLAN, key_name = "Operator" } = params;
  await requirePlan(plan);
  const company = await Company.create({ name: name.trim(), plan });
  return { company: company.view(), key: await storeNewKey(company.id, key_name, null) };
}

export async function savePlan({ plan: name, features, limits }: ParamsOf<"accounts.savePlan">) {
  const [plan] = await Plan.upsert({
    name,
    features,
    apiCallsPerDay: limits.api_calls_per_day ?? null,
    subscribers: limits.subscribers ?? null,
    emailsPerMonth: limits.emails_per_month ?? null,
    smtpPerHour: limits.smtp_per_hour ?? null,
  });
  return plan.view();
}

export const listPlans = async () => (await Plan.findAll({ order: ["name"] })).map((plan) => plan.view());

export async function setPlan({ company_id, plan }: ParamsOf<"accounts.setPlan">) {
  await requirePlan(plan);
  const [company] = await query("update companies set plan = $2, updated_at = now() where id = $1 returning id", [
    company_id,
    plan,
  ]);
  if (!company) throw notFound();
  forgetPlan(company_id);
  return planOf(company_id);
}

const CHANGE = "update users set password_hash = $2, updated_at = now() where email_key = lower($1) returning id";

/** Its own statement: it must see the logins that the first one waited for. */
const END_LOGINS = "update refresh_tokens set revoked_at = now() where revoked_at is null and user_id = $1";

/** No login that was made with the old password outlives it, nor one that is being made at this moment. */
export async function setPassword({ email, password }: ParamsOf<"accounts.setPassword">): Promise<null> {
  const hash = await hashPassword(password);
  await transaction(async (client) => {
    const changed = await queryOne<{ id: string }>(CHANGE, [email.trim(), hash], client);
    if (!changed) throw notFound();
    await client.query(END_LOGINS, [changed.id]);
  });
  return null;
}

/** Senders leave out a paused company's recipients when they claim; what is in flight still goes out. */
export async function setPaused(companyId: string, paused: boolean) {
  const company = await queryOne<{ id: string; sending_paused_at: string | null }>(
    `update companies set sending_paused_at = case when $2 then coalesce(sending_paused_at, now()) end, updated_at = now()
     where id = $1 returning id, ${isoTime("sending_paused_at")} as sending_paused_at`,
    [companyId, paused],
  );
  if (!company) throw notFound();
  return company;
}
