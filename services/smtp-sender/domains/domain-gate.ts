/**
 * Decides which emails may be sent to their recipient domain now, for one SMTP configuration on this node, by
 * `domain_limits` and by domain back-offs (domain-back-off.ts). Emails get a domain token before the mark
 * (CONTRIBUTING.md, "Words") covers them. The retry time of one without a token is stored in its row: it blocks no
 * other email and uses no memory. One with a token must be handed over within the token's life; after that it needs a
 * new token.
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

/** An email's permission to be sent within the limits of its domain. */
export interface DomainToken {
  readonly domain: string;
  readonly isBackedOff: boolean;
  readonly source: { readonly window: Window; readonly bucket: number } | undefined;
  readonly connections: DomainConnections | undefined;
  /**
   * Expiry by the monotonic clock: half of the life for which the limiter counts a token. The other half is left for
   * the hand-over.
   */
  readonly untilMs: number;
}

type Admission = { token: DomainToken | undefined } | { postponedMs: number };

interface Options {
  smtpConfigId: string;
  limiter: Limiter;
  windowSeconds: number;
  slots(key: string, hasWork: () => boolean): ConnectionSlots;
  backOffs: DomainBackOffs;
  claims: Pick<Claims, "check">;
  wake(): void;
  reportOutage(error: Error): void;
}

interface Wait {
  backlog: DomainBacklog;
  /** Time until which the limiter need not be asked. */
  blockedUntilMs: number;
}

/** Minimum pause between checks for due postponed emails. */
const CHECK_PAUSE_MS = 100;
/** Pause while the limiter is unavailable. */
const OUTAGE_PAUSE_MS = 1_000;
/**
 * Maximum number of prepared emails, over all domains, that wait for a connection slot of their domain. They are marked
 * in the database already, so a crash would leave them in doubt.
 */
const MAX_READY = 40;
/** Maximum number of domains whose backlog is kept; beyond it all backlogs are forgotten. */
const MAX_WAITS = 1_000;

/** Emails as batches and transports hold them, before and after rendering. */
interface Waiting {
  readonly row: RecipientRow;
  readonly permit: { readonly domainToken: DomainToken | undefined };
}

export class DomainGate {
  #options: Options;
  #limits: ReadonlyMap<string, DomainLimit> = new Map();
  #waits = new Map<string, Wait>();
  #connections = new Map<string, DomainConnections>();
  #checkTimer: NodeJS.Timeout | undefined;
  #checkAtMs = Number.POSITIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
  }

  /** False: every email may be sent. */
  get active(): boolean {
    return this.#limits.size > 0 || this.#options.backOffs.size > 0;
  }

  configure(limits: readonly DomainLimit[]): void {
    this.#limits = new Map(limits.map((limit) => [limit.domain, limit]));
    this.#waits.clear();
    for (const { domain, max_connections: max } of limits) {
      if (max === undefined) continue;
      const { slots, smtpConfigId, wake, reportOutage } = this.#options;
      const ownSlots = (hasWork: () => boolean) => slots(`${smtpConfigId}:${domain}`, hasWork);
      const connections =
        this.#connections.get(domain) ?? new DomainConnections({ slots: ownSlots, wake, reportOutage });
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
      wait = { backlog: new DomainBacklog(), blockedUntilMs: 0 };
      this.#waits.set(domain, wait);
    }
    return wait;
  }

  /**
   * Returns one admission per row, in order. While Redis is unavailable, emails to a domain with a limit per minute
   * wait; a domain with `max_connections` keeps the slots it has; all other emails are sent.
   */
  async admit(rows: readonly RecipientRow[], isTransactional: boolean): Promise<Admission[]> {
    const byDomain = new Map<string, number[]>();
    const admissions: Admission[] = rows.map(() => ({ token: undefined }));
    for (const [n, row] of rows.entries()) {
      const domain = recipientDomain(row);
      if (!this.#isLimited(domain)) continue;
      const positions = byDomain.get(domain);
      if (positions) positions.push(n);
      else byDomain.set(domain, [n]);
    }
    for (const [domain, positions] of byDomain) {
      const tokens = await this.#take(domain, positions.length);
      for (const [i, n] of positions.entries()) {
        const token = tokens[i];
        admissions[n] = token ? { token } : { postponedMs: this.#postpone(domain, isTransactional) };
      }
    }
    return admissions;
  }

  /** Takes as many of the wanted tokens as are available. */
  async #take(domain: string, wanted: number): Promise<DomainToken[]> {
    const { limiter, smtpConfigId, windowSeconds, backOffs, reportOutage } = this.#options;
    const limit = this.#limits.get(domain);
    const connections = limit?.max_connections === undefined ? undefined : this.#connections.get(domain);
    const wait = this.#waitOf(domain);
    let n = performance.now() < wait.blockedUntilMs ? 0 : wanted;
    if (connections) n = Math.max(0, Math.min(n, connections.capacity, MAX_READY - this.#readyForConnections));
    const blockedFor = (ms: number) => {
      limiterWaited("domain");
      wait.blockedUntilMs = performance.now() + ms;
    };
    const paced = backOffs.take(domain, n);
    if (paced.granted < n) blockedFor(paced.retryAfterMs);
    n = paced.granted;
    if (connections) connections.ready += n;
    const perMinute = limit?.max_per_minute;
    let source: DomainToken["source"];
    if (perMinute !== undefined && n > 0) {
      const window = minuteWindow(`${smtpConfigId}:${domain}`, perMinute, windowSeconds);
      const { granted, bucket, retryAfterMs } = await limiter.take(window, n).catch((error) => {
        reportOutage(error as Error);
        return { granted: 0, bucket: 0, retryAfterMs: OUTAGE_PAUSE_MS };
      });
      if (granted < n) {
        blockedFor(retryAfterMs);
        backOffs.giveBack(domain, n - granted);
        if (connections) connections.ready -= n - granted;
      }
      n = granted;
      source = { window, bucket };
    }
    const isBackedOff = backOffs.intervalMs(domain) !== undefined;
    const lifeMs = isBackedOff || source ? tokenLifeMs(windowSeconds) / 2 : Number.POSITIVE_INFINITY;
    const untilMs = performance.now() + lifeMs;
    return Array.from({ length: n }, () => ({ domain, isBackedOff, source, connections, untilMs }));
  }

  /**
   * Reserves a retry time for the email, schedules a check for then, and returns the delay. Transactional emails do not
   * queue: they take the first free token.
   */
  #postpone(domain: string, isTransactional: boolean): number {
    const { windowSeconds, backOffs } = this.#options;
    const limit = this.#limits.get(domain);
    const wait = this.#waitOf(domain);
    const nowMs = performance.now();
    const tokenInMs = Math.max(0, wait.blockedUntilMs - nowMs);
    const intervalMs = Math.max(
      limit?.max_per_minute === undefined ? 0 : (windowSeconds * 1_000) / limit.max_per_minute,
      limit?.max_connections === undefined ? 0 : (this.#connections.get(domain)?.intervalMs ?? 0),
      backOffs.intervalMs(domain) ?? 0,
    );
    const ms = isTransactional ? Math.ceil(tokenInMs) : wait.backlog.postpone(nowMs, { tokenInMs, intervalMs });
    this.#checkAfter(Math.max(CHECK_PAUSE_MS, ms));
    return ms;
  }

  /** Checks for work when the first postponed email is due, instead of at the next regular check. */
  #checkAfter(ms: number): void {
    const atMs = performance.now() + ms;
    if (atMs >= this.#checkAtMs) return;
    clearTimeout(this.#checkTimer);
    this.#checkAtMs = atMs;
    this.#checkTimer = setTimeout(() => {
      this.#checkAtMs = Number.POSITIVE_INFINITY;
      this.#options.claims.check();
    }, ms + 1).unref();
  }

  /** Returns unused tokens. Those that cannot be returned expire. */
  giveBack(...tokens: readonly (DomainToken | undefined)[]): void {
    const { limiter, backOffs } = this.#options;
    const sums = new Map<DomainToken["source"], number>();
    for (const token of tokens) {
      if (!token) continue;
      if (token.connections) token.connections.ready--;
      if (token.isBackedOff) backOffs.giveBack(token.domain, 1);
      sums.set(token.source, (sums.get(token.source) ?? 0) + 1);
    }
    for (const [source, n] of sums) if (source) void limiter.giveBack(source.window, source.bucket, n).catch(() => {});
  }

  get #readyForConnections(): number {
    let ready = 0;
    for (const connections of this.#connections.values()) ready += connections.ready;
    return ready;
  }

  /** Number of emails in `ready` that wait for a connection slot of their domain. */
  waiting(ready: readonly Waiting[]): number {
    if (this.#connections.size === 0) return 0;
    let waiting = 0;
    for (const { permit } of ready) if (permit.domainToken?.connections) waiting++;
    return waiting;
  }

  /**
   * Takes the first email whose domain has a free connection slot. `pipelined`: the connection has another email in
   * progress.
   */
  next<T extends Waiting>(ready: T[], pipelined: boolean): T | undefined {
    if (this.#connections.size === 0) return ready.shift();
    // Pipelined behind another email it would occupy a domain slot without progress.
    const isAllowed = ({ permit: { domainToken: token } }: T) =>
      !token?.connections || (!pipelined && token.connections.isFree());
    const at = ready.findIndex(isAllowed);
    return at < 0 ? undefined : ready.splice(at, 1)[0];
  }

  /** False: the token has expired, or is missing although its domain now has a limit. */
  isAllowed({ row, permit: { domainToken: token } }: Waiting): boolean {
    if (!this.active) return true;
    const domain = recipientDomain(row);
    if (!this.#isLimited(domain)) return true;
    return token !== undefined && performance.now() <= token.untilMs;
  }

  /**
   * True if copies (cc, bcc) may follow their email at once, which takes no tokens. A copy to a limited domain is
   * queued as an email of its own instead.
   */
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
    clearTimeout(this.#checkTimer);
    for (const connections of this.#connections.values()) connections.giveBack();
  }
}
