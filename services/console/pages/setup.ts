/** The first steps of a company, and the sample data to look around with before them. */
import type { ReturnsOf } from "../../contracts.ts";
import { messages } from "../messages.ts";
import { type CompanyVisit, callIn, companyPath, may } from "../request.ts";

const t = messages.overview;

type Stats = ReturnsOf<"tracking.companyStats">;
type Servers = ReturnsOf<"smtp-sender.listConfigs">;
type Sample = ReturnsOf<"accounts.getSampleData">;

/** In order; each is done once there is one of it, sample data apart. */
export async function firstSteps(visit: CompanyVisit, stats: Stats, servers: Servers, sample: Sample) {
  const { count: templates } = await callIn(visit, "renderer.listTemplates", { page_size: 1 });
  const isInOrder = servers.results.some(
    ({ working, checked_at, check_failures }) => working && checked_at !== null && check_failures.length === 0,
  );
  const campaigns = Object.values(stats.campaigns).reduce((sum, n) => sum + n, 0);
  const unlessSample = (n: number, id: string | null) => n > (id === null ? 0 : 1);
  const steps = [
    { name: "name", path: "setup/name", done: visit.company.name !== messages.signUp.companyOf(visit.user.first_name) },
    { name: "server", path: "servers/new", done: servers.count > 0 },
    { name: "domain", path: "domains", done: isInOrder },
    { name: "people", path: "import", done: stats.subscribers.total > sample.subscribers },
    { name: "template", path: "templates/starters", done: unlessSample(templates, sample.template_id) },
    { name: "campaign", path: "campaigns/new", done: unlessSample(campaigns, sample.campaign_id) },
  ] as const;
  return steps.map(({ name, path, done }) => ({ name, ...t.steps[name], done, href: companyPath(visit, path) }));
}

export const sampleOf = (visit: CompanyVisit, { created_at, campaign_id }: Sample) => ({
  isThere: created_at !== null,
  report: campaign_id && companyPath(visit, `campaigns/${campaign_id}`),
  path: may(visit, "accounts.addSampleData") ? companyPath(visit, "setup/sample-data") : null,
});
