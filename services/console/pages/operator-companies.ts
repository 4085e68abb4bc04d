/** Operator pages for companies: search, details, change of plan, pause and resume sending. */
import type { ReturnsOf } from "../../contracts.ts";
import { invalid, notFound } from "../../lib/errors.ts";
import { isUuid } from "../../lib/ids.ts";
import { sizeText } from "../../lib/size-text.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { formatted } from "../render.ts";
import { type Answer, callFor, type OperatorVisit, type Outcome } from "../request.ts";
import { tableOf } from "./operator-tables.ts";

const COMPANIES = "/app/operator/companies";
const t = messages.operator;

export async function companiesPage(visit: OperatorVisit): Promise<Answer> {
  const { query } = visit;
  const { results, ...paging } = await callFor(visit, "accounts.listCompanies", askedOf(query));
  const rows = results.map((company) => ({ ...company, owners: company.owners.join(", ") }));
  return {
    view: "operator-companies",
    title: t.pages.companies,
    values: {
      tenants: tableOf("companies", rows, { path: COMPANIES, linkBy: "id" }),
      here: COMPANIES,
      asked: query,
      pager: pagerOf(COMPANIES, query, paging),
    },
  };
}

const amountOf = (limit: string, n: number | null): number | string =>
  n === null ? t.unlimited : limit === "media_bytes" ? sizeText(n) : n;

export async function plansPage(visit: OperatorVisit): Promise<Answer> {
  const plans = await callFor(visit, "accounts.listPlans", {});
  const rows = plans.map(({ plan, features, limits }) => ({
    plan,
    features: features.join(", ").replaceAll("_", " "),
    ...Object.fromEntries(Object.entries(limits).map(([limit, allowed]) => [limit, amountOf(limit, allowed)])),
  }));
  return { view: "operator-plans", title: t.pages.plans, values: { plans: tableOf("plans", rows) } };
}

type Limit = ReturnsOf<"operator.limits">[number];

const limitRow = ({ limit, used, allowed, retry_after_seconds, ...row }: Limit) => ({
  ...row,
  limit: messages.plan.limits[limit as keyof typeof messages.plan.limits] ?? limit,
  used: used === null ? used : amountOf(limit, used),
  allowed: amountOf(limit, allowed),
  retry_after_seconds: retry_after_seconds || null,
});

interface ShowOptions {
  planErrors?: Errors;
  pauseErrors?: Errors;
}

async function show(visit: OperatorVisit, { planErrors = {}, pauseErrors = {} }: ShowOptions = {}): Promise<Answer> {
  const { id = "" } = visit.params;
  if (!isUuid(id)) throw notFound();
  const [{ results }, limits, plans, campaigns] = await Promise.all([
    callFor(visit, "accounts.listCompanies", { search: id, page_size: 1 }),
    callFor(visit, "operator.limits", { company_id: id }),
    callFor(visit, "accounts.listPlans", {}),
    callFor(visit, "operator.campaigns", { company_id: id }),
  ]);
  const company = results[0];
  if (!company) throw notFound();
  const unfinished = formatted(campaigns.length);
  const isPaused = company.sending_paused_at !== null;
  return {
    view: "operator-company",
    title: company.name,
    values: {
      tenant: company,
      limits: tableOf("limits", limits.map(limitRow)),
      plans: plans.map(({ plan }) => ({ value: plan, label: plan })),
      isPaused,
      hint: isPaused ? t.company.unpauseHint(unfinished) : t.company.pauseHint(unfinished),
      planErrors,
      pauseErrors,
      typed: visit.form,
      here: `${COMPANIES}/${id}`,
    },
  };
}

export const operatorCompanyPage = (visit: OperatorVisit): Promise<Answer> => show(visit);

function reasonOf({ form }: OperatorVisit): string {
  const reason = (form.reason ?? "").trim();
  if (reason === "") throw invalid({ reason: [t.company.reasonMissing] });
  return reason;
}

const backTo = ({ params }: OperatorVisit): Answer => ({ goTo: `${COMPANIES}/${params.id}`, notice: "saved" });

export const changePlan = (visit: OperatorVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const plan = visit.form.plan ?? "";
      await callFor(visit, "accounts.setPlan", { company_id: visit.params.id!, plan, reason: reasonOf(visit) });
      return backTo(visit);
    },
    (planErrors) => show(visit, { planErrors }),
  );

const pauseOrResume =
  (action: "accounts.pauseCompany" | "accounts.resumeCompany") =>
  (visit: OperatorVisit): Promise<Outcome | Answer> =>
    orAgain(
      async () => {
        await callFor(visit, action, { company_id: visit.params.id!, reason: reasonOf(visit) });
        return backTo(visit);
      },
      (pauseErrors) => show(visit, { pauseErrors }),
    );

export const pauseCompany = pauseOrResume("accounts.pauseCompany");
export const resumeCompany = pauseOrResume("accounts.resumeCompany");
