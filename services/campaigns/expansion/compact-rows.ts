/**
 * When recipients and their hits are written compactly (models/sent-email.ts, models/hit.ts): from the moment on when no node of a
 * version lives that reads and writes full rows only. It is turned on once: for recipients of campaigns that are expanded from then on,
 * whose chunks are in states that a node of the version before leaves alone, should one come back; and for hits that come from
 * then on.
 */
import type { ServiceBroker } from "moleculer";
import { query } from "../../../models/database/db.ts";

/** In the metadata of every node that can read them; the registry passes it on to the others. */
export const NODE_METADATA = { recipients: "compact", hits: "compact" } as const;

interface KnownNode {
  metadata?: Partial<Record<keyof typeof NODE_METADATA, string>>;
}

function allNodesCan(broker: ServiceBroker, rows: keyof typeof NODE_METADATA): boolean {
  const nodes = broker.registry.getNodeList({ onlyAvailable: false, withServices: false }) as KnownNode[];
  return nodes.every(({ metadata }) => metadata?.[rows] === NODE_METADATA[rows]);
}

const TURN_ON = "update installation set compact_since = now() where compact_since is null returning compact_since";
const TURN_ON_HITS = `
  update installation set compact_hits_since = now() where compact_hits_since is null returning compact_hits_since`;

/** Makes the next parts of the tables of recipients and hits; compact rows are turned on where nobody is against it. */
export async function keepParts(broker: ServiceBroker): Promise<void> {
  await query("select prepare_recipient_parts()");
  await query("select prepare_hit_parts()");
  if (allNodesCan(broker, "recipients") && (await query(TURN_ON)).length > 0) {
    broker.logger.info("Recipients of new campaigns are written compactly from now on");
  }
  if (allNodesCan(broker, "hits") && (await query(TURN_ON_HITS)).length > 0) {
    broker.logger.info("Opens and clicks are written compactly from now on");
  }
}

/** A process by itself need not wait for others to be heard of. */
export async function beginCompactRows(broker: ServiceBroker): Promise<void> {
  if (!broker.options.transporter) await keepParts(broker);
}
