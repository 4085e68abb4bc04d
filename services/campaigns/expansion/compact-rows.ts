/**
 * When recipients are written compactly (models/sent-email.ts): from the moment on when no node of the version before lives,
 * because those read and write full rows only. It is turned on once, for the campaigns that are expanded from then on, and
 * their chunks are in states that a node of the version before leaves alone, should one come back.
 */
import type { ServiceBroker } from "moleculer";
import { query } from "../../../models/database/db.ts";

/** In the metadata of every node that can read them; the registry passes it on to the others. */
export const NODE_METADATA = { recipients: "compact" } as const;

interface KnownNode {
  metadata?: { recipients?: string };
}

function allNodesCan(broker: ServiceBroker): boolean {
  const nodes = broker.registry.getNodeList({ onlyAvailable: false, withServices: false }) as KnownNode[];
  return nodes.every(({ metadata }) => metadata?.recipients === NODE_METADATA.recipients);
}

const TURN_ON = "update installation set compact_since = now() where compact_since is null returning compact_since";

/** Makes the next part of the table of recipients; compact rows are turned on where nobody is against it. */
export async function keepRecipientParts(broker: ServiceBroker): Promise<void> {
  await query("select prepare_recipient_parts()");
  if (!allNodesCan(broker)) return;
  const turnedOn = await query(TURN_ON);
  if (turnedOn.length > 0) broker.logger.info("Recipients of new campaigns are written compactly from now on");
}

/** A process by itself need not wait for others to be heard of. */
export async function beginCompactRows(broker: ServiceBroker): Promise<void> {
  if (!broker.options.transporter) await keepRecipientParts(broker);
}
