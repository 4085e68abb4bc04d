/** First page after sign-in: the company's overview, or a choice if the person has several companies. */
import { isFinished } from "../../../models/campaign.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { type Plot, plotOf } from "../plot.ts";
import {
  type Answer,
  type CompanyVisit,
  callIn,
  companyPath,
  may,
  type Outcome,
  type PersonVisit,
} from "../request.ts";
import { shortOf } from "../times.ts";
import { warningsOf } from "../warnings.ts";
import { withStates } from "./campaign-outcome.ts";
import { campaignsSendingNow } from "./campaigns.ts";
import { firstSteps, sampleOf } from "./setup.ts";

const t = messages.overview;

export function chooseCompany({ companies }: PersonVisit): Answer {
  if (companies.length === 1) return { goTo: `/app/${companies[0]!.id}` };
  return { view: "companies", title: messages.companies.title };
}

/** Page size for servers and webhooks, of which no company has as many. */
const ALL = { page_size: 100 };

type Stats = ReturnsOf<"tracking.companyStats">;
type Servers = ReturnsOf<"smtp-sender.listConfigs">;

/** Returns the overview's warnings from data that was already read. */
async function warnings(visit: CompanyVisit, { sending }: Stats, { results }: Servers) {
  const { id } = visit.company;
  const [company, plan, hooks] = await Promise.all([
    callIn(visit, "accounts.getCompany", { id }),
    callIn(visit, "accounts.getPlan", { id }),
    callIn(visit, "webhooks.list", ALL),
  ]);
  const found = warningsOf({
    servers: results,
    days: sending,
    plan,
    endpoints: hooks.results,
    zone: visit.company.timezone,
    isPaused: company.sending_paused_at !== null,
  });
  return found.map(({ text, path, link }) => ({
    text,
    ...(path && { link: { href: companyPath(visit, path), label: link } }),
  }));
}

const DAYS = 30;

/** Daily plots of growth and sending; plots without data are left out. */
function plotsOf({ growth, sending }: Stats): Plot[] {
  const plot = <Row extends { date: string }>(
    title: string,
    rows: readonly Row[],
    labels: Partial<Record<keyof Row, string>>,
  ) =>
    plotOf(
      title,
      rows.map(({ date }) => shortOf(date)),
      Object.fromEntries(
        Object.entries<string | undefined>(labels).map(([name, label]) => [
          label,
          rows.map((row) => Number(row[name as keyof Row])),
        ]),
      ),
      { drawn: 3 },
    );
  const plots = [plot(t.sending, sending, t.sendingLines), plot(t.growth, growth, t.growthLines)];
  return plots.filter(({ rows }) => rows.length > 0);
}

/** Totals of a period, for the tiles. */
function totalsOf({ growth, sending }: Pick<Stats, "growth" | "sending">) {
  const sum = (metric: "sent" | "delivered" | "opens" | "clicks") => sending.reduce((all, day) => all + day[metric], 0);
  const gained = growth.reduce((all, day) => all + day.subscribed - day.unsubscribed - day.bounced, 0);
  return { sent: sum("sent"), delivered: sum("delivered"), opens: sum("opens"), clicks: sum("clicks"), gained };
}

type Totals = ReturnType<typeof totalsOf>;

/** Change of a rate against the period before, in percentage points; null if either period has no mails. */
function changeOf(now: Totals, before: Totals, part: "opens" | "clicks") {
  if (now.delivered === 0 || before.delivered === 0) return null;
  const points = 100 * (now[part] / now.delivered - before[part] / before.delivered);
  const rounded = Math.round(points * 10) / 10;
  const sign = rounded > 0 ? "+" : rounded < 0 ? "−" : "";
  return { points: `${sign}${Math.abs(rounded).toFixed(1)}`, isBetter: rounded > 0, isWorse: rounded < 0 };
}

export async function companyHome(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const few = { page_size: 5 };
  const [both, servers, sample, sendingNow, scheduled, recent] = await Promise.all([
    callIn(visit, "tracking.companyStats", { days: 2 * DAYS }),
    callIn(visit, "smtp-sender.listConfigs", ALL),
    callIn(visit, "accounts.getSampleData", { id: visit.company.id }),
    campaignsSendingNow(visit),
    callIn(visit, "campaigns.list", { ...few, status: "scheduled", ordering: "scheduled_for" }),
    callIn(visit, "campaigns.list", few),
  ]);
  const stats = { ...both, growth: both.growth.slice(-DAYS), sending: both.sending.slice(-DAYS) };
  const totals = totalsOf(stats);
  const before = totalsOf({ growth: both.growth.slice(0, -DAYS), sending: both.sending.slice(0, -DAYS) });
  const finished = recent.results.filter(({ status }) => isFinished(status));
  const [steps, needsLook] = await Promise.all([
    firstSteps(visit, stats, servers, sample),
    warnings(visit, stats, servers),
  ]);
  const { first_name: name } = visit.user;
  const isNew = !steps.at(-1)!.done;
  const hello = isNew ? t.welcome : t.hello;
  return {
    view: "overview",
    title: name ? hello(name) : t.title,
    values: {
      errors,
      subscribers: stats.subscribers,
      hasPeople: stats.subscribers.total > sample.subscribers,
      sample: sampleOf(visit, sample),
      totals,
      changes: { opens: changeOf(totals, before, "opens"), clicks: changeOf(totals, before, "clicks") },
      plots: plotsOf(stats),
      sendingNow,
      scheduled: scheduled.results,
      recent: await withStates(visit, finished),
      // The list of first steps ends with the first campaign.
      steps: isNew ? steps : [],
      stepsDone: steps.filter(({ done }) => done).length,
      isNew,
      isQuiet: isNew && sendingNow.campaigns.length + scheduled.results.length === 0,
      newPath: may(visit, "campaigns.createDraft") ? companyPath(visit, "campaigns/new") : null,
      warnings: needsLook,
    },
  };
}

const home = (visit: CompanyVisit, notice: "saved" | "sampleAdded" | "sampleRemoved"): Answer => ({
  goTo: companyPath(visit),
  notice,
});

/** On the setup card. */
export const nameCompany = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      await callIn(visit, "accounts.updateCompany", { id: visit.company.id, name: visit.form.name ?? "" });
      return home(visit, "saved");
    },
    (errors) => companyHome(visit, errors),
  );

export async function addSample(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "accounts.addSampleData", { id: visit.company.id });
  return home(visit, "sampleAdded");
}

export async function removeSample(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "accounts.removeSampleData", { id: visit.company.id });
  return home(visit, "sampleRemoved");
}
