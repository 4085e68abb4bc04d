/** Creates a broker node's engine when its service starts, connects it to the broker, and reports its status. */
import { performance } from "node:perf_hooks";
import type { Service, ServiceBroker } from "moleculer";
import { retryInOutage } from "../../../models/database/outage.ts";
import { broadcast, call, emit, emitWebhookQueued } from "../../call.ts";
import { config } from "../../lib/config.ts";
import type { Limiter } from "../../lib/limits/limiter.ts";
import { gauge } from "../../lib/metrics.ts";
import { redis } from "../../lib/redis.ts";
import type { Peers } from "../claim/ask-owners.ts";
import { endAllLeases } from "../claim/recover-leases.ts";
import type { SlowDomain } from "../contract-configs.ts";
import { RedisSlots } from "../limits/connection-slots-redis.ts";
import { ownLimiter, SenderLimiter } from "../limits/sender-limiter.ts";
import type { Server } from "../server/server.ts";
import { Engine } from "./engine.ts";
import { limiterWaits } from "./metrics.ts";
import { reportReplication } from "./replication.ts";
import { engineSettings } from "./settings.ts";

export interface SenderNode {
  engine: Engine;
  limiter: Limiter;
  /** Undefined in a single process. */
  slots: RedisSlots | undefined;
}

/** Short time-out, because senders answer from memory. */
const PEER_TIMEOUT_MS = 1_500;
const GIVE_UP = "smtp-sender.giveUpLeases";

/** Sender nodes that the registry considers alive: a silent node leaves it after missed heartbeats. */
const sendersOf = (broker: ServiceBroker): string[] =>
  (broker.registry.actions.get(GIVE_UP)?.endpoints ?? []).flatMap(({ id, isAvailable }) => (isAvailable ? [id] : []));

/** Peers that a node can ask. It also asks itself, because rows of retries do not record who claimed them. */
function peersOf(broker: ServiceBroker): Peers {
  const nodes = () => sendersOf(broker);
  const options = (nodeID: string) => ({ nodeID, timeout: PEER_TIMEOUT_MS });
  return {
    nodes,
    giveUp: (node, leases) => call(broker, GIVE_UP, { leases }, options(node)).catch(() => undefined),
    async histories() {
      const others = nodes().filter((id) => id !== broker.nodeID);
      const ask = async (node: string) => (await call(broker, "smtp-sender.history", {}, options(node))).settled;
      return Promise.all(
        others.map((node) =>
          ask(node)
            .then((name) => name ?? undefined)
            .catch(() => undefined),
        ),
      );
    },
  };
}

export async function startEngine({ broker, logger }: Service): Promise<SenderNode> {
  const client = redis();
  const slots = client && new RedisSlots(client, broker.nodeID, () => sendersOf(broker));
  slots?.start();
  const limiter = client ? new SenderLimiter(client) : ownLimiter();
  // The embedded database serves a single process, so every previous lease holder is dead.
  if (!config().DATABASE_URL) await retryInOutage(endAllLeases);
  const engine = new Engine(broker.nodeID, engineSettings(), {
    limiter,
    render: async (campaignId, recipients) =>
      (await call(broker, "renderer.renderMails", { campaignId, recipients })).mails,
    log: logger,
    campaignDrained: (campaignId) => void emit(broker, "campaign.drained", { campaignId }).catch(() => {}),
    notifyOtherNodes: ({ campaign_id: campaignId, company_id: companyId }) =>
      void broadcast(broker, "campaign.queued", { campaignId, companyId }).catch(() => {}),
    peers: peersOf(broker),
    ...(slots ? { slots: (key: string, hasWork: () => boolean) => slots.of(key, hasWork) } : {}),
    webhooksQueued: (companyIds) => void emitWebhookQueued(broker, companyIds).catch(() => {}),
  });
  gauge("flockmail_slow_domains", "Recipient domains that are being throttled.", () =>
    [...engine.servers.all].reduce((sum, { domainBackOffs }) => sum + domainBackOffs.size, 0),
  );
  engine.start();
  await reportReplication(logger);
  return { engine, limiter, slots };
}

/** Every sender node closes the connections made from the old configuration. */
export const broadcastConfigChanged = (from: Parameters<typeof broadcast>[0], smtpConfigId: string) =>
  broadcast(from, "smtpConfig.changed", { smtpConfigId }).catch(() => {});

function backingOffUntil(server: Server): string | null {
  const ms = server.backingOffUntil - performance.now();
  return ms > 0 ? new Date(Date.now() + ms).toISOString() : null;
}

/** Throttled domains over all senders that answer; rates of several senders are added. */
export async function slowDomainsOf(broker: ServiceBroker, smtpConfigIds: readonly string[]): Promise<SlowDomain[]> {
  const ask = (nodeID: string) => call(broker, "smtp-sender.status", {}, { nodeID, timeout: PEER_TIMEOUT_MS });
  const answers = await Promise.allSettled(sendersOf(broker).map(ask));
  const slow = new Map<string, SlowDomain>();
  for (const answer of answers) {
    const servers = answer.status === "fulfilled" ? answer.value.servers : [];
    for (const { smtp_config_id, slow_domains } of servers) {
      if (!smtpConfigIds.includes(smtp_config_id)) continue;
      for (const one of slow_domains) {
        const key = `${smtp_config_id} ${one.domain}`;
        const per_minute = one.per_minute + (slow.get(key)?.per_minute ?? 0);
        slow.set(key, { smtp_config_id, ...one, per_minute });
      }
    }
  }
  return [...slow.values()];
}

/** Status of the node for operators. */
export const statusOf = (node: string, engine: Engine) => ({
  node,
  stopping: engine.stopping,
  waiting_for: engine.outage.current,
  in_doubt: Math.min(engine.budget.held, engine.budget.total),
  max_in_doubt: engine.budget.total,
  ...engine.counts,
  limiter_waits: limiterWaits(),
  batches: [...engine.servers.batches()].map(({ campaign, kind, ready, handedOver }) => ({
    campaign_id: campaign.campaign_id,
    company_id: campaign.company_id,
    smtp_config_id: campaign.smtp_config_id,
    kind,
    ready: ready.length,
    handed_over: handedOver,
  })),
  servers: [...engine.servers.all].map((server) => ({
    smtp_config_id: server.config.id,
    host: `${server.config.host}:${server.config.port}`,
    connections: server.connections.size,
    max_connections: server.config.maxConnections,
    in_doubt: server.preparation.held,
    mails_per_second: server.preparation.throughput.perSecond,
    backing_off_until: backingOffUntil(server),
    last_error: server.lastError,
    slow_domains: server.domainBackOffs.all.map(({ domain, perMinute, text }) => ({
      domain,
      per_minute: perMinute,
      says: text,
    })),
  })),
});
