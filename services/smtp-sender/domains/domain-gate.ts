/**
 * What may go to which recipient domain now, for one SMTP configuration on this node: its `domain_limits`, and what was
 * learnt from deferrals (slow-domains.ts). Mails are admitted before they are marked: who finds no room is postponed in its
 * row, so that it holds up nobody and takes no memory. Those with a room are handed over within its life, or ask again.
 *
 * Without limits and slow domains nothing is looked up.
 */
import { performance } from "node:perf_hooks";
import type { DomainLimit } from "../../../models/smtp-config.ts";
import { type Limiter, minuteWindow, tokenLifeMs, type Window } from "../../lib/limits/limiter.ts";
import type { RecipientRow } from "../delivery/rows.ts";
import { limiterWaited } from "../engine/metrics.ts";
import type { ConnectionSlots } from "../limits/connection-slots.ts";
import { DomainBacklog } from "./domain-backlog.ts";
import { DomainConnections } from "./domain-connections.ts";
import { recipientDomain, wireDomain } from "./recipient-domain.ts";

/** The room that one mail has within the limits of its domain. */
export interface DomainRoom {
  readonly taken: readonly { window: Window; bucket: number }[];
  readonly connections: DomainConnections | undefined;
  /**
   * By the monotonic clock: later it must be asked for again. Half of what the window is longer by: the rest is for the way to
   * the server.
   */
  readonly untilMs: number;
}

export type Admission = { room: DomainRoom | undefined } | { postponedMs: number };

/** What was learnt of a domain. */
export interface DomainPace {
  window: Window;
  intervalMs: number;
  /** Until then nothing goes; 0 where something may. */
  heldMs: number;
  /** So many mails that are accepted in a row end it; null: it lasts. */
  endsAfter: number | null;
}

interface Options {
  smtpConfigId: string;
  limiter: Limiter;
  windowSeconds: number;
  slots(key: string, hasWork: () => boolean): ConnectionSlots;
  paces: { readonly size: number; of(domain: string): DomainPace | undefined };
  wake(): void;
  lookForWork(): void;
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
  room?: DomainRoom | undefined;
}

export class DomainGate {
  /** The connection that asks for a mail has another one under way. */
  pipelined = false;
  #options: Options;
  #limits: ReadonlyMap<string, DomainLimit> = new Map();
  #waits = new Map<string, Wait>();
  #connections = new Map<string, DomainConnections>();
  /** Mails in the hands of connections that count for their domain, with when they were handed over. */
  #handedOver = new Map<object, { connections: DomainConnections; atMs: number }>();
  #lookTimer: NodeJS.Timeout | undefined;
  #lookAtMs = Number.POSITIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
  }

  /** False: every mail may go. */
  get active(): boolean {
    return this.#limits.size > 0 || this.#options.paces.size > 0;
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
    return this.#limits.has(domain) || this.#options.paces.of(domain) !== undefined;
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

  /** For each row, in their order. Where the limiter gives nothing, as for a minute without Redis, a domain with a limit waits; all else goes. */
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
    const { limiter, smtpConfigId, windowSeconds, paces, reportOutage } = this.#options;
    const limit = this.#limits.get(domain);
    const connections = limit?.max_connections === undefined ? undefined : this.#connections.get(domain);
    const pace = paces.of(domain);
    const wait = this.#waitOf(domain);
    const nowMs = performance.now();
    if (pace && pace.heldMs > 0) wait.noRoomUntilMs = Math.max(wait.noRoomUntilMs, nowMs + pace.heldMs);
    let n = nowMs < wait.noRoomUntilMs ? 0 : wanted;
    if (connections) n = Math.max(0, Math.min(n, connections.room, MAX_READY - this.#readyForConnections));
    const windows: Window[] = [];
    if (limit?.max_per_minute !== undefined)
      windows.push(minuteWindow(`${smtpConfigId}:${domain}`, limit.max_per_minute, windowSeconds));
    if (pace) windows.push(pace.window);
    const taken: { window: Window; bucket: number }[] = [];
    if (connections) connections.ready += n;
    for (const window of windows) {
      if (n === 0) break;
      const { granted, bucket, retryAfterMs } = await limiter.take(window, n).catch((error) => {
        reportOutage(error as Error);
        return { granted: 0, bucket: 0, retryAfterMs: OUTAGE_PAUSE_MS };
      });
      if (granted < n) {
        limiterWaited("domain");
        wait.noRoomUntilMs = performance.now() + retryAfterMs;
        for (const other of taken) void limiter.give(other.window, other.bucket, n - granted).catch(() => {});
        if (connections) connections.ready -= n - granted;
      }
      n = granted;
      taken.push({ window, bucket });
    }
    const lifeMs = windows.length === 0 ? Number.POSITIVE_INFINITY : tokenLifeMs(windowSeconds) / 2;
    const untilMs = performance.now() + lifeMs;
    return Array.from({ length: n }, () => ({ taken, connections, untilMs }));
  }

  /** Until the mail is looked at again. Transactional ones stand in no line: they take the first room there is. */
  #postponedMs(domain: string, isTransactional: boolean): number {
    const { windowSeconds, paces } = this.#options;
    const limit = this.#limits.get(domain);
    const wait = this.#waitOf(domain);
    const nowMs = performance.now();
    const roomInMs = Math.max(0, wait.noRoomUntilMs - nowMs);
    const pace = paces.of(domain);
    const limitMs = Math.max(
      limit?.max_per_minute === undefined ? 0 : (windowSeconds * 1_000) / limit.max_per_minute,
      limit?.max_connections === undefined ? 0 : (this.#connections.get(domain)?.intervalMs ?? 0),
    );
    const intervalMs = Math.max(limitMs, pace?.intervalMs ?? 0);
    const endsInMs = pace?.endsAfter && limitMs === 0 ? roomInMs + pace.endsAfter * intervalMs : undefined;
    const ms = isTransactional ? Math.ceil(roomInMs) : wait.backlog.postpone(nowMs, { roomInMs, intervalMs, endsInMs });
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
      this.#options.lookForWork();
    }, ms + 1).unref();
  }

  /** What was not used. What cannot be given back is free again when its time is over. */
  give(...rooms: readonly (DomainRoom | undefined)[]): void {
    const { limiter } = this.#options;
    const sums = new Map<DomainRoom["taken"], number>();
    for (const room of rooms) {
      if (!room) continue;
      if (room.connections) room.connections.ready--;
      sums.set(room.taken, (sums.get(room.taken) ?? 0) + 1);
    }
    for (const [taken, n] of sums)
      for (const { window, bucket } of taken) void limiter.give(window, bucket, n).catch(() => {});
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
    for (const { room } of ready) if (room?.connections) waiting++;
    return waiting;
  }

  /** Takes the first one whose domain has a connection free. */
  next<T extends Waiting>(ready: T[]): T | undefined {
    if (this.#connections.size === 0) return ready.shift();
    // Behind another mail on its connection it would take up a place and not move.
    const mayGo = ({ room }: T) => !room?.connections || (!this.pipelined && room.connections.isFree());
    const at = ready.findIndex(mayGo);
    return at < 0 ? undefined : ready.splice(at, 1)[0];
  }

  /** False: its room is too old, or there is none although its domain has a limit by now. */
  mayGo({ row, room }: Waiting): boolean {
    if (!this.active) return true;
    const domain = recipientDomain(row);
    if (!this.#isLimited(domain)) return true;
    if (!room || performance.now() > room.untilMs) return false;
    return (this.#options.paces.of(domain)?.heldMs ?? 0) === 0;
  }

  /** First transactions of copies do not ask for room: one to such a domain is left to the copy by itself. */
  mayCopyTo(addresses: readonly { email: string }[]): boolean {
    return !this.active || addresses.every(({ email }) => !this.#isLimited(wireDomain(email)));
  }

  handedOver(mail: Waiting): void {
    const { room } = mail;
    if (!room) return;
    mail.room = undefined;
    if (!room.connections) return;
    room.connections.begin();
    this.#handedOver.set(mail, { connections: room.connections, atMs: performance.now() });
  }

  answered(mail: object): void {
    if (this.#handedOver.size === 0) return;
    const held = this.#handedOver.get(mail);
    if (!held) return;
    this.#handedOver.delete(mail);
    held.connections.end(performance.now() - held.atMs);
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
