/** What the sender nodes say of themselves. */
import { query } from "../../models/database/db.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";

const ANSWER_WITHIN_MS = 2_000;

type Status = ReturnsOf<"smtp-sender.status">;

interface ListedService {
  name: string;
  nodes: string[];
}

/** Each node's own answer; one that gives none in time is left out, `health` tells of it. */
async function statuses(ctx: Ctx): Promise<Status[]> {
  const services = (await ctx.call("$node.services", { onlyAvailable: true })) as ListedService[];
  const nodes = services.find(({ name }) => name === "smtp-sender")?.nodes ?? [];
  const ask = (nodeID: string) => ctx.call("smtp-sender.status", {}, { nodeID, timeout: ANSWER_WITHIN_MS });
  const answers = await Promise.allSettled(nodes.map(ask));
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value as Status] : []));
}

export async function senders(ctx: Ctx): Promise<ReturnsOf<"operator.senders">> {
  return (await statuses(ctx)).map(({ lanes, servers, stopping, ...status }) => ({
    node: status.node,
    waiting_for: stopping ? "its end" : status.waiting_for,
    lanes: lanes.length,
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
  return (await statuses(ctx)).flatMap(({ node, servers }) =>
    servers.flatMap(({ smtp_config_id, host, backing_off_until, last_error }) =>
      backing_off_until ? [{ node, smtp_config_id, host, until: backing_off_until, last_error }] : [],
    ),
  );
}

interface Named {
  id: string;
  campaign: string;
  company: string;
}

export async function lanes(ctx: Ctx): Promise<ReturnsOf<"operator.lanes">> {
  const working = (await statuses(ctx)).flatMap(({ node, lanes, servers }) =>
    lanes.map((lane) => ({
      node,
      host: servers.find(({ smtp_config_id }) => smtp_config_id === lane.smtp_config_id)?.host ?? null,
      ...lane,
    })),
  );
  const named = await query<Named>(
    `select c.id, c.name campaign, co.name company from campaigns c join companies co on co.id = c.company_id
     where c.id = any ($1)`,
    [working.map(({ campaign_id }) => campaign_id)],
  );
  return working.map(({ node, host, campaign_id, kind, ready, handed_over }) => {
    const { campaign = "?", company = "?" } = named.find(({ id }) => id === campaign_id) ?? {};
    return { node, company, campaign, campaign_id, host, kind, ready, handed_over };
  });
}
