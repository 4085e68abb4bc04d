/**
 * The connections to one SMTP server. One is tried first; when it is open and there is work for more, their number
 * doubles up to what the configuration (over all nodes) and the server allow. A server that refuses the next connection
 * while others are open is not away: it has a limit, which is kept for a while.
 */
import { performance } from "node:perf_hooks";
import type { PreparedMail } from "../delivery/prepared-mail.ts";
import type { EngineSettings } from "../engine/settings.ts";
import type { ConnectionSlots } from "../limits/connection-slots.ts";
import type { TransactionResult } from "../smtp/message.ts";
import { SmtpPipeline } from "../smtp/pipeline.ts";
import type { Reply } from "../smtp/replies.ts";
import { type Endpoint, OpenError, openSession } from "../smtp/session.ts";

const LIMIT_KEPT_MS = 60_000;
/** Asked again at once, a refusal that needs no round trip (Redis away) would keep the event loop for itself. */
const SLOT_PAUSE_MS = 500;

export interface Connection {
  pipeline: SmtpPipeline<PreparedMail>;
  /** Since when it waits for an answer to something; undefined while idle. */
  busySince: number | undefined;
  /** Mails it was given. */
  tried: number;
  accepted: number;
}

/** A session that is being opened. */
interface Attempt {
  freeSlot: (() => void) | undefined;
  /** The configuration has changed meanwhile: whatever comes of it is not wanted. */
  over: boolean;
}

/** What the relay does for its connections. */
export interface PoolOwner {
  endpoint(): Endpoint & { maxConnections: number };
  /** Mails that could be handed over now or soon. */
  work(): number;
  next(connection: Connection): PreparedMail | undefined;
  stillOurs(job: PreparedMail): boolean;
  answered(job: PreparedMail, verdict: TransactionResult, connection: Connection): void;
  /** The first connection is open, or the last one could not be. */
  opened(): void;
  cannotOpen(error: OpenError): void;
  /** Other nodes have all the connections that this server is allowed to get, or (with an error) nobody can say. */
  noSlot(error?: Error): void;
  /** A session ended that was not ended by us. */
  broke(reason: string, connection: Connection, reply?: Reply): void;
}

export class ConnectionPool {
  #owner: PoolOwner;
  #settings: EngineSettings;
  #slots: ConnectionSlots;
  #open = new Set<Connection>();
  #attempts = new Set<Attempt>();
  #limit = Number.POSITIVE_INFINITY;
  #limitUntil = 0;
  #noSlotUntil = 0;
  #closed = false;

  constructor(owner: PoolOwner, settings: EngineSettings, slots: ConnectionSlots) {
    this.#owner = owner;
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
    for (const { pipeline: transactions } of this.#open) transactions.wake();
    this.#grow();
  }

  #grow(): void {
    if (this.#closed || this.#attempts.size > 0) return;
    const now = performance.now();
    if (now < this.#noSlotUntil) return;
    if (now > this.#limitUntil) this.#limit = Number.POSITIVE_INFINITY;
    const size = this.#open.size;
    const { maxConnections } = this.#owner.endpoint();
    const allowed = Math.min(maxConnections, this.#limit, this.#slots.fairShare(maxConnections));
    const wanted = Math.min(allowed, size + this.#owner.work());
    // All that are open are busy: else the work is theirs.
    if (size >= wanted || (size > 0 && this.busy < size)) return;
    const more = Math.min(wanted - size, Math.max(1, size));
    for (let n = 0; n < more; n++) void this.#openOne();
  }

  async #openOne(): Promise<void> {
    const attempt: Attempt = { freeSlot: undefined, over: false };
    this.#attempts.add(attempt);
    try {
      attempt.freeSlot = await this.#slots.take(this.#owner.endpoint().maxConnections);
      if (!attempt.freeSlot) {
        this.#noSlotUntil = performance.now() + SLOT_PAUSE_MS;
        if (this.#open.size === 0 && this.#attempts.size === 1 && !this.#closed) this.#owner.noSlot();
        return;
      }
      if (attempt.over) return this.#giveUp(attempt);
      const session = await openSession(this.#owner.endpoint(), {
        allowPrivate: this.#settings.allowPrivate,
        ...(this.#settings.ehloName ? { name: this.#settings.ehloName } : {}),
        ...(this.#settings.greetingTimeoutMs ? { greetingTimeoutMs: this.#settings.greetingTimeoutMs } : {}),
      });
      if (this.#closed || attempt.over) {
        session.socket.destroy();
        this.#giveUp(attempt);
        return;
      }
      this.#begin(session, attempt.freeSlot);
    } catch (error) {
      this.#giveUp(attempt);
      if (attempt.over) return;
      if (!(error instanceof OpenError)) {
        this.#noSlotUntil = performance.now() + SLOT_PAUSE_MS;
        this.#owner.noSlot(error as Error);
      } else if (!this.#closed) this.#failed(error);
    } finally {
      this.#attempts.delete(attempt);
    }
    if (!this.#closed && this.#open.size > 0) this.wake();
  }

  #giveUp({ freeSlot }: Attempt): void {
    freeSlot?.();
  }

  #failed(error: OpenError): void {
    // While others are open, the server has a limit or a hiccup: one refused connection says nothing about a campaign.
    if (this.#open.size > 0) {
      this.#limit = this.#open.size;
      this.#limitUntil = performance.now() + LIMIT_KEPT_MS;
      return;
    }
    this.#owner.cannotOpen(error);
  }

  #begin(session: Awaited<ReturnType<typeof openSession>>, freeSlot: () => void): void {
    const owner = this.#owner;
    const connection = { busySince: undefined, tried: 0, accepted: 0 } as unknown as Connection;
    connection.pipeline = new SmtpPipeline<PreparedMail>(
      session,
      {
        next: () => {
          if (this.#closed) return undefined;
          const job = owner.next(connection);
          if (!job) return undefined;
          connection.tried++;
          connection.busySince ??= performance.now();
          return job;
        },
        mayStillSend: (job) => owner.stillOurs(job),
        answered: (job, verdict) => {
          connection.busySince = connection.pipeline.waiting ? performance.now() : undefined;
          if (verdict.kind === "accepted") connection.accepted++;
          owner.answered(job, verdict, connection);
          if (connection.pipeline.handled >= this.#settings.maxMessagesPerConnection) connection.pipeline.quit();
        },
        closed: (reason, reply) => {
          freeSlot();
          this.#open.delete(connection);
          if (reason !== "QUIT" && !this.#closed) owner.broke(reason, connection, reply);
        },
      },
      this.#settings.timeouts,
    );
    this.#open.add(connection);
    owner.opened();
  }

  /** New connections from now on; those that are open end after what they are at. */
  renew(): void {
    for (const { pipeline: transactions } of this.#open) transactions.quit();
    // A server that never greets holds an attempt for minutes: nobody waits for the old one's when the address is mended.
    for (const attempt of this.#attempts) {
      attempt.over = true;
      this.#giveUp(attempt);
    }
    this.#attempts.clear();
    this.#limit = Number.POSITIVE_INFINITY;
  }

  /** What is more than our part ends after the mail it is at: other nodes have work and wait for it. */
  #share(): void {
    let more = this.#open.size - this.#slots.fairShare(this.#owner.endpoint().maxConnections);
    for (const { pipeline: transactions } of this.#open) if (more-- > 0) transactions.quit();
  }

  /** Called a few times a second. */
  closeUnneeded(idleMs: number): void {
    this.#share();
    const before = performance.now() - idleMs;
    for (const { pipeline: transactions } of this.#open) {
      if (transactions.idleSince !== undefined && transactions.idleSince < before) transactions.quit();
    }
  }

  /** Ends all: what is in the air is waited for, QUIT, at most `withinMs`. */
  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    for (const { pipeline: transactions } of this.#open) transactions.quit();
    const until = performance.now() + withinMs;
    while (this.#open.size > 0 && performance.now() < until) await new Promise((done) => setTimeout(done, 10));
    for (const { pipeline: transactions } of [...this.#open])
      transactions.abort("the sender was stopped before the answer came");
  }
}
