/** The page after signing in: the companies of a person with several, the overview of one. */
import { messages } from "../messages.ts";
import { plotOf } from "../plot.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type PersonVisit } from "../request.ts";

export function chooseCompany({ companies }: PersonVisit): Answer {
  if (companies.length === 1) return { goTo: `/app/${companies[0]!.id}` };
  return { view: "companies", title: messages.companies.title };
}

const MAX_IN_THE_AIR = 20;

/** What a company does before its first campaign, in order; each is done where the API has one of it. */
async function firstSteps(visit: CompanyVisit) {
  const one = { page_size: 1 };
  const [servers, lists, subscribers, templates, campaigns] = await Promise.all([
    callIn(visit, "smtp-sender.listConfigs", one),
    callIn(visit, "subscribers.listLists", one),
    callIn(visit, "subscribers.list", one),
    callIn(visit, "renderer.listTemplates", one),
    callIn(visit, "campaigns.list", one),
  ]);
  return [
    { text: "Name the server that sends your mail", done: servers.count > 0 },
    { text: "Make a list", done: lists.count > 0 },
    { text: "Add your first subscribers", done: subscribers.count > 0 },
    { text: "Write a template", done: templates.count > 0 },
    { text: "Send your first campaign", done: campaigns.count > 0 },
  ];
}

/** What stops mail from leaving, in the words of whoever says so. */
async function warnings(visit: CompanyVisit): Promise<string[]> {
  const [{ results }, hooks] = await Promise.all([
    callIn(visit, "smtp-sender.listConfigs", { page_size: 100 }),
    callIn(visit, "webhooks.list", { page_size: 100 }),
  ]);
  return [
    ...results
      .filter(({ working }) => !working)
      .map(({ name, last_error }) => `The server “${name}” takes no mail: ${last_error ?? "it does not answer."}`),
    ...hooks.results
      .filter(({ disabled_at }) => disabled_at !== null)
      .map(({ url }) => `Events no longer go to ${url}: the webhook is switched off.`),
  ];
}

const DAYS = 30;

/** What became of people and mail, by the day. */
async function figures(visit: CompanyVisit) {
  const { subscribers, growth, sending } = await callIn(visit, "tracking.companyStats", { days: DAYS });
  const t = messages.overview;
  const daily = <Row, Name extends keyof Row & string>(rows: readonly Row[], labels: Record<Name, string>) =>
    Object.fromEntries(
      Object.entries<string>(labels).map(([name, label]) => [label, rows.map((row) => Number(row[name as Name]))]),
    );
  return {
    subscribers,
    plots: [
      plotOf(
        t.sending,
        sending.map(({ date }) => date),
        daily(sending, t.sendingLines),
      ),
      plotOf(
        t.growth,
        growth.map(({ date }) => date),
        daily(growth, t.growthLines),
      ),
    ],
  };
}

export async function companyHome(visit: CompanyVisit): Promise<Answer> {
  const [{ subscribers, plots }, sending, pending, steps, needsLook] = await Promise.all([
    figures(visit),
    callIn(visit, "campaigns.list", { status: "sending", page_size: MAX_IN_THE_AIR }),
    callIn(visit, "campaigns.list", { status: "pending", page_size: MAX_IN_THE_AIR }),
    firstSteps(visit),
    warnings(visit),
  ]);
  return {
    view: "overview",
    title: messages.overview.title,
    values: {
      subscribers,
      plots,
      inTheAir: [...sending.results, ...pending.results],
      steps: steps.every(({ done }) => done) ? [] : steps,
      warnings: needsLook,
      campaignsPath: companyPath(visit, "campaigns"),
    },
  };
}
