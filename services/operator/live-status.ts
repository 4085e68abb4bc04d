/** State that only running senders have: batches, back-offs from servers, slow domains; also a company's limits. */
import { Campaign } from "../../models/campaign.ts";
import { Company } from "../../models/company.ts";
import { call } from "../call.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";

const SENDER_TIMEOUT_MS = 2_000;

export type SenderStatus = ReturnsOf<"smtp-sender.status">;

interface ListedService {
  name: string;
  nodes: string[];
}

let asking: Promise<SenderStatus[]> | undefined;

/** Returns one answer per node, without nodes that time out. Concurrent requests share the answers. */
export function senderStatuses(ctx: Ctx): Promise<SenderStatus[]> {
  asking ??= askSenders(ctx).finally(() => {
    asking = undefined;
  });
  return asking;
}

async function askSenders(ctx: Ctx): Promise<SenderStatus[]> {
  const services = (await ctx.call("$node.services", { onlyAvailable: true })) as ListedService[];
  const nodes = services.find(({ name }) => name === "smtp-sender")?.nodes ?? [];
  const ask = (nodeID: string) => ctx.call("smtp-sender.status", {}, { nodeID, timeout: SENDER_TIMEOUT_MS });
  const answers = await Promise.allSettled(nodes.map(ask));
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value as SenderStatus] : []));
}

export async function senders(ctx: Ctx): Promise<ReturnsOf<"operator.senders">> {
  return (await senderStatuses(ctx)).map(({ batches, servers, stopping, ...status }) => ({
    node: status.node,
    waiting_for: stopping ? "its end" : status.waiting_for,
    batches: batches.length,
    connections: servers.reduce((sum, { connections }) => sum + connections, 0),
    in_doubt: status.in_doubt,
    max_in_doubt: status.max_in_doubt,
    mails_per_second: Math.round(servers.reduce((sum, server) => sum + server.mails_per_second, 0) * 10) / 10,
    sent: status.sent,
    failed: status.failed,
    deferred: status.deferred,
  }));
}

export async function backingOff(ctx: Ctx): Promise<ReturnsOf<"operator.backingOff">> {
  return (await senderStatuses(ctx)).flatMap(({ node, servers }) =>
    servers.flatMap(({ smtp_config_id, host, backing_off_until, last_error }) =>
      backing_off_until ? [{ node, smtp_config_id, host, until: backing_off_until, last_error }] : [],
    ),
  );
}

export async function slowDomains(ctx: Ctx): Promise<ReturnsOf<"operator.slowDomains">> {
  return (await senderStatuses(ctx)).flatMap(({ node, servers }) =>
    servers.flatMap(({ smtp_config_id, host, slow_domains }) =>
      slow_domains.map((domain) => ({ node, smtp_config_id, host, ...domain })),
    ),
  );
}

/** Reads names of campaigns of all companies, because an operator asks. */
async function namesOf(campaignIds: string[]): Promise<Map<string, { campaign: string; company: string }>> {
  const campaigns = await Campaign.findAll({
    attributes: ["id", "name"],
    where: { id: campaignIds },
    include: { model: Company, as: "company", attributes: ["name"] },
  });
  return new Map(
    campaigns.map((campaign) => [campaign.id, { campaign: campaign.name, company: campaign.company!.name }]),
  );
}

export async function batches(ctx: Ctx): Promise<ReturnsOf<"operator.batches">> {
  const working = (await senderStatuses(ctx)).flatMap(({ node, batches, servers }) =>
    batches.map((batch) => ({
      node,
      host: servers.find(({ smtp_config_id }) => smtp_config_id === batch.smtp_config_id)?.host ?? null,
      ...batch,
    })),
  );
  const names = await namesOf(working.map(({ campaign_id }) => campaign_id));
  return working.map(({ node, host, campaign_id, kind, ready, handed_over }) => {
    const { campaign = "?", company = "?" } = names.get(campaign_id) ?? {};
    return { node, company, campaign, campaign_id, host, kind, ready, handed_over };
  });
}

type PlanLimit = keyof ReturnsOf<"accounts.getPlan">["limits"];
const COUNTED_LIMITS: PlanLimit[] = ["api_calls_per_day", "subscribers", "emails_per_month", "media_bytes"];

/** The plan's limits; the senders count the current hour. */
export async function companyLimits(ctx: Ctx<{ company_id: string }>): Promise<ReturnsOf<"operator.limits">> {
  const companyId = ctx.params.company_id;
  const as = { meta: { companyId } };
  const { limits, usage } = await call(ctx, "accounts.getPlan", { id: companyId }, as);
  const hour = await call(ctx, "smtp-sender.hourRoom", {}, as);
  return [
    ...COUNTED_LIMITS.map((limit) => ({ limit, allowed: limits[limit], used: usage[limit], retry_after_seconds: 0 })),
    {
      limit: "smtp_per_hour",
      allowed: hour.limit,
      used: hour.used,
      retry_after_seconds: hour.room === 0 ? hour.retry_after_seconds : 0,
    },
  ];
}
