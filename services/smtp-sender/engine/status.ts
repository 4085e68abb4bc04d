/** What an operator wants to know of a sender node. */
import { performance } from "node:perf_hooks";
import type { SmtpTransport } from "../transport/smtp-transport.ts";
import type { Engine } from "./engine.ts";

function until(relay: SmtpTransport): string | null {
  const ms = relay.backingOffUntil - performance.now();
  return ms > 0 ? new Date(Date.now() + ms).toISOString() : null;
}

export function status(node: string, engine: Engine) {
  return {
    node,
    stopping: engine.stopping,
    waiting_for: engine.outage.current,
    in_doubt: engine.budget.held,
    max_in_doubt: engine.budget.total,
    ...engine.counts,
    lanes: [...engine.transports.batches()].map((lane) => ({
      campaign_id: lane.campaign.campaign_id,
      company_id: lane.campaign.company_id,
      smtp_config_id: lane.campaign.smtp_config_id,
      kind: lane.chunk ? "chunk" : "retries",
      ready: lane.ready.length,
      handed_over: lane.handedOver,
    })),
    servers: [...engine.transports.all].map((relay) => ({
      smtp_config_id: relay.config.id,
      host: `${relay.config.host}:${relay.config.port}`,
      connections: relay.connections.size,
      max_connections: relay.config.maxConnections,
      in_doubt: relay.held,
      mails_per_second: relay.throughput.perSecond,
      backing_off_until: until(relay),
      last_error: relay.lastError,
    })),
  };
}
