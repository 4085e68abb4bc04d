/**
 * A TCP proxy that breaks without a word: it can refuse, reset, hold or swallow what passes, in both directions or in one,
 * and changes its target on command. Connections stay open and acknowledged by the kernel meanwhile.
 *
 *     const proxy = await startSilentProxy(redis.port);
 *     proxy.hold(); … proxy.pass(); await proxy.stop();
 *
 * `hold` is a network that heals: nothing is lost, all of it arrives when it passes again. `swallow` is a NAT or a proxy
 * that forgot the connection: bytes are acknowledged and gone, and a connection that lost some stays mute after `pass`, as
 * neither end is notified. The memory it takes is bounded: what waits longer stays in the sender's kernel.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type Way = "both" | "toServer" | "toClient";
type Direction = Exclude<Way, "both">;
type Mode = "pass" | "refuse" | "reset" | "hold" | "swallow";

/** Each direction of a connection keeps at most this much of delayed bytes. */
const MAX_DELAYED_BYTES = 1024 * 1024;
/** Connections that one end left and the other was not notified of stay; the oldest goes beyond this many. */
const MAX_LINKS = 2_000;
const LISTEN_AGAIN_MS = 20;

/**
 * With a reset where that can be. One that is still connecting (to a server that is frozen, say) would wait for that first,
 * and Node never closes the handle of one that is reset after its end was sent.
 */
function drop(socket: Socket): void {
  if (socket.connecting || socket.writableEnded) socket.destroy();
  else if (!socket.destroyed) socket.resetAndDestroy();
}

/** One direction of a connection: reads one socket, writes the other. */
class Pump {
  /** Bytes were thrown away: what follows would be another stream. */
  mute = false;
  #proxy: SilentProxy;
  #direction: Direction;
  #from: Socket;
  #to: Socket;
  #queue: { chunk: Buffer | null; dueMs: number }[] = [];
  #queuedBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #full = false;
  #closed: "ended" | "reset" | undefined;

  constructor(proxy: SilentProxy, direction: Direction, from: Socket, to: Socket) {
    this.#proxy = proxy;
    this.#direction = direction;
    this.#from = from;
    this.#to = to;
    from.on("data", (chunk: Buffer) => this.#take(chunk));
    from.on("end", () => this.#take(null));
    from.on("close", (failed) => {
      this.#closed = failed ? "reset" : "ended";
      if (this.#proxy.modeOf(this.#direction) === "swallow") this.mute = true;
      this.flow();
    });
    to.on("drain", () => {
      this.#full = false;
      this.flow();
    });
    this.flow();
  }

  /** Reads on or waits, as the proxy's mode and the room for it say; passes on that the other end is gone. */
  flow(): void {
    if (this.#proxy.modeOf(this.#direction) === "hold") {
      this.#from.pause();
      return;
    }
    if (this.#proxy.modeOf(this.#direction) === "swallow") this.#swallowQueue();
    if (this.#full || this.#queuedBytes > MAX_DELAYED_BYTES) this.#from.pause();
    else this.#from.resume();
    if (this.#closed && !this.mute && this.#proxy.modeOf(this.#direction) === "pass" && this.#queue.length === 0) {
      if (this.#closed === "reset") drop(this.#to);
      else this.#to.end();
    }
  }

  #swallowQueue(): void {
    if (this.#queue.length > 0) this.mute = true;
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  #take(chunk: Buffer | null): void {
    if (this.mute || this.#proxy.modeOf(this.#direction) === "swallow") {
      this.mute = true;
      return;
    }
    if (this.#proxy.delayMs === 0 && this.#queue.length === 0) {
      this.#give(chunk);
      return;
    }
    this.#queue.push({ chunk, dueMs: performance.now() + this.#proxy.delayMs });
    this.#queuedBytes += chunk?.length ?? 0;
    this.#wait();
    this.flow();
  }

  #wait(): void {
    const [next] = this.#queue;
    if (!next || this.#timer) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#giveDue();
      },
      Math.max(0, next.dueMs - performance.now()),
    );
  }

  #giveDue(): void {
    // What is held meanwhile is looked at again, so that `pass` finds it in order.
    if (this.#proxy.modeOf(this.#direction) !== "hold") {
      while (this.#queue[0] && this.#queue[0].dueMs <= performance.now() + 1) {
        const { chunk } = this.#queue.shift()!;
        this.#queuedBytes -= chunk?.length ?? 0;
        this.#give(chunk);
      }
      this.flow();
    } else if (this.#queue[0]) {
      this.#queue[0].dueMs = performance.now() + LISTEN_AGAIN_MS;
    }
    this.#wait();
  }

  #give(chunk: Buffer | null): void {
    if (this.#to.destroyed) return;
    if (chunk === null) {
      this.#to.end();
      return;
    }
    if (this.#to.write(chunk)) return;
    this.#full = true;
    this.flow();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#queue = [];
  }
}

/** A connection of a client and, once it may pass, the one to the server. */
class Link {
  readonly client: Socket;
  server: Socket | undefined;
  /** It began while everything was swallowed: the server never hears of it. */
  #unheard = false;
  #pumps: Pump[] = [];
  #proxy: SilentProxy;

  constructor(proxy: SilentProxy, client: Socket) {
    this.#proxy = proxy;
    this.client = client;
    client.setNoDelay(true);
    client.on("error", () => {});
    client.on("close", () => this.#proxy.closed(this));
    client.pause();
    this.changed();
  }

  /** No half of it is open any more. */
  get over(): boolean {
    return this.client.destroyed && (this.server?.destroyed ?? true);
  }

  get mute(): boolean {
    return this.#unheard || this.#pumps.some(({ mute }) => mute);
  }

  changed(): void {
    if (!this.server && !this.#unheard && !this.client.destroyed) this.#begin();
    for (const pump of this.#pumps) pump.flow();
  }

  /** A connection needs both directions to come about. */
  #begin(): void {
    if (this.#proxy.mode === "pass") this.#connect();
    if (this.#proxy.mode !== "swallow") return;
    this.#unheard = true;
    this.client.resume();
    this.client.on("end", () => this.client.destroy());
  }

  #connect(): void {
    const server = connect({ port: this.#proxy.targetPort, host: this.#proxy.targetHost, allowHalfOpen: true });
    this.server = server;
    server.setNoDelay(true);
    server.on("error", () => {});
    server.on("close", () => this.#proxy.closed(this));
    this.#pumps = [
      new Pump(this.#proxy, "toServer", this.client, server),
      new Pump(this.#proxy, "toClient", server, this.client),
    ];
  }

  destroy(): void {
    for (const pump of this.#pumps) pump.stop();
    drop(this.client);
    if (this.server) drop(this.server);
  }
}

export class SilentProxy {
  port = 0;
  targetPort: number;
  targetHost = "127.0.0.1";
  delayMs = 0;
  mode: Mode = "pass";
  #way: Way = "both";
  #listener: Server | undefined;
  #links = new Set<Link>();
  #stopped = false;

  constructor(targetPort: number) {
    this.targetPort = targetPort;
  }

  modeOf(direction: Direction): Mode {
    return this.#way === "both" || this.#way === direction ? this.mode : "pass";
  }

  /** Of clients or to the server, also those that one side has left without the other being notified. */
  get connections(): number {
    return this.#links.size;
  }

  async listen(port = 0): Promise<this> {
    const listener = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#listener = listener;
    listener.listen(port, "127.0.0.1", 1_024);
    await once(listener, "listening");
    this.port = (listener.address() as { port: number }).port;
    return this;
  }

  #accept(socket: Socket): void {
    if (this.mode === "reset" || this.mode === "refuse") {
      socket.on("error", () => {});
      socket.resetAndDestroy();
      return;
    }
    if (this.#links.size >= MAX_LINKS) this.#links.values().next().value?.destroy();
    this.#links.add(new Link(this, socket));
  }

  closed(link: Link): void {
    if (!link.over) return;
    link.destroy();
    this.#links.delete(link);
  }

  #set(mode: Mode, way: Way): void {
    this.mode = mode;
    this.#way = way;
    if (mode === "reset" || mode === "refuse") this.cut();
    for (const link of this.#links) link.changed();
  }

  /** All gets through again, and what was held; connections that lost bytes stay mute. */
  async pass(): Promise<void> {
    this.delayMs = 0;
    const wasRefused = this.mode === "refuse";
    this.#set("pass", "both");
    if (wasRefused) await this.#listenAgain();
  }

  async #listenAgain(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.listen(this.port);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
        await sleep(LISTEN_AGAIN_MS);
      }
    }
  }

  /** Nobody listens, and connections are reset: a server whose process is gone. Ends with `pass`. */
  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#set("refuse", "both");
    if (listener?.listening) await new Promise((done) => listener.close(done));
  }

  /** Connections are reset, and each new one as it comes. */
  reset(): void {
    this.#set("reset", "both");
  }

  /** Nothing gets through and nothing is lost: a network that is cut and will heal. */
  hold(way: Way = "both"): void {
    this.#set("hold", way);
  }

  /** Everything is acknowledged and nothing gets through, for ever on the connections that are open now. */
  swallow(way: Way = "both"): void {
    this.#set("swallow", way);
  }

  /** Each byte takes this much longer in each direction. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  /** Where connections go from now on; those that are open stay where they are (see `cut`). */
  target(port: number, host = "127.0.0.1"): void {
    this.targetPort = port;
    this.targetHost = host;
  }

  /** Resets the connections that are open, or only those that lost bytes, and goes on as it was. */
  cut({ onlyMute = false } = {}): void {
    for (const link of this.#links) {
      if (onlyMute && !link.mute) continue;
      link.destroy();
      this.#links.delete(link);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const listener = this.#listener;
    this.cut();
    if (listener?.listening) await new Promise((done) => listener.close(done));
  }
}

/** A proxy on a free port, or on this one, to a server on this machine. */
export const startSilentProxy = (targetPort: number, port = 0): Promise<SilentProxy> =>
  new SilentProxy(targetPort).listen(port);
