/**
 * Decides which mail may go to its recipient domain now, for one SMTP configuration on this node: by its
 * `domain_limits` and by the back-off of domains that defer (domain-back-off.ts). Mails are admitted before they are
 * marked: one without room is postponed in its row, where it holds up no other mail and takes no memory. One with room
 * is handed over within the room's life, or asks again.
 *
 * Without limits and back-offs nothing is looked up.
 */
import { performance } from "node:perf_hooks";
import type { DomainLimit } from "../../../models/smtp-config.ts";
import { type Limiter, minuteWindow, tokenLifeMs, type Window } from "../../lib/limits/limiter.ts";
import type { RecipientRow } from "../delivery/rows.ts";
import type { Claims } from "../engine/context.ts";
import { limiterWaited } from "../engine/metrics.ts";
import type { ConnectionSlots } from "../limits/connection-slots.ts";
import type { DomainBackOffs } from "./domain-back-off.ts";
import { DomainBacklog } from "./domain-backlog.ts";
import { DomainConnections } from "./domain-connections.ts";
import { recipientDomain, wireDomain } from "./recipient-domain.ts";

/** The room that one mail has within the limits of its domain. */
export interface DomainRoom {
  readonly domain: string;
  readonly isBackedOff: boolean;
  readonly taken: { readonly window: Window; readonly bucket: number } | undefined;
  readonly connections: DomainConnections | undefined;
  /**
   * By the monotonic clock: later it must be asked for again. Half of what the window is longer by: the rest is for the
   * way to the server.
   */
  readonly untilMs: number;
}

type Admission = { room: DomainRoom | undefined } | { postponedMs: number };

interface Options {
  smtpConfigId: string;
  limiter: Limiter;
  windowSeconds: number;
  slots(key: string, hasWork: () => boolean): ConnectionSlots;
  backOffs: DomainBackOffs;
  claims: Pick<Claims, "look">;
  wake(): void;
  reportOutage(error: Error): void;
}

interface Wait {
  backlog: DomainBacklog;
  /** The limiter need not be asked before. */
  noRoomUntilMs: number;
}

/** A postponed mail that is due is found at the next look, at most this often. */
const LOOK_PAUSE_MS = 100;
/** While the limiter does not answer. */
const OUTAGE_PAUSE_MS = 1_000;
/** Mails of all domains that are ready and may wait for one of their domain's connections: they are marked in the database. */
const MAX_READY = 40;
/** Domains whose waits are kept; what is forgotten begins anew. */
const MAX_WAITS = 1_000;

/** As batches and transports have them, before and after they are made. */
interface Waiting {
  readonly row: RecipientRow;
  readonly permit: { readonly room: DomainRoom | undefined };
}

export class DomainGate {
  #options: Options;
  #limits: ReadonlyMap<string, DomainLimit> = new Map();
  #waits = new Map<string, Wait>();
  #connections = new Map<string, DomainConnections>();
  #lookTimer: NodeJS.Timeout | undefined;
  #lookAtMs = Number.POSITIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
  }

  /** False: every mail may go. */
  get active(): boolean {
    return this.#limits.size > 0 || this.#options.backOffs.size > 0;
  }

  configure(limits: readonly DomainLimit[]): void {
    this.#limits = new Map(limits.map((limit) => [limit.domain, limit]));
    this.#waits.clear();
    for (const { domain, max_connections: max } of limits) {
      if (max === undefined) continue;
      const { slots, smtpConfigId, wake, reportOutage } = this.#options;
      const own = (hasWork: () => boolean) => slots(`${smtpConfigId}:${domain}`, hasWork);
      const connections = this.#connections.get(domain) ?? new DomainConnections({ slots: own, wake, reportOutage });
      connections.max = max;
      this.#connections.set(domain, connections);
    }
  }

  #isLimited(domain: string): boolean {
    return this.#limits.has(domain) || this.#options.backOffs.intervalMs(domain) !== undefined;
  }

  #waitOf(domain: string): Wait {
    let wait = this.#waits.get(domain);
    if (!wait) {
      if (this.#waits.size >= MAX_WAITS) this.#waits.clear();
      wait = { backlog: new DomainBacklog(), noRoomUntilMs: 0 };
      this.#waits.set(domain, wait);
    }
    return wait;
  }

  /** For each row, in their order. While Redis is away mail under a limit by the minute waits, and all other mail goes. */
  async admit(rows: readonly RecipientRow[], isTransactional: boolean): Promise<Admission[]> {
    const byDomain = new Map<string, number[]>();
    const admissions: Admission[] = rows.map(() => ({ room: undefined }));
    for (const [n, row] of rows.entries()) {
      const domain = recipientDomain(row);
      if (!this.#isLimited(domain)) continue;
      const same = byDomain.get(domain);
      if (same) same.push(n);
      else byDomain.set(domain, [n]);
    }
    for (const [domain, positions] of byDomain) {
      const rooms = await this.#take(domain, positions.length);
      for (const [i, n] of positions.entries()) {
        const room = rooms[i];
        admissions[n] = room ? { room } : { postponedMs: this.#postponedMs(domain, isTransactional) };
      }
    }
    return admissions;
  }

  /** For as many of the wanted as there is room for. */
  async #take(domain: string, wanted: number): Promise<DomainRoom[]> {
    const { limiter, smtpConfigId, windowSeconds, backOffs, reportOutage } = this.#options;
    const limit = this.#limits.get(domain);
    const connections = limit?.max_connections === undefined ? undefined : this.#connections.get(domain);
    const wait = this.#waitOf(domain);
    let n = performance.now() < wait.noRoomUntilMs ? 0 : wanted;
    if (connections) n = Math.max(0, Math.min(n, connections.room, MAX_READY - this.#readyForConnections));
    const noRoomFor = (ms: number) => {
      limiterWaited("domain");
      wait.noRoomUntilMs = performance.now() + ms;
    };
    const paced = backOffs.take(domain, n);
    if (paced.granted < n) noRoomFor(paced.retryAfterMs);
    n = paced.granted;
    if (connections) connections.ready += n;
    const perMinute = limit?.max_per_minute;
    let taken: DomainRoom["taken"];
    if (perMinute !== undefined && n > 0) {
      const window = minuteWindow(`${smtpConfigId}:${domain}`, perMinute, windowSeconds);
      const { granted, bucket, retryAfterMs } = await limiter.take(window, n).catch((error) => {
        reportOutage(error as Error);
        return { granted: 0, bucket: 0, retryAfterMs: OUTAGE_PAUSE_MS };
      });
      if (granted < n) {
        noRoomFor(retryAfterMs);
        backOffs.giveBack(domain, n - granted);
        if (connections) connections.ready -= n - granted;
      }
      n = granted;
      taken = { window, bucket };
    }
    const isBackedOff = backOffs.intervalMs(domain) !== undefined;
    const lifeMs = isBackedOff || taken ? tokenLifeMs(windowSeconds) / 2 : Number.POSITIVE_INFINITY;
    const untilMs = performance.now() + lifeMs;
    return Array.from({ length: n }, () => ({ domain, isBackedOff, taken, connections, untilMs }));
  }

  /** Until the mail is tried again. Transactional mails do not queue: they take the first room there is. */
  #postponedMs(domain: string, isTransactional: boolean): number {
    const { windowSeconds, backOffs } = this.#options;
    const limit = this.#limits.get(domain);
    const wait = this.#waitOf(domain);
    const nowMs = performance.now();
    const roomInMs = Math.max(0, wait.noRoomUntilMs - nowMs);
    const intervalMs = Math.max(
      limit?.max_per_minute === undefined ? 0 : (windowSeconds * 1_000) / limit.max_per_minute,
      limit?.max_connections === undefined ? 0 : (this.#connections.get(domain)?.intervalMs ?? 0),
      backOffs.intervalMs(domain) ?? 0,
    );
    const ms = isTransactional ? Math.ceil(roomInMs) : wait.backlog.postpone(nowMs, { roomInMs, intervalMs });
    this.#lookAfter(Math.max(LOOK_PAUSE_MS, ms));
    return ms;
  }

  /** When the first of them is due, they need not wait for the next regular look. */
  #lookAfter(ms: number): void {
    const atMs = performance.now() + ms;
    if (atMs >= this.#lookAtMs) return;
    clearTimeout(this.#lookTimer);
    this.#lookAtMs = atMs;
    this.#lookTimer = setTimeout(() => {
      this.#lookAtMs = Number.POSITIVE_INFINITY;
      this.#options.claims.look();
    }, ms + 1).unref();
  }

  /** What was not used. What cannot be given back is free again when its time is over. */
  give(...rooms: readonly (DomainRoom | undefined)[]): void {
    const { limiter, backOffs } = this.#options;
    const sums = new Map<DomainRoom["taken"], number>();
    for (const room of rooms) {
      if (!room) continue;
      if (room.connections) room.connections.ready--;
      if (room.isBackedOff) backOffs.giveBack(room.domain, 1);
      sums.set(room.taken, (sums.get(room.taken) ?? 0) + 1);
    }
    for (const [taken, n] of sums) if (taken) void limiter.give(taken.window, taken.bucket, n).catch(() => {});
  }

  get #readyForConnections(): number {
    let ready = 0;
    for (const connections of this.#connections.values()) ready += connections.ready;
    return ready;
  }

  /** How many of these wait for a connection of their domain, and so for none of the others. */
  waiting(ready: readonly Waiting[]): number {
    if (this.#connections.size === 0) return 0;
    let waiting = 0;
    for (const { permit } of ready) if (permit.room?.connections) waiting++;
    return waiting;
  }

  /** Takes the first one whose domain has a connection free. `pipelined`: the connection has another one under way. */
  next<T extends Waiting>(ready: T[], pipelined: boolean): T | undefined {
    if (this.#connections.size === 0) return ready.shift();
    // Behind another mail on its connection it would take up a place and not move.
    const mayGo = ({ permit: { room } }: T) => !room?.connections || (!pipelined && room.connections.isFree());
    const at = ready.findIndex(mayGo);
    return at < 0 ? undefined : ready.splice(at, 1)[0];
  }

  /** False: its room is too old, or there is none although its domain has a limit by now. */
  mayGo({ row, permit: { room } }: Waiting): boolean {
    if (!this.active) return true;
    const domain = recipientDomain(row);
    if (!this.#isLimited(domain)) return true;
    return room !== undefined && performance.now() <= room.untilMs;
  }

  /** First transactions of copies do not ask for room: one to such a domain is left to the copy by itself. */
  mayCopyTo(addresses: readonly { email: string }[]): boolean {
    return !this.active || addresses.every(({ email }) => !this.#isLimited(wireDomain(email)));
  }

  tick(): void {
    for (const [domain, connections] of this.#connections) {
      connections.tick();
      if (connections.idle && this.#limits.get(domain)?.max_connections === undefined) this.#connections.delete(domain);
    }
  }

  close(): void {
    clearTimeout(this.#lookTimer);
    for (const connections of this.#connections.values()) connections.giveBack();
  }
}
