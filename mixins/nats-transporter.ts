/**
 * Moleculer's transporter over NATS, made for servers and networks that vanish without a word. Moleculer's own leaves
 * a silent server after six minutes and reports to nobody what was lost meanwhile.
 *
 * NATS delivers at most once: what was on its way when the connection broke is gone, calls, answers and pieces of streams
 * alike. So both sides give up what they wait for at once: this node when it loses the connection, the others when it
 * joins again, because it takes leave first.
 */
import { type ServiceBroker, Transporters } from "moleculer";
import type { Msg, NatsConnection } from "nats";
import { nats } from "../services/lib/at-first-use.ts";
import { type NatsServers, natsOptions, parseNatsServers } from "../services/lib/nats.ts";
import { withTimeout } from "../services/lib/timeouts.ts";
import { NatsPieces } from "./nats-pieces.ts";

type Settings = Parameters<typeof natsOptions>[0];

/** A silent server takes no leave; the process must not wait for it. */
const FLUSH_TIMEOUT_MS = 1_000;

/** A larger packet is fetched in pieces: a server refuses what is over its own limit, and others wait behind it. */
const LARGE_BYTES = 512 * 1024;
/** Of a packet that is to be fetched: the node that has it, and its id there. */
const FROM = "Flockmail-From";
const ID = "Flockmail-Id";
const SIZE = "Flockmail-Size";

interface Transport {
  socket?: { destroy(): void };
}

/** Its socket, which the client does not show. */
const transportOf = (client: NatsConnection): Transport | undefined =>
  (client as unknown as { protocol?: { transport?: Transport } }).protocol?.transport;

interface Local {
  on(event: "$node.disconnected", listener: (payload: { node: { id: string } }) => void): void;
}

interface Registry {
  nodes: {
    toArray(): { id: string; local: boolean }[];
    get(id: string): { metadata?: Record<string, unknown> } | undefined;
  };
}

/** In a node's description of itself: it fetches pieces. Those of an older version do not, during an update. */
const FETCHES = "fetchesPieces";

export class NatsTransporter extends Transporters.NATS {
  readonly #settings: Settings;
  readonly servers: NatsServers;
  readonly pieces: NatsPieces;
  /** Packets that are being fetched in pieces, by the node that has them. */
  readonly #fetching = new Map<string, number>();
  /** The connection broke and is not back. */
  isAway = false;

  constructor(settings: Settings) {
    super({});
    this.#settings = settings;
    this.servers = parseNatsServers(settings.TRANSPORTER ?? "")!;
    this.pieces = new NatsPieces(
      (nodeId) => this.getTopicName("PIECES", nodeId),
      () => this.client as NatsConnection | null,
    );
  }

  override init(...given: Parameters<Transporters.NATS["init"]>): void {
    super.init(...given);
    const { localBus, metadata } = this.broker as unknown as { localBus: Local; metadata: Record<string, unknown> };
    metadata[FETCHES] = true;
    localBus.on("$node.disconnected", ({ node }) => this.pieces.giveUp(node.id));
  }

  override async connect(): Promise<void> {
    const options = natsOptions(this.#settings, this.nodeID);
    // All subjects begin alike, so that a user needs rights on one tree only.
    const client = await nats().connect({ ...options, inboxPrefix: this.getTopicName("INBOX") });
    this.client = client;
    this.pieces.serve(client, this.nodeID);
    void this.#watch(client).catch((error) => this.logger.error("The watch over NATS failed", error));
    await this.onConnected();
  }

  override async disconnect(): Promise<void> {
    const client = this.client as NatsConnection | null;
    this.client = null;
    this.pieces.giveUp();
    if (!client) return;
    const silent = () => new Error("NATS is silent");
    if (!this.isAway) await withTimeout(client.flush(), FLUSH_TIMEOUT_MS, silent).catch(() => {});
    await withTimeout(client.close(), FLUSH_TIMEOUT_MS, silent).catch(() => transportOf(client)?.socket?.destroy());
  }

  override subscribe(command: string, nodeId?: string): Promise<void> {
    (this.client as NatsConnection).subscribe(this.getTopicName(command, nodeId), {
      callback: (error, message) => {
        if (error) return;
        if (!message.headers?.has(ID)) return void this.receive(command, Buffer.from(message.data));
        this.#fetched(message).then(
          (packet) => this.receive(command, packet),
          (reason) => this.logger.warn(`A packet of ${message.headers?.get(FROM)} is lost: ${reason.message}`),
        );
      },
    });
    return Promise.resolve();
  }

  #registry(): Registry {
    return (this.broker as ServiceBroker & { registry: Registry }).registry;
  }

  /** Nodes of an older version take streams and packets only as Moleculer sends them. */
  fetchesPieces(nodeId: string): boolean {
    return this.#registry().nodes.get(nodeId)?.metadata?.[FETCHES] === true;
  }

  // Moleculer gives every transporter what the packet is, and NATS's own ignores it.
  override send(topic: string, packet: Buffer, ...given: { packet: { target: string | null } }[]): Promise<void> {
    const client = this.client as NatsConnection | null;
    const target = given[0]?.packet.target;
    if (!client || !target || !this.fetchesPieces(target)) return super.send(topic, packet);
    if (packet.length <= Math.min(LARGE_BYTES, client.info?.max_payload ?? LARGE_BYTES)) {
      return super.send(topic, packet);
    }
    const { Empty, headers } = nats();
    const where = headers();
    where.set(FROM, this.nodeID);
    where.set(ID, this.pieces.offerBytes(packet));
    where.set(SIZE, String(packet.length));
    client.publish(topic, Empty, { headers: where });
    return Promise.resolve();
  }

  async #fetched({ headers: where }: Msg): Promise<Buffer> {
    const from = where!.get(FROM);
    const packet = Buffer.alloc(Number(where!.get(SIZE)));
    let at = 0;
    this.#fetching.set(from, (this.#fetching.get(from) ?? 0) + 1);
    try {
      for await (const piece of this.pieces.read(from, where!.get(ID))) at += (piece as Buffer).copy(packet, at);
    } finally {
      const others = this.#fetching.get(from)! - 1;
      if (others > 0) this.#fetching.set(from, others);
      else this.#fetching.delete(from);
    }
    return packet;
  }

  isFetchingFrom(nodeId: string): boolean {
    return this.#fetching.has(nodeId);
  }

  /** Ends with the connection. */
  async #watch(client: NatsConnection): Promise<void> {
    const { DebugEvents, Events } = nats();
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
    this.pieces.giveUp();
    const { nodes } = this.#registry();
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
