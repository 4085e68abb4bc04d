/** The engine of a broker's node: made when its service starts, with what the broker gives it. */
import type { Service } from "moleculer";
import { broadcast, call, emit, emitWebhookQueued } from "../call.ts";
import { config } from "../lib/config.ts";
import type { Limiter } from "../lib/limits/limiter.ts";
import { MemoryLimiter } from "../lib/limits/limiter-memory.ts";
import { RedisLimiter } from "../lib/limits/limiter-redis.ts";
import { redis } from "../lib/redis.ts";
import { Engine } from "./engine.ts";
import { rememberHours, sentInHour } from "./hour-history.ts";
import { endAllLeases } from "./recover.ts";
import { recipientOf } from "./rows.ts";
import { engineSettings } from "./settings.ts";
import { RedisSlots } from "./slots-redis.ts";

interface Node {
  engine: Engine;
  limiter: Limiter;
}

const nodes = new WeakMap<Service, Node>();

export function engineOf(service: Service): Node {
  const node = nodes.get(service);
  if (!node) throw new Error("The sender has not started yet");
  return node;
}

async function limiterOf(): Promise<Limiter> {
  const client = redis();
  if (client) return new RedisLimiter(client, sentInHour);
  const limiter = new MemoryLimiter();
  await rememberHours(limiter);
  return limiter;
}

export async function startEngine(service: Service): Promise<void> {
  const { broker, logger } = service;
  const limiter = await limiterOf();
  const client = redis();
  // The embedded database serves one process only, so whoever held a lease is dead.
  if (!config().DATABASE_URL) await endAllLeases();
  const engine = new Engine(broker.nodeID, engineSettings(), {
    limiter,
    render: async (campaignId, recipients) =>
      (await call(broker, "renderer.renderMails", { campaignId, recipients: recipients.map(recipientOf) })).mails,
    log: { warn: (text, data) => logger.warn(text, data), info: (text, data) => logger.info(text, data) },
    drained: (campaignId) => void emit(broker, "campaign.drained", { campaignId }).catch(() => {}),
    passOn: ({ campaign_id: campaignId, company_id: companyId }) =>
      void broadcast(broker, "campaign.queued", { campaignId, companyId }).catch(() => {}),
    ...(client ? { slots: (id: string, hasWork: () => boolean) => new RedisSlots(client, id, hasWork) } : {}),
    told: (companyIds) => void emitWebhookQueued(broker, companyIds).catch(() => {}),
  });
  nodes.set(service, { engine, limiter });
  engine.start();
}

export async function stopEngine(service: Service): Promise<void> {
  await nodes.get(service)?.engine.stop();
}

/** Every sender node drops the connections it made from the old configuration. */
export const tellChanged = (from: Parameters<typeof broadcast>[0], smtpConfigId: string) =>
  broadcast(from, "smtpConfig.changed", { smtpConfigId }).catch(() => {});
