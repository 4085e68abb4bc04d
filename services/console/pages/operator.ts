/** Operator pages for monitoring: state, senders, campaigns, webhooks, and one recipient's history. */
import { notFound } from "../../lib/errors.ts";
import { messages } from "../messages.ts";
import { formatted } from "../render.ts";
import { type Answer, callFor, type OperatorVisit } from "../request.ts";
import { durationOf, liveOf, shared, type Table, tableOf } from "./operator-tables.ts";

const live = (visit: OperatorVisit, title: string, tables: Table[]): Answer => ({
  view: "operator",
  title,
  values: liveOf(visit, tables),
});

const t = messages.operator;

const stateAndLatency = (state: string, ms: number | null) => (ms === null ? state : `${state}, ${ms} ms`);

export async function statePage(visit: OperatorVisit): Promise<Answer> {
  const [dependencies, nodes, queues] = await Promise.all([
    shared("dependencies", () => callFor(visit, "operator.dependencies", {})),
    shared("health", () => callFor(visit, "operator.health", {})),
    shared("queues", () => callFor(visit, "operator.queues", {})),
  ]);
  const rows = nodes.map((node) => ({
    ...node,
    state: node.ready ? "ready" : node.state,
    uptime: durationOf(node.uptime_seconds),
    database: stateAndLatency(node.database, node.database_ms),
    redis: stateAndLatency(node.redis, node.redis_ms),
    nats: stateAndLatency(node.nats, node.nats_ms),
  }));
  const tables = [tableOf("dependencies", dependencies), tableOf("health", rows), tableOf("queues", queues)];
  return live(visit, t.pages[""], tables);
}

const CAMPAIGNS = "/app/operator/campaigns";

export async function sendersPage(visit: OperatorVisit): Promise<Answer> {
  const [senders, batches, backingOff, slowDomains] = await Promise.all([
    shared("senders", () => callFor(visit, "operator.senders", {})),
    shared("batches", () => callFor(visit, "operator.batches", {})),
    shared("backingOff", () => callFor(visit, "operator.backingOff", {})),
    shared("slowDomains", () => callFor(visit, "operator.slowDomains", {})),
  ]);
  return live(visit, t.pages.senders, [
    tableOf("senders", senders),
    tableOf("batches", batches, { path: CAMPAIGNS, linkBy: "campaign_id" }),
    tableOf("backingOff", backingOff),
    tableOf("slowDomains", slowDomains),
  ]);
}

const running = (visit: OperatorVisit) => shared("campaigns", () => callFor(visit, "operator.campaigns", {}));

export async function runningPage(visit: OperatorVisit): Promise<Answer> {
  const rows = (await running(visit)).map((campaign) => ({
    ...campaign,
    progress: `${formatted(campaign.sent_count + campaign.failed_count)} / ${formatted(campaign.total_emails)}`,
    left: durationOf(campaign.seconds_left),
  }));
  return live(visit, t.pages.campaigns, [tableOf("campaigns", rows, { path: CAMPAIGNS, linkBy: "id" })]);
}

export async function failuresPage(visit: OperatorVisit): Promise<Answer> {
  const { id = "" } = visit.params;
  const [failures, campaigns] = await Promise.all([
    callFor(visit, "operator.failures", { campaign_id: id }),
    running(visit),
  ]);
  const campaign = campaigns.find((one) => one.id === id);
  const remaining = campaign && Math.max(0, campaign.total_emails - campaign.sent_count - campaign.failed_count);
  return {
    view: "operator-campaign",
    title: campaign?.name ?? id,
    values: {
      failures: tableOf("failures", failures),
      campaign,
      hint: campaign && t.stop.hint(formatted(remaining!), formatted(campaign.total_emails)),
      action: `${CAMPAIGNS}/${id}/stop`,
    },
  };
}

export async function stopAnyCampaign(visit: OperatorVisit): Promise<Answer> {
  await callFor(visit, "campaigns.stopAny", { campaign_id: visit.params.id! });
  return { goTo: CAMPAIGNS, notice: "campaignStopped" };
}

const WEBHOOKS = "/app/operator/webhooks";

export async function queuesOfWebhooks(visit: OperatorVisit): Promise<Answer> {
  const endpoints = await shared("webhooks", () => callFor(visit, "operator.webhooks", {}));
  return live(visit, t.pages.webhooks, [tableOf("webhooks", endpoints, { path: WEBHOOKS, linkBy: "endpoint_id" })]);
}

export async function endpointPage(visit: OperatorVisit): Promise<Answer> {
  const { id = "" } = visit.params;
  const [dead, endpoints] = await Promise.all([
    callFor(visit, "operator.deadWebhooks", { endpoint_id: id }),
    callFor(visit, "operator.webhooks", {}),
  ]);
  const endpoint = endpoints.find(({ endpoint_id }) => endpoint_id === id);
  return {
    view: "operator-webhook",
    title: endpoint?.url ?? id,
    values: {
      dead: tableOf("deadWebhooks", dead),
      endpoint,
      hint: endpoint && t.requeue.hint(formatted(endpoint.dead)),
      action: `${WEBHOOKS}/${id}/requeue`,
    },
  };
}

export async function requeueEndpoint(visit: OperatorVisit): Promise<Answer> {
  await callFor(visit, "operator.requeueWebhooks", { endpoint_id: visit.params.id! });
  return { goTo: WEBHOOKS, notice: "requeued" };
}

const MAX_RECIPIENT = 254;

export async function whyPage(visit: OperatorVisit): Promise<Answer> {
  const recipient = (visit.query.recipient ?? "").trim();
  if (recipient.length > MAX_RECIPIENT) throw notFound();
  const story = recipient === "" ? undefined : await callFor(visit, "operator.why", { recipient });
  return {
    view: "operator-why",
    title: t.pages.why,
    values: { recipient, steps: story && tableOf("why", story), here: "/app/operator/why" },
  };
}
