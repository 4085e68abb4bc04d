/**
 * Backs off per recipient domain, for one SMTP configuration in this process: a domain that defers gets less mail, and
 * no other mail waits for it. Durations are fractions of a window: one minute, the period in which most providers
 * count.
 *
 * | answer for the domain | then |
 * |---|---|
 * | the fifth 4xx in a row with the same text within a minute | none for 10 seconds (`FIRST_PAUSE`), in which mail of other domains shows whether the server works; then one every half second (`FIRST_INTERVAL`) |
 * | a further 4xx with nothing accepted since the last change | the interval doubles, up to 5 minutes (`MAX_INTERVAL`) |
 * | the fifth 4xx since mail was accepted, among at most fifteen emails | the same |
 * | accepted, a minute or more after the last change | the interval halves; below 60 ms the back-off ends (`MIN_INTERVAL`) |
 * | no change for an hour | the back-off ends |
 * | a further 4xx, and the server has accepted no mail since the back-off began | the back-off ends: the whole server accepts nothing (server/health.ts) |
 *
 * Refusals that concern the recipient alone (mailbox, greylisting) or the sender, and replies to emails handed over
 * before the last change, do not count. Nor do a few deferrals among many accepted mails: if one of a domain's servers
 * fails, sending less does not help.
 */
import { performance } from "node:perf_hooks";
import { isRecipientsOwnWait, repeatedText } from "../delivery/refusals.ts";
import type { TransactionResult } from "../smtp/transaction.ts";

const EQUAL_DEFERRALS = 5;
/** Durations in windows. */
const FIRST_PAUSE = 1 / 6;
const FIRST_INTERVAL = 1 / 120;
const MAX_INTERVAL = 5;
const MIN_INTERVAL = 1 / 1_000;
const EXPIRES_AFTER = 60;
/** Unused emails of this duration may be sent at once. */
const BURST = 1 / 60;
const MAX_DOMAINS = 1_000;

interface Suspect {
  text: string;
  inARow: number;
  sinceMs: number;
}

/** Times by the monotonic clock. */
interface BackOff {
  text: string;
  intervalMs: number;
  /** Deferrals since mail was accepted after the last change; before that, all in a row. */
  deferred: number;
  /** Accepted emails since the last change. */
  accepted: number;
  beganMs: number;
  changedAtMs: number;
  nextAtMs: number;
}

/** Text of a deferral that concerns the domain; undefined for any other result. */
function deferralText(result: TransactionResult): string | undefined {
  if (result.kind !== "refused" || result.reply.code >= 500 || result.stage === "mail") return undefined;
  if (result.stage === "rcpt" && isRecipientsOwnWait(result.reply)) return undefined;
  return repeatedText(result.reply);
}

export class DomainBackOffs {
  readonly #windowMs: number;
  readonly #suspects = new Map<string, Suspect>();
  readonly #backOffs = new Map<string, BackOff>();
  #acceptedAtMs = Number.NEGATIVE_INFINITY;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get size(): number {
    return this.#backOffs.size;
  }

  /** Report for operators and users. `perMinute`: assumes a window of one minute. */
  get all(): { domain: string; perMinute: number; text: string }[] {
    return [...this.#backOffs].map(([domain, { intervalMs, text }]) => ({
      domain,
      perMinute: Math.max(1, Math.round(this.#windowMs / intervalMs)),
      text,
    }));
  }

  /** Interval between emails; undefined: the domain is not throttled. */
  intervalMs(domain: string): number | undefined {
    return this.#backOffs.get(domain)?.intervalMs;
  }

  /** Grants up to `n` emails now. */
  take(domain: string, n: number): { granted: number; retryAfterMs: number } {
    const backOff = this.#backOffs.get(domain);
    if (!backOff) return { granted: n, retryAfterMs: 0 };
    const { intervalMs } = backOff;
    const now = performance.now();
    const nextAtMs = Math.max(backOff.nextAtMs, now - BURST * this.#windowMs);
    const granted = Math.min(n, Math.max(0, Math.floor((now - nextAtMs) / intervalMs) + 1));
    backOff.nextAtMs = nextAtMs + granted * intervalMs;
    return { granted, retryAfterMs: granted < n ? Math.max(1, backOff.nextAtMs - now) : 0 };
  }

  /** Returns grants that were not used. */
  giveBack(domain: string, n: number): void {
    const backOff = this.#backOffs.get(domain);
    if (backOff) backOff.nextAtMs -= n * backOff.intervalMs;
  }

  /** Called for every email that is accepted. */
  accepted(domain: string): void {
    const now = performance.now();
    this.#acceptedAtMs = now;
    this.#suspects.delete(domain);
    const backOff = this.#backOffs.get(domain);
    if (!backOff) return;
    if (backOff.accepted++ === 0) backOff.deferred = 0;
    if (now - backOff.changedAtMs < this.#windowMs) return;
    backOff.intervalMs /= 2;
    backOff.accepted = 0;
    backOff.deferred = 0;
    backOff.changedAtMs = now;
    if (backOff.intervalMs < MIN_INTERVAL * this.#windowMs) this.#backOffs.delete(domain);
  }

  /**
   * Notes a result; true if it is a deferral by the domain, which says nothing about the server. `sinceMs`: when the
   * mail was handed over, or the session began, by the monotonic clock.
   */
  deferred(domain: string, result: TransactionResult, sinceMs: number): boolean {
    const text = deferralText(result);
    if (text === undefined) return false;
    const now = performance.now();
    const backOff = this.#backOffs.get(domain);
    if (!backOff) return this.#suspect(domain, text, now);
    if (sinceMs < backOff.changedAtMs) return true;
    if (this.#isUnproven(backOff)) {
      this.#backOffs.delete(domain);
      return false;
    }
    if (++backOff.deferred < EQUAL_DEFERRALS || backOff.accepted > 2 * backOff.deferred) return true;
    backOff.accepted = 0;
    backOff.text = text;
    backOff.intervalMs = Math.min(2 * backOff.intervalMs, MAX_INTERVAL * this.#windowMs);
    backOff.changedAtMs = now;
    backOff.nextAtMs = now + backOff.intervalMs;
    return true;
  }

  #suspect(domain: string, text: string, now: number): boolean {
    const existing = this.#suspects.get(domain);
    const isSame = existing?.text === text && now - existing.sinceMs < this.#windowMs;
    const suspect = isSame ? existing : { text, inARow: 0, sinceMs: now };
    if (++suspect.inARow < EQUAL_DEFERRALS || this.#backOffs.size >= MAX_DOMAINS) {
      if (!existing && this.#suspects.size >= MAX_DOMAINS) this.#suspects.delete(this.#suspects.keys().next().value!);
      this.#suspects.set(domain, suspect);
      return false;
    }
    this.#suspects.delete(domain);
    const intervalMs = FIRST_INTERVAL * this.#windowMs;
    const times = { beganMs: now, changedAtMs: now, nextAtMs: now + FIRST_PAUSE * this.#windowMs };
    this.#backOffs.set(domain, { text, intervalMs, deferred: EQUAL_DEFERRALS, accepted: 0, ...times });
    return true;
  }

  /**
   * True while the server itself may be the cause: a server that accepts nothing looks like a deferring domain if all
   * its email goes to one domain.
   */
  #isUnproven({ beganMs }: BackOff): boolean {
    return this.#acceptedAtMs < beganMs;
  }

  /** Called when the server itself is paused. */
  serverPaused(): void {
    for (const [domain, backOff] of this.#backOffs) if (this.#isUnproven(backOff)) this.#backOffs.delete(domain);
  }

  /** Called a few times per second. */
  tick(): void {
    const now = performance.now();
    for (const [domain, { sinceMs }] of this.#suspects)
      if (now - sinceMs > this.#windowMs) this.#suspects.delete(domain);
    for (const [domain, { changedAtMs }] of this.#backOffs)
      if (now - changedAtMs > EXPIRES_AFTER * this.#windowMs) this.#backOffs.delete(domain);
  }
}
