/** Operator commands for companies, plans and passwords. */
import { Transaction } from "sequelize";
import { Company } from "../../models/company.ts";
import { sequelize } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import { Plan } from "../../models/plan.ts";
import { type AuditedChange, audit } from "../../models/statements/audit-log.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { AuditAction } from "../lib/audit-actions.ts";
import type { Ctx } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { invalid, notFound } from "../lib/errors.ts";
import { storeNewKey } from "./api-keys.ts";
import { storeInvitation } from "./invitations.ts";
import { hashPassword } from "./password.ts";
import { userByEmail } from "./people/login.ts";
import { replacePassword, wordsOf } from "./people/passwords.ts";
import { passwordErrors } from "./people/weak-password.ts";
import { forgetPlan, planNames, planOf } from "./plans.ts";
import { linkTo } from "./system-mail/texts.ts";

type Page = ReturnsOf<"accounts.listCompanies">;
type Tenant = Page["results"][number];
interface Row extends Omit<Tenant, "created_at" | "sending_paused_at"> {
  created_at: Date;
  sending_paused_at: Date | null;
}

/** SQL: one statement reads owners, counters and usage of a page of companies. */
export async function listCompanies(params: ParamsOf<"accounts.listCompanies">): Promise<Page> {
  const { results, ...page } = await listPage<Row>(
    {
      from: "companies c",
      columns: `c.id, c.name, c.plan, count_of(c.id, 'subscribers', c.id) as subscribers,
        array(select u.email from memberships m join users u on u.id = m.user_id
          where m.company_id = c.id and m.role = 'owner' order by u.email limit 5) as owners,
        coalesce((select emails from usage_months um where um.company_id = c.id
          and um.month = date_trunc('month', now() at time zone 'utc')), 0) as emails_this_month,
        c.sending_paused_at, c.created_at`,
      where: ["true"],
      values: [],
      id: "c.id",
      orderings: { name: "c.name", plan: "c.plan" },
      searchIn: ["c.name", "c.id::text"],
    },
    params,
  );
  const view = (row: Row): Tenant => ({
    ...row,
    sending_paused_at: row.sending_paused_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  });
  return { ...page, results: results.map(view) };
}

async function requirePlan(name: string): Promise<void> {
  const names = await planNames();
  if (!names.includes(name))
    throw invalid({ plan: [`There is no plan "${name}". Choose one of: ${names.join(", ")}.`] });
}

export async function createCompany(params: ParamsOf<"accounts.createCompany">) {
  const { name, plan = config().DEFAULT_PLAN, key_name = "Operator", owner } = params;
  await requirePlan(plan);
  return sequelize().transaction(async (transaction) => {
    const company = await Company.create({ name: name.trim(), plan }, { transaction });
    const key = await storeNewKey(company.id, { name: key_name }, transaction);
    if (!owner) return { company: company.view(), key };
    // The operator passes the link to the invited person, so the link itself is the proof.
    const ownerInvitation = { email: owner, role: "owner" as const, invitedBy: null, provesAddress: true };
    const invitation = await storeInvitation({ companyId: company.id, ...ownerInvitation }, transaction);
    return { company: company.view(), key, invite_url: linkTo("invitation", invitation.id) };
  });
}

export async function savePlan({ plan: name, features, limits }: ParamsOf<"accounts.savePlan">) {
  const [plan] = await Plan.upsert({
    name,
    features,
    apiCallsPerDay: limits.api_calls_per_day ?? null,
    subscribers: limits.subscribers ?? null,
    emailsPerMonth: limits.emails_per_month ?? null,
    smtpPerHour: limits.smtp_per_hour ?? null,
    mediaBytes: limits.media_bytes ?? null,
  });
  return plan.view();
}

export const listPlans = async () => (await Plan.findAll({ order: ["name"] })).map((plan) => plan.view());

/**
 * Locks the company's row until the transaction ends. Not with `for update`, which would wait for all writers of rows
 * that reference the company, such as a long import.
 */
async function lockedCompany(id: string, transaction: Transaction): Promise<Company> {
  const company = await Company.findByPk(id, { transaction, lock: Transaction.LOCK.NO_KEY_UPDATE });
  if (!company) throw notFound();
  return company;
}

/** Writes the action and its reason to the audit log, which the company's owners read. */
const auditOf = (action: AuditAction, reason: string | undefined, detail: object = {}): AuditedChange => ({
  action,
  detail: { ...detail, ...(reason ? { reason } : {}) },
});

export async function setPlan({ params, meta }: Ctx<ParamsOf<"accounts.setPlan">>) {
  const { company_id, plan, reason } = params;
  await requirePlan(plan);
  await sequelize().transaction(async (transaction) => {
    const company = await lockedCompany(company_id, transaction);
    if (company.plan === plan) return;
    const audited = auditOf("company.plan_changed", reason, { before: company.plan, plan });
    await company.update({ plan }, { transaction });
    await audit(company_id, meta, audited, transaction);
  });
  forgetPlan(company_id);
  return planOf(company_id);
}

export async function setPassword({ email, password }: ParamsOf<"accounts.setPassword">): Promise<null> {
  const passwordHash = await hashPassword(password);
  await sequelize().transaction(async (transaction) => {
    const user = await userByEmail(email, transaction);
    if (!user) throw notFound();
    const errors = await passwordErrors(password, wordsOf(user));
    if (errors.length > 0) throw invalid({ password: errors });
    await replacePassword(user.id, passwordHash, transaction);
  });
  return null;
}

/**
 * Pauses or resumes a company. Senders skip recipients of paused companies when they claim; mails already in flight
 * still go out. A repeated request adds no audit entry.
 */
export async function setPaused({ params, meta }: Ctx<ParamsOf<"accounts.pauseCompany">>, paused: boolean) {
  const { company_id, reason } = params;
  return sequelize().transaction(async (transaction) => {
    const company = await lockedCompany(company_id, transaction);
    if ((company.sendingPausedAt !== null) !== paused) {
      await company.update({ sendingPausedAt: paused ? sequelize().fn("now") : null }, { transaction });
      await company.reload({ transaction });
      await audit(company_id, meta, auditOf(paused ? "company.paused" : "company.unpaused", reason), transaction);
    }
    return { id: company.id, sending_paused_at: company.sendingPausedAt?.toISOString() ?? null };
  });
}
