/** The page after signing in: the companies of a person with several, the overview of one. */
import type { ReturnsOf } from "../../contracts.ts";
import { messages } from "../messages.ts";
import { type Plot, plotOf } from "../plot.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type PersonVisit } from "../request.ts";
import { warningsOf } from "../warnings.ts";
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
  const isInOrder = servers.results.some(
    ({ working, checked_at, check_failures }) => working && checked_at !== null && check_failures.length === 0,
  );
  const steps = [
    { text: "Name the server that sends your mail", path: "servers/new", done: servers.count > 0 },
    { text: "Give the DNS what receivers look for", path: "domains", done: isInOrder },
    { text: "Make a list", path: "lists", done: lists.count > 0 },
    { text: "Add your first subscribers", path: "import", done: subscribers.total > 0 },
    { text: "Write a template", path: "templates/new", done: templates.count > 0 },
    {
      text: "Send yourself a test, then your first campaign",
      path: "campaigns/new",
      done: Object.values(campaigns).some((n) => n > 0),
    },
  ];
  return steps.map(({ path, ...step }) => ({ ...step, href: companyPath(visit, path) }));
}

/** With what the overview has read already. */
async function warnings(visit: CompanyVisit, { sending }: Stats, { results }: Servers) {
  const [plan, hooks] = await Promise.all([
    callIn(visit, "accounts.getPlan", { id: visit.company.id }),
    callIn(visit, "webhooks.list", ALL),
  ]);
  const found = warningsOf({ servers: results, days: sending, plan, endpoints: hooks.results });
  return found.map(({ path, ...warning }) => ({ ...warning, href: companyPath(visit, path) }));
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
  const [steps, needsLook] = await Promise.all([firstSteps(visit, stats, servers), warnings(visit, stats, servers)]);
  return {
    view: "overview",
    title: messages.overview.title,
    values: {
      subscribers: stats.subscribers,
      plots: plotsOf(stats),
      inTheAir,
      // Whoever has sent one needs no list any more, whatever the DNS says.
      steps: steps.at(-1)!.done ? [] : steps,
      warnings: needsLook,
    },
  };
}
