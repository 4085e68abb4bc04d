/**
 * The connections to one SMTP server. One is tried first; when it is open and there is work for more, their number
 * doubles up to what the configuration (over all nodes) and the server allow. A server that refuses the next connection
 * while others are open is not away: it has a limit of its own, which is kept for a while.
 */
import { performance } from "node:perf_hooks";
import { NO_SLOT_PAUSE_MS, SERVER_LIMIT_KEPT_MS } from "../delivery/back-off.ts";
import type { Mail } from "../delivery/batch.ts";
import type { EngineSettings } from "../engine/settings.ts";
import type { ConnectionSlots } from "../limits/connection-slots.ts";
import { Connection } from "../smtp/connection.ts";
import type { Reply } from "../smtp/replies.ts";
import { type Endpoint, OpenError, openSession, type Session } from "../smtp/session.ts";
import type { TransactionResult } from "../smtp/transaction.ts";

/**
 * Servers slow a session down after errors (Postfix by a second for each after ten, and ends it after twenty), also where
 * each was greylisting of another recipient. A new session begins without them. Each refusal is two errors: RCPT, and the
 * DATA that was pipelined behind it.
 */
const MAX_REFUSED_IN_A_ROW = 4;

/** A session that is being opened. */
interface Attempt {
  freeSlot: (() => void) | undefined;
  /** The configuration has changed meanwhile: its outcome is not wanted any more. */
  cancelled: boolean;
}

/** What the transport does for its connections. */
interface PoolTransport {
  endpoint(): Endpoint & { maxConnections: number };
  /** How many mails could be handed over now or soon. */
  work(): number;
  next(connection: Connection): Mail | undefined;
  answered(mail: Mail, result: TransactionResult, connection: Connection): void;
  /** A connection is open. */
  opened(): void;
  cannotOpen(error: OpenError): void;
  /** Other nodes have all connections that are allowed to this server; with an error: nobody can say (Redis is away). */
  noSlot(error?: Error): void;
  /** A session ended, and not by us. */
  broke(reason: string, connection: Connection, reply?: Reply): void;
}

export class ConnectionPool {
  #transport: PoolTransport;
  #settings: EngineSettings;
  #slots: ConnectionSlots;
  #open = new Set<Connection>();
  #attempts = new Set<Attempt>();
  #serverLimit = Number.POSITIVE_INFINITY;
  #serverLimitUntil = 0;
  #noSlotUntil = 0;
  #closed = false;

  constructor(transport: PoolTransport, settings: EngineSettings, slots: ConnectionSlots) {
    this.#transport = transport;
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

  wake(): void {
    for (const connection of this.#open) connection.wake();
    // Behind those that look for a mail now: the work is for them.
    queueMicrotask(() => this.#grow());
  }

  #grow(): void {
    if (this.#closed || this.#attempts.size > 0) return;
    const now = performance.now();
    if (now < this.#noSlotUntil) return;
    if (now > this.#serverLimitUntil) this.#serverLimit = Number.POSITIVE_INFINITY;
    const size = this.#open.size;
    const { maxConnections } = this.#transport.endpoint();
    const allowed = Math.min(maxConnections, this.#serverLimit, this.#slots.fairShare(maxConnections));
    const wanted = Math.min(allowed, size + this.#transport.work());
    // While one of the open connections is idle, the work is for it.
    if (size >= wanted || (size > 0 && this.busy < size)) return;
    const more = Math.min(wanted - size, Math.max(1, size));
    for (let n = 0; n < more; n++) void this.#openOne();
  }

  async #openOne(): Promise<void> {
    const attempt: Attempt = { freeSlot: undefined, cancelled: false };
    this.#attempts.add(attempt);
    try {
      attempt.freeSlot = await this.#slots.take(this.#transport.endpoint().maxConnections);
      if (!attempt.freeSlot) {
        this.#noSlotUntil = performance.now() + NO_SLOT_PAUSE_MS;
        if (this.#open.size === 0 && this.#attempts.size === 1 && !this.#closed) this.#transport.noSlot();
        return;
      }
      if (attempt.cancelled) return this.#giveUp(attempt);
      const session = await openSession(this.#transport.endpoint(), {
        allowPrivate: this.#settings.allowPrivate,
        ...(this.#settings.ehloName ? { name: this.#settings.ehloName } : {}),
        ...(this.#settings.greetingTimeoutMs ? { greetingTimeoutMs: this.#settings.greetingTimeoutMs } : {}),
      });
      if (this.#closed || attempt.cancelled) {
        session.socket.destroy();
        this.#giveUp(attempt);
        return;
      }
      this.#use(session, attempt.freeSlot);
    } catch (error) {
      this.#giveUp(attempt);
      if (attempt.cancelled) return;
      if (!(error instanceof OpenError)) {
        this.#noSlotUntil = performance.now() + NO_SLOT_PAUSE_MS;
        this.#transport.noSlot(error as Error);
      } else if (!this.#closed) this.#openFailed(error);
    } finally {
      this.#attempts.delete(attempt);
    }
    if (!this.#closed && this.#open.size > 0) this.wake();
  }

  #giveUp({ freeSlot }: Attempt): void {
    freeSlot?.();
  }

  #openFailed(error: OpenError): void {
    // While others are open, the server has a limit or a hiccup: one refused connection says nothing about a campaign.
    if (this.#open.size > 0) this.limitToOpen();
    else this.#transport.cannotOpen(error);
  }

  /** The server takes no more connections than these for now. */
  limitToOpen(): void {
    this.#serverLimit = this.#open.size;
    this.#serverLimitUntil = performance.now() + SERVER_LIMIT_KEPT_MS;
  }

  #use(session: Session, freeSlot: () => void): void {
    const connection = new Connection(session, this.#settings.timeouts);
    this.#open.add(connection);
    void connection.ended.then(({ reason, reply }) => {
      freeSlot();
      this.#open.delete(connection);
      if (this.#closed) return;
      if (reason === "QUIT") this.wake();
      else this.#transport.broke(reason, connection, reply);
    });
    for (let n = 0; n < connection.maxUnderWay; n++) void this.#work(connection);
    this.#transport.opened();
  }

  /** Runs as often side by side as the session may have mails under way. */
  async #work(connection: Connection): Promise<void> {
    while (connection.isOpen) {
      const mail = connection.mayBegin && !this.#closed ? this.#transport.next(connection) : undefined;
      if (!mail) {
        await connection.wait();
        continue;
      }
      const result = await connection.send(mail);
      this.#transport.answered(mail, result, connection);
      const usedUp = connection.handled >= this.#settings.maxMessagesPerConnection;
      if (usedUp || connection.refusedInARow >= MAX_REFUSED_IN_A_ROW) connection.quit();
    }
  }

  /** All end after their present mail. */
  quitAll(): void {
    for (const connection of this.#open) connection.quit();
  }

  /** New connections from now on; open ones end after their present mail. */
  renew(): void {
    this.quitAll();
    // A server that never greets holds an attempt for minutes: once the address is corrected nobody waits for that.
    for (const attempt of this.#attempts) {
      attempt.cancelled = true;
      this.#giveUp(attempt);
    }
    this.#attempts.clear();
    this.#serverLimit = Number.POSITIVE_INFINITY;
  }

  /** Connections beyond our fair share end after their present mail: other nodes have work and wait for them. */
  #quitBeyondShare(): void {
    let excess = this.#open.size - this.#slots.fairShare(this.#transport.endpoint().maxConnections);
    for (const connection of this.#open) if (excess-- > 0) connection.quit();
  }

  /** Called a few times a second. */
  closeUnneeded(idleMs: number): void {
    this.#quitBeyondShare();
    const before = performance.now() - idleMs;
    for (const connection of this.#open) {
      if (connection.idleSince !== undefined && connection.idleSince < before) connection.quit();
    }
  }

  /** Ends all: waits for mails in flight, says QUIT, at most `withinMs`. */
  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    for (const connection of this.#open) connection.quit();
    const until = performance.now() + withinMs;
    while (this.#open.size > 0 && performance.now() < until) await new Promise((done) => setTimeout(done, 10));
    const left = [...this.#open];
    for (const connection of left) connection.abort("the sender was stopped before the answer came");
    await Promise.all(left.map(({ ended }) => ended));
  }
}
