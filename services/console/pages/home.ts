/** The page after signing in: the companies of a person with several, the overview of one. */
import type { ReturnsOf } from "../../contracts.ts";
import { messages } from "../messages.ts";
import { type Plot, plotOf } from "../plot.ts";
import { type Answer, type CompanyVisit, callIn, type PersonVisit } from "../request.ts";
import { campaignsInTheAir } from "./campaigns.ts";

export function chooseCompany({ companies }: PersonVisit): Answer {
  if (companies.length === 1) return { goTo: `/app/${companies[0]!.id}` };
  return { view: "companies", title: messages.companies.title };
}

/** Of servers and webhooks nobody has so many. */
const ALL = { page_size: 100 };

type Stats = ReturnsOf<"tracking.companyStats">;
type Servers = ReturnsOf<"smtp-sender.listConfigs">;

/** What a company does before its first campaign, in order; each is done where the API has one of it. */
async function firstSteps(visit: CompanyVisit, { subscribers, campaigns }: Stats, servers: Servers) {
  const one = { page_size: 1 };
  const [lists, templates] = await Promise.all([
    callIn(visit, "subscribers.listLists", one),
    callIn(visit, "renderer.listTemplates", one),
  ]);
  return [
    { text: "Name the server that sends your mail", done: servers.count > 0 },
    { text: "Make a list", done: lists.count > 0 },
    { text: "Add your first subscribers", done: subscribers.total > 0 },
    { text: "Write a template", done: templates.count > 0 },
    { text: "Send your first campaign", done: Object.values(campaigns).some((n) => n > 0) },
  ];
}

/** What stops mail from leaving, in the words of whoever says so. */
async function warnings(visit: CompanyVisit, servers: Servers): Promise<string[]> {
  const hooks = await callIn(visit, "webhooks.list", ALL);
  return [
    ...servers.results
      .filter(({ working }) => !working)
      .map(({ name, last_error }) => `The server “${name}” takes no mail: ${last_error ?? "it does not answer."}`),
    ...hooks.results
      .filter(({ disabled_at }) => disabled_at !== null)
      .map(({ url }) => `Events no longer go to ${url}: the webhook is switched off.`),
  ];
}

const DAYS = 30;

/** What became of people and mail, by the day. */
function plotsOf({ growth, sending }: Stats): Plot[] {
  const t = messages.overview;
  const plot = <Row extends { date: string }>(
    title: string,
    rows: readonly Row[],
    labels: Partial<Record<keyof Row, string>>,
  ) =>
    plotOf(
      title,
      rows.map(({ date }) => date),
      Object.fromEntries(
        Object.entries<string | undefined>(labels).map(([name, label]) => [
          label,
          rows.map((row) => Number(row[name as keyof Row])),
        ]),
      ),
    );
  return [plot(t.sending, sending, t.sendingLines), plot(t.growth, growth, t.growthLines)];
}

export async function companyHome(visit: CompanyVisit): Promise<Answer> {
  const [stats, servers, inTheAir] = await Promise.all([
    callIn(visit, "tracking.companyStats", { days: DAYS }),
    callIn(visit, "smtp-sender.listConfigs", ALL),
    campaignsInTheAir(visit),
  ]);
  const [steps, needsLook] = await Promise.all([firstSteps(visit, stats, servers), warnings(visit, servers)]);
  return {
    view: "overview",
    title: messages.overview.title,
    values: {
      subscribers: stats.subscribers,
      plots: plotsOf(stats),
      inTheAir,
      steps: steps.every(({ done }) => done) ? [] : steps,
      warnings: needsLook,
    },
  };
}
