/**
 * Moleculer's transporter over NATS, made for servers and networks that vanish without a word. Moleculer's own leaves
 * a silent server after six minutes and tells nobody what was lost meanwhile.
 *
 * NATS delivers at most once: what was on its way when the connection broke is gone, calls, answers and pieces of streams
 * alike. So both sides give up what they wait for at once: this node when it loses the connection, the others when it
 * joins again, because it takes leave first.
 */
import { type ServiceBroker, Transporters } from "moleculer";
import { connect, DebugEvents, Events, type NatsConnection } from "nats";
import { type NatsServers, natsOptions, parseNatsServers } from "../services/lib/nats.ts";
import { withTimeout } from "../services/lib/timeouts.ts";

type Settings = Parameters<typeof natsOptions>[0];

/** A silent server takes no leave; the process must not wait for it. */
const FLUSH_TIMEOUT_MS = 1_000;

interface Transport {
  socket?: { destroy(): void };
}

/** Its socket, which the client does not show. */
const transportOf = (client: NatsConnection): Transport | undefined =>
  (client as unknown as { protocol?: { transport?: Transport } }).protocol?.transport;

interface Registry {
  nodes: { toArray(): { id: string; local: boolean }[] };
}

export class NatsTransporter extends Transporters.NATS {
  readonly #settings: Settings;
  readonly servers: NatsServers;
  /** The connection broke and is not back. */
  isAway = false;

  constructor(settings: Settings) {
    super({});
    this.#settings = settings;
    this.servers = parseNatsServers(settings.TRANSPORTER ?? "")!;
  }

  override async connect(): Promise<void> {
    const client = await connect(natsOptions(this.#settings, this.nodeID));
    this.client = client;
    void this.#watch(client).catch((error) => this.logger.error("The watch over NATS failed", error));
    await this.onConnected();
  }

  override async disconnect(): Promise<void> {
    const client = this.client as NatsConnection | null;
    this.client = null;
    if (!client) return;
    const silent = () => new Error("NATS is silent");
    if (!this.isAway) await withTimeout(client.flush(), FLUSH_TIMEOUT_MS, silent).catch(() => {});
    await withTimeout(client.close(), FLUSH_TIMEOUT_MS, silent).catch(() => transportOf(client)?.socket?.destroy());
  }

  /** Ends with the connection. */
  async #watch(client: NatsConnection): Promise<void> {
    let current = transportOf(client);
    for await (const { type } of client.status()) {
      // It would first wait until all that was written has left, which takes a lost peer's system a quarter of an hour.
      if (type === DebugEvents.StaleConnection) transportOf(client)?.socket?.destroy();
      if (type === Events.Disconnect) this.#lost();
      if (type === Events.Reconnect) await this.#back();
      // A try that timed out leaves its socket open: one for each until the servers are back.
      const now = transportOf(client);
      if (now !== current) current?.socket?.destroy();
      current = now;
    }
  }

  #lost(): void {
    if (this.isAway) return;
    this.isAway = true;
    this.logger.warn(`NATS is away: the connection to ${this.servers.hosts.join(", ")} broke`);
    const { nodes } = (this.broker as ServiceBroker & { registry: Registry }).registry;
    for (const { id, local } of nodes.toArray()) if (!local) this.transit.removePendingRequestByNodeID(id);
  }

  async #back(): Promise<void> {
    this.isAway = false;
    this.logger.info("NATS is back");
    if (this.transit.disconnecting) return;
    await this.transit.sendDisconnectPacket();
    await this.onConnected(true);
  }
}
