/**
 * Manages the connections to one SMTP server. Tries one first; once it is open and there is work for more, doubles
 * their number up to the limits of the configuration (over all nodes) and the server. A server that refuses another
 * connection while some are open is not down: it has its own limit, which is remembered for a while.
 */
import { performance } from "node:perf_hooks";
import { NO_SLOT_PAUSE_MS, SERVER_LIMIT_KEPT_MS } from "../delivery/back-off.ts";
import type { EngineSettings } from "../engine/settings.ts";
import type { ConnectionSlots } from "../limits/connection-slots.ts";
import { Connection } from "../smtp/connection.ts";
import { type Endpoint, OpenError, openSession } from "../smtp/session.ts";

/** A session that is being opened. */
interface Attempt {
  freeSlot: (() => void) | undefined;
  /** The configuration has changed since: the outcome is ignored. */
  cancelled: boolean;
}

/**
 * Result of opening a connection. `NoSlot`: other nodes hold all permitted connections to this server; with an error:
 * the slot count is unavailable (Redis outage). Undefined: no connection, and nothing to do about it.
 */
type Opened = Connection | OpenError | NoSlot | undefined;

export interface NoSlot {
  error: Error | undefined;
}

export class Connections {
  readonly #settings: EngineSettings;
  readonly #slots: ConnectionSlots;
  readonly #open = new Set<Connection>();
  readonly #attempts = new Set<Attempt>();
  #serverLimit = Number.POSITIVE_INFINITY;
  #serverLimitUntil = 0;
  #noSlotUntil = 0;
  #closed = false;

  constructor(settings: EngineSettings, slots: ConnectionSlots) {
    this.#settings = settings;
    this.#slots = slots;
  }

  get size(): number {
    return this.#open.size;
  }

  get all(): Iterable<Connection> {
    return this.#open;
  }

  get busy(): number {
    let busy = 0;
    for (const { busySince } of this.#open) if (busySince !== undefined) busy++;
    return busy;
  }

  /** Connections that were idle for long are probed first, all at once, if no other one is free. */
  wake(hasWork: () => boolean): void {
    let isFree = false;
    const stale: Connection[] = [];
    for (const connection of this.#open) {
      if (connection.isStale) stale.push(connection);
      else isFree ||= connection.mayBegin && connection.busySince === undefined;
      connection.wake();
    }
    if (stale.length > 0 && !isFree && hasWork()) for (const connection of stale) connection.ask();
  }

  /** Number of connections to open now for the given number of waiting emails. */
  missing(work: number, maxConnections: number): number {
    if (this.#closed || this.#attempts.size > 0) return 0;
    const now = performance.now();
    if (now < this.#noSlotUntil) return 0;
    if (now > this.#serverLimitUntil) this.#serverLimit = Number.POSITIVE_INFINITY;
    const size = this.#open.size;
    const allowed = Math.min(maxConnections, this.#serverLimit, this.#slots.fairShare(maxConnections));
    const target = Math.min(allowed, size + work);
    // An idle open connection takes the work.
    if (size >= target || (size > 0 && this.busy < size)) return 0;
    return Math.min(target - size, Math.max(1, size));
  }

  async open(endpoint: Endpoint & { maxConnections: number }): Promise<Opened> {
    const attempt: Attempt = { freeSlot: undefined, cancelled: false };
    this.#attempts.add(attempt);
    try {
      return await this.#tryToOpen(endpoint, attempt);
    } catch (error) {
      attempt.freeSlot?.();
      if (attempt.cancelled) return undefined;
      if (!(error instanceof OpenError)) {
        this.#noSlotUntil = performance.now() + NO_SLOT_PAUSE_MS;
        return { error: error as Error };
      }
      if (this.#closed) return undefined;
      if (this.#open.size === 0) return error;
      // A refused connection while others are open means a limit or a temporary failure and says nothing about a
      // campaign.
      this.limitToOpen();
      return undefined;
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  async #tryToOpen(endpoint: Endpoint & { maxConnections: number }, attempt: Attempt): Promise<Opened> {
    const { allowPrivate, ehloName, greetingTimeoutMs, timeouts } = this.#settings;
    const freeSlot = await this.#slots.take(endpoint.maxConnections);
    attempt.freeSlot = freeSlot;
    if (!freeSlot) {
      this.#noSlotUntil = performance.now() + NO_SLOT_PAUSE_MS;
      const isLast = this.#open.size === 0 && this.#attempts.size === 1 && !this.#closed;
      return isLast ? { error: undefined } : undefined;
    }
    if (attempt.cancelled) {
      freeSlot();
      return undefined;
    }
    const session = await openSession(endpoint, {
      allowPrivate,
      ...(ehloName ? { name: ehloName } : {}),
      ...(greetingTimeoutMs ? { greetingTimeoutMs } : {}),
    });
    if (this.#closed || attempt.cancelled) {
      session.socket.destroy();
      freeSlot();
      return undefined;
    }
    const connection = new Connection(session, timeouts);
    this.#open.add(connection);
    void connection.ended.then(() => {
      freeSlot();
      this.#open.delete(connection);
    });
    return connection;
  }

  /** The server accepts no more connections than these for now. */
  limitToOpen(): void {
    this.#serverLimit = this.#open.size;
    this.#serverLimitUntil = performance.now() + SERVER_LIMIT_KEPT_MS;
  }

  /** All connections end after their current mail. */
  quitAll(): void {
    for (const connection of this.#open) connection.quit();
  }

  /** Replaces the configuration: open connections end after their current mail. */
  renew(): void {
    this.quitAll();
    // A server that never greets blocks an attempt for minutes: once the address is corrected, no mail waits for that
    // attempt.
    for (const attempt of this.#attempts) {
      attempt.cancelled = true;
      attempt.freeSlot?.();
    }
    this.#attempts.clear();
    this.#serverLimit = Number.POSITIVE_INFINITY;
  }

  /** Called a few times per second. Connections above our fair share end, too: other nodes wait for them. */
  closeUnneeded(idleMs: number, maxConnections: number): void {
    let excess = this.#open.size - this.#slots.fairShare(maxConnections);
    for (const connection of this.#open) if (excess-- > 0) connection.quit();
    const before = performance.now() - idleMs;
    for (const connection of this.#open) {
      if (connection.idleSince !== undefined && connection.idleSince < before) connection.quit();
    }
  }

  /** Closes all connections: waits for emails in progress and sends QUIT, for at most `withinMs`. */
  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    this.quitAll();
    const until = performance.now() + withinMs;
    while (this.#open.size > 0 && performance.now() < until) await new Promise((done) => setTimeout(done, 10));
    const openConnections = [...this.#open];
    for (const connection of openConnections) connection.abort("the sender was stopped before the answer came");
    await Promise.all(openConnections.map(({ ended }) => ended));
  }
}
