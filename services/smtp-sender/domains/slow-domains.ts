/**
 * The recipient domains that defer through one SMTP configuration. Five deferrals (4xx) with an equal text within a window,
 * and no mail accepted between them, slow a domain, and that domain alone: neither it nor the recipient's try counts as the
 * server failing. What concerns the recipient alone (its mailbox, greylisting), the sender or a used-up session does not count.
 *
 * Some servers only look at a newcomer and defer all of the first connections (Postfix's postscreen). So the first time a
 * domain that then takes five mails in a row is slow no more; the next time it is learnt how much may go to it.
 *
 * A server that takes no mail at all looks the same where its mail goes to one domain. So a domain is slow on trial until the
 * server has accepted something; a deferral before that is left to the health of the server, and the domain forgotten.
 */
import { performance } from "node:perf_hooks";
import type { Window } from "../../lib/limits/limiter.ts";
import { isRecipientsOwnWait, repeatedText } from "../delivery/refusals.ts";
import type { TransactionResult } from "../smtp/message.ts";
import { AcceptedMails } from "./accepted-mails.ts";
import type { DomainPace } from "./domain-gate.ts";
import {
  deferredAgain,
  isForgotten,
  isInVain,
  LEFT_ALONE,
  perMinuteOf,
  rateOf,
  type SlowDomain,
  slowDomain,
} from "./slow-domain.ts";

const EQUAL_DEFERRALS = 5;
const ENDED_BY_ACCEPTED = 5;
/** Domains that deferred once or twice: the oldest are forgotten first. */
const MAX_SUSPECTS = 1_000;
const MAX_SLOW = 1_000;
/** Width of the buckets that a pace is counted in; the length of its window follows the rate. */
const BUCKET_MS = 50;

interface Slow {
  domain: SlowDomain;
  /** The server has accepted something since. */
  proven: boolean;
  /** By the monotonic clock of this node: answers of before say nothing new. */
  knownAtMs: number;
  /** Of mails that were accepted in a row so many end it; null: not the first time, or another node's. */
  endsAfter: number | null;
}

interface Options {
  smtpConfigId: string;
  windowMs: number;
  /** For the other nodes. */
  publish(domain: string, slow: SlowDomain): void;
}

export class SlowDomains {
  readonly #options: Options;
  readonly #slow = new Map<string, Slow>();
  readonly #suspects = new Map<string, { text: string; count: number; sinceMs: number }>();
  /** Until when (by the monotonic clock) it is known of a domain that it was slow before. */
  readonly #wasSlow = new Map<string, number>();
  /** Until when (by the monotonic clock) those are left alone that were slowed in vain. */
  readonly #leftAlone = new Map<string, number>();
  readonly #acceptedMails: AcceptedMails;
  /** Any that are slow on trial. */
  #onTrial = false;

  constructor(options: Options) {
    this.#options = options;
    this.#acceptedMails = new AcceptedMails(options.windowMs);
  }

  get size(): number {
    return this.#slow.size;
  }

  /** As it is now, for operators. */
  get all(): { domain: string; perMinute: number; text: string }[] {
    const { windowMs } = this.#options;
    const now = Date.now();
    return [...this.#slow].map(([name, { domain }]) => ({
      domain: name,
      perMinute: perMinuteOf(domain, now, windowMs),
      text: domain.text,
    }));
  }

  of(name: string): DomainPace | undefined {
    const slow = this.#slow.get(name);
    if (!slow) return undefined;
    const { smtpConfigId, windowMs } = this.#options;
    const now = Date.now();
    if (isForgotten(slow.domain, now, windowMs)) {
      this.#slow.delete(name);
      return undefined;
    }
    const intervalMs = windowMs / rateOf(slow.domain, now, windowMs);
    // Some every second, or one in a longer time: never many at once.
    const limit = Math.max(1, Math.floor(1_000 / intervalMs));
    const buckets = Math.max(1, Math.ceil((limit * intervalMs) / BUCKET_MS));
    const window: Window = { key: `pace:${smtpConfigId}:${name}`, limit, windowMs: buckets * BUCKET_MS, buckets };
    return { window, intervalMs, heldMs: Math.max(0, slow.domain.heldUntilMs - now), endsAfter: slow.endsAfter };
  }

  /** Called for every mail that is accepted. */
  accepted(name: string): void {
    this.#acceptedMails.add(name, performance.now());
    if (this.#slow.size === 0 && this.#suspects.size === 0) return;
    this.#suspects.delete(name);
    const own = this.#slow.get(name);
    if (own && own.domain.deferredInARow > 0) own.domain = { ...own.domain, deferredInARow: 0 };
    if (own?.endsAfter && --own.endsAfter === 0) this.#slow.delete(name);
    if (!this.#onTrial) return;
    this.#onTrial = false;
    for (const [domain, slow] of this.#slow) {
      if (slow.proven) continue;
      slow.proven = true;
      // What may end with the next few mails is no news for others.
      if (slow.endsAfter === null) this.#options.publish(domain, slow.domain);
    }
  }

  /**
   * True: it is the domain's deferral, and says nothing about the server. `sinceMs`: of what time the answer is, by the
   * monotonic clock: that of the mail's handing over, or that of the session's beginning.
   */
  deferred(name: string, result: TransactionResult, sinceMs: number): boolean {
    if (result.kind !== "refused" || result.reply.code >= 500 || result.stage === "mail") return false;
    if (result.stage === "rcpt" && isRecipientsOwnWait(result.reply)) return false;
    const text = repeatedText(result.reply);
    if (text === undefined) return false;
    const slow = this.#slow.get(name);
    return slow ? this.#again(name, slow, text, sinceMs) : this.#suspect(name, text);
  }

  #again(name: string, slow: Slow, text: string, sinceMs: number): boolean {
    if (sinceMs < slow.knownAtMs) return true;
    slow.endsAfter = null;
    if (!slow.proven) {
      this.#forget(name);
      return false;
    }
    slow.domain = deferredAgain(slow.domain, text, Date.now(), this.#options.windowMs);
    slow.knownAtMs = performance.now();
    this.#options.publish(name, slow.domain);
    if (isInVain(slow.domain)) this.#leaveAlone(name);
    return true;
  }

  #leaveAlone(name: string): void {
    this.#forget(name);
    if (this.#leftAlone.size >= MAX_SLOW) this.#leftAlone.delete(this.#leftAlone.keys().next().value!);
    this.#leftAlone.set(name, performance.now() + LEFT_ALONE * this.#options.windowMs);
  }

  #isLeftAlone(name: string): boolean {
    const untilMs = this.#leftAlone.get(name);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#leftAlone.delete(name);
    return false;
  }

  #suspect(name: string, text: string): boolean {
    if (this.#isLeftAlone(name)) return false;
    const now = performance.now();
    const known = this.#suspects.get(name);
    const same = known?.text === text && now - known.sinceMs < this.#options.windowMs;
    const suspect = same ? known : { text, count: 0, sinceMs: now };
    suspect.count++;
    if (!same) {
      this.#suspects.delete(name);
      if (this.#suspects.size >= MAX_SUSPECTS) this.#suspects.delete(this.#suspects.keys().next().value!);
      this.#suspects.set(name, suspect);
    }
    if (suspect.count < EQUAL_DEFERRALS || this.#slow.size >= MAX_SLOW) return false;
    this.#suspects.delete(name);
    const accepted = this.#acceptedMails.mostOf(name, now);
    const domain = slowDomain(text, Date.now(), this.#options.windowMs, accepted);
    this.#slow.set(name, { domain, proven: false, knownAtMs: now, endsAfter: this.#noteSlow(name) });
    this.#onTrial = true;
    return true;
  }

  #noteSlow(name: string): number | null {
    const untilMs = this.#wasSlow.get(name);
    const isFirstTime = untilMs === undefined || untilMs < performance.now();
    if (!this.#wasSlow.delete(name) && this.#wasSlow.size >= MAX_SLOW) {
      this.#wasSlow.delete(this.#wasSlow.keys().next().value!);
    }
    this.#wasSlow.set(name, performance.now() + LEFT_ALONE * this.#options.windowMs);
    return isFirstTime ? ENDED_BY_ACCEPTED : null;
  }

  #forget(name: string): void {
    this.#slow.delete(name);
    this.#suspects.delete(name);
  }

  /** The server itself takes no mail: what it said of a domain alone was said of everybody. */
  forgetTrials(): void {
    if (!this.#onTrial) return;
    this.#onTrial = false;
    for (const [name, { proven }] of this.#slow) if (!proven) this.#forget(name);
  }

  /** Called a few times a second, with what other nodes have learnt. Each forgets by itself. */
  tick(shared: ReadonlyMap<string, SlowDomain> | undefined): void {
    for (const name of this.#slow.keys()) this.of(name);
    const suspectedSinceMs = performance.now() - this.#options.windowMs;
    for (const [name, { sinceMs }] of this.#suspects) if (sinceMs < suspectedSinceMs) this.#suspects.delete(name);
    if (shared) this.#learn(shared);
  }

  #learn(shared: ReadonlyMap<string, SlowDomain>): void {
    for (const [name, domain] of shared) {
      const own = this.#slow.get(name);
      if (own && own.domain.changedAtMs >= domain.changedAtMs) continue;
      if (!own && this.#slow.size >= MAX_SLOW) continue;
      if (isForgotten(domain, Date.now(), this.#options.windowMs) || this.#isLeftAlone(name)) continue;
      if (isInVain(domain)) this.#leaveAlone(name);
      else this.#slow.set(name, { domain, proven: true, knownAtMs: performance.now(), endsAfter: null });
    }
  }
}
