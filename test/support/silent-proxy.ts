/**
 * A TCP proxy that fails silently: it refuses, resets, holds or swallows data, in one or both directions, and can change
 * its target. The kernel keeps connections open and acknowledges their data.
 *
 *     const proxy = await startSilentProxy(redis.port);
 *     proxy.hold(); … proxy.pass(); await proxy.stop();
 *
 * `hold` imitates a network that recovers: all data arrives after `pass`. `swallow` imitates a NAT or proxy that forgot
 * the connection: bytes are acknowledged and lost, and the connection stays mute after `pass`, because neither end is
 * notified. Memory is bounded: further data stays in the sender's kernel.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type Way = "both" | "toServer" | "toClient";
type Direction = Exclude<Way, "both">;
type Mode = "pass" | "refuse" | "reset" | "hold" | "swallow";

/** Limit of delayed bytes per direction and connection. */
const MAX_DELAYED_BYTES = 1024 * 1024;
/** Limit of half-open connections, whose other end was not notified; beyond it the oldest is closed. */
const MAX_LINKS = 2_000;
const LISTEN_AGAIN_MS = 20;

/**
 * Resets if possible. A socket that is still connecting (to a frozen server, for example) would wait first, and Node
 * never closes the handle of a socket that is reset after its end was sent.
 */
function drop(socket: Socket): void {
  if (socket.connecting || socket.writableEnded) socket.destroy();
  else if (!socket.destroyed) socket.resetAndDestroy();
}

/** Pipe of one direction of a connection: reads one socket, writes the other. */
class Pump {
  /** Bytes were lost, so forwarding the following ones would corrupt the stream. */
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

  /** Reads or waits according to mode and buffer space; forwards the other end's close. */
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
    // Held data is re-examined, so that `pass` delivers it in order.
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

/** A client's connection and, once it may pass, the connection to the server. */
class Link {
  readonly client: Socket;
  server: Socket | undefined;
  /** Opened while everything was swallowed: the server never notices it. */
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

  /** True if both halves are closed. */
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

  /** Establishing a connection needs both directions. */
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

  /** Connections from clients and to the server, including half-open ones. */
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

  /** Passes everything again, including held data; connections that lost bytes stay mute. */
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

  /** Closes the port and resets connections, like a server whose process died. Ends with `pass`. */
  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#set("refuse", "both");
    if (listener?.listening) await new Promise((done) => listener.close(done));
  }

  /** Resets open connections, and new ones immediately. */
  reset(): void {
    this.#set("reset", "both");
  }

  /** Holds all data without loss, like a network that is interrupted and recovers. */
  hold(way: Way = "both"): void {
    this.#set("hold", way);
  }

  /** Acknowledges and discards everything; connections that are open now never recover. */
  swallow(way: Way = "both"): void {
    this.#set("swallow", way);
  }

  /** Delays each byte by this time in each direction. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  /** Sets the target of new connections; open ones stay (see `cut`). */
  target(port: number, host = "127.0.0.1"): void {
    this.targetPort = port;
    this.targetHost = host;
  }

  /** Resets open connections, or only those that lost bytes, and keeps its mode. */
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

/** A proxy on a free or given port, to a server on this machine. */
export const startSilentProxy = (targetPort: number, port = 0): Promise<SilentProxy> =>
  new SilentProxy(targetPort).listen(port);
