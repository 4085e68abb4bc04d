/**
 * Moleculer transporter over NATS for servers and networks that fail silently. Moleculer's own leaves a silent server
 * only after six minutes and does not report lost messages.
 *
 * NATS delivers at most once: messages in transit are lost when the connection breaks, calls and responses alike. So
 * both sides fail their waiting calls at once: this node when it loses the connection, the others when it rejoins,
 * because it first sends DISCONNECT.
 */
import { buffer } from "node:stream/consumers";
import { type ServiceBroker, Transporters } from "moleculer";
import { connect, DebugEvents, Empty, Events, headers, type Msg, type NatsConnection } from "nats";
import { dropTransfer, readTransfer, storeTransfer, type Transfer } from "../models/statements/transfers.ts";
import { type NatsServers, natsOptions, parseNatsServers } from "../services/lib/nats.ts";
import { withTimeout } from "../services/lib/timeouts.ts";

type Settings = Parameters<typeof natsOptions>[0];

/** A silent server takes no leave; the process must not wait for it. */
const FLUSH_TIMEOUT_MS = 1_000;

/** A larger packet goes through PostgreSQL: a server refuses messages over its own limit, and heartbeats wait behind large ones. */
const LARGE_BYTES = 512 * 1024;
const MAX_MESSAGE_BYTES = 64 * 1024 ** 2;
/** Headers of a packet that is stored: the node that sent it, and the transfer. */
const FROM = "Flockmail-From";
const TRANSFER = "Flockmail-Transfer";

interface Transport {
  socket?: { destroy(): void };
}

/** Returns the connection's socket, which the client does not expose. */
const transportOf = (client: NatsConnection): Transport | undefined =>
  (client as unknown as { protocol?: { transport?: Transport } }).protocol?.transport;

interface Registry {
  nodes: {
    toArray(): { id: string; local: boolean }[];
    get(id: string): { metadata?: Record<string, unknown> } | undefined;
  };
}

/** Marker in a node's info: it has the database. An operator's console has none. */
export const READS_TRANSFERS = "readsTransfers";

interface Sent {
  packet: { target: string | null; payload?: { meta?: { companyId?: string } } };
}

export class NatsTransporter extends Transporters.NATS {
  readonly #settings: Settings;
  readonly servers: NatsServers;
  /** Packets that are being read from the database, by the node that sent them. */
  readonly #fetching = new Map<string, number>();
  /** The connection broke and is not back. */
  isAway = false;

  constructor(settings: Settings) {
    super({});
    this.#settings = settings;
    this.servers = parseNatsServers(settings.TRANSPORTER ?? "")!;
  }

  override async connect(): Promise<void> {
    const options = natsOptions(this.#settings, this.nodeID);
    // All subjects begin alike, so that a user needs rights on one tree only.
    const client = await connect({ ...options, inboxPrefix: this.getTopicName("INBOX") });
    this.client = client;
    void this.#watch(client).catch((error) => this.logger.error("The NATS status watch failed", error));
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

  override subscribe(command: string, nodeId?: string): Promise<void> {
    (this.client as NatsConnection).subscribe(this.getTopicName(command, nodeId), {
      callback: (error, message) => {
        if (error) return;
        if (!message.headers?.has(TRANSFER)) return void this.receive(command, Buffer.from(message.data));
        this.#fetched(message).then(
          (packet) => this.receive(command, packet),
          (reason) => this.logger.warn(`A packet of ${message.headers?.get(FROM)} was lost: ${reason.message}`),
        );
      },
    });
    return Promise.resolve();
  }

  #registry(): Registry {
    return (this.broker as ServiceBroker & { registry: Registry }).registry;
  }

  #readsTransfers(nodeId: string): boolean {
    return this.#registry().nodes.get(nodeId)?.metadata?.[READS_TRANSFERS] === true;
  }

  // Moleculer gives every transporter the packet, and NATS's own ignores it.
  override async send(topic: string, packet: Buffer, ...given: Sent[]): Promise<void> {
    const client = this.client as NatsConnection | null;
    const { target, payload } = given[0]?.packet ?? {};
    const isLarge = packet.length > Math.min(LARGE_BYTES, client?.info?.max_payload ?? LARGE_BYTES);
    const isStored = isLarge && client && target && [target, this.nodeID].every((id) => this.#readsTransfers(id));
    if (!isStored) return super.send(topic, packet);
    if (packet.length > MAX_MESSAGE_BYTES) throw new Error(`A message of ${packet.length} bytes is too large`);
    const transfer = await storeTransfer([packet], payload?.meta?.companyId);
    const where = headers();
    where.set(FROM, this.nodeID);
    where.set(TRANSFER, JSON.stringify(transfer));
    client.publish(topic, Empty, { headers: where });
  }

  async #fetched({ headers: where }: Msg): Promise<Buffer> {
    const from = where!.get(FROM);
    const transfer = JSON.parse(where!.get(TRANSFER)) as Transfer;
    this.#fetching.set(from, (this.#fetching.get(from) ?? 0) + 1);
    try {
      const packet = await buffer(readTransfer(transfer));
      // The sweep removes what cannot be removed now.
      await dropTransfer(transfer).catch(() => {});
      return packet;
    } finally {
      const others = this.#fetching.get(from)! - 1;
      if (others > 0) this.#fetching.set(from, others);
      else this.#fetching.delete(from);
    }
  }

  isFetchingFrom(nodeId: string): boolean {
    return this.#fetching.has(nodeId);
  }

  /** Ends with the connection. */
  async #watch(client: NatsConnection): Promise<void> {
    let current = transportOf(client);
    for await (const { type } of client.status()) {
      // Closing gracefully would first wait until all written data is sent, which takes a quarter of an hour if the
      // peer is lost.
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
    this.logger.warn(`NATS is unavailable: the connection to ${this.servers.hosts.join(", ")} broke`);
    const { nodes } = this.#registry();
    for (const { id, local } of nodes.toArray()) if (!local) this.transit.removePendingRequestByNodeID(id);
  }

  async #back(): Promise<void> {
    this.isAway = false;
    this.logger.info("NATS is available again");
    if (this.transit.disconnecting) return;
    await this.transit.sendDisconnectPacket();
    await this.onConnected(true);
  }
}
