/**
 * Broker middleware: announces that a node leaves its cluster. Moleculer's DISCONNECT is ambiguous: a node whose NATS
 * connection broke sends it as well, to make others give up their calls, although work there may continue. A stopping
 * node therefore first sets `left` in its metadata, once all its services have stopped and every started call is
 * answered. Calls that still wait for it were never started and may be sent to another node, even if they must run only
 * once.
 */
import type { Middleware, Service, ServiceBroker } from "moleculer";
import type { NatsTransporter } from "./nats-transporter.ts";

interface RemoteNode {
  id: string;
  metadata?: { left?: boolean } | null;
}
interface BrokerParts {
  metadata: NonNullable<RemoteNode["metadata"]>;
  options: { tracking: { shutdownTimeout: number } };
  services: Service[];
  registry: {
    regenerateLocalRawInfo(newSequence: boolean, isStopping: boolean): void;
    discoverer: { sendLocalNodeInfo(): Promise<void> };
  };
  localBus: {
    on(event: "$node.disconnected", listener: (payload: { node: RemoteNode; unexpected: boolean }) => void): void;
  };
  transit: { tx: NatsTransporter };
}

const partsOf = (broker: ServiceBroker) => broker as unknown as BrokerParts;

/** Longer than it takes from a node's leave until what waited for it has been asked elsewhere. */
const KEPT_MS = 10_000;

/**
 * Nodes that announced their leave a moment ago. A call that was rejected because such a node has stopped was not
 * started there.
 */
export class LeftNodes {
  readonly #ids = new Set<string>();

  constructor(broker: ServiceBroker) {
    const { localBus, transit } = partsOf(broker);
    localBus.on("$node.disconnected", ({ node, unexpected }) => {
      if (unexpected || !node.metadata?.left) return;
      // The response of a completed call may still be in transit.
      if (transit.tx.isFetchingFrom(node.id)) return;
      this.#ids.add(node.id);
      setTimeout(() => this.#ids.delete(node.id), KEPT_MS).unref();
    });
  }

  has = (id: string | undefined): boolean => id !== undefined && this.#ids.has(id);
}

export function leave(): Middleware {
  let parts: BrokerParts | undefined;
  let stoppingMs: number | undefined;
  let stopped = 0;

  const takeLeave = async ({ metadata, registry, options }: BrokerParts, tookMs: number): Promise<void> => {
    // Calls that were not finished in the time that a stop has were abandoned; its timer may be a millisecond early.
    if (tookMs + 1 >= options.tracking.shutdownTimeout) return;
    metadata.left = true;
    registry.regenerateLocalRawInfo(true, true);
    // During a NATS outage nobody receives this; the others miss this node's heartbeats.
    await registry.discoverer.sendLocalNodeInfo().catch(() => {});
  };

  return {
    name: "Leave",
    created(broker: ServiceBroker) {
      if (broker.options.transporter) parts = partsOf(broker);
    },
    async stopping() {
      stoppingMs = performance.now();
    },
    async serviceStopped() {
      if (!parts || stoppingMs === undefined || ++stopped < parts.services.length) return;
      await takeLeave(parts, performance.now() - stoppingMs);
    },
  } as unknown as Middleware;
}
