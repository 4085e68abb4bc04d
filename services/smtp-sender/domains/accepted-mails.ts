/**
 * How many mails each recipient domain takes within a window at most, as it was of late: what a domain that defers is slowed to
 * begins there. Of one SMTP configuration on this node; bounded, the oldest go first.
 */
interface Counted {
  sinceMs: number;
  count: number;
  most: number;
  mostAtMs: number;
}

const MAX_DOMAINS = 1_000;
/** In windows. */
const KEPT_FOR = 30;

export class AcceptedMails {
  readonly #windowMs: number;
  readonly #domains = new Map<string, Counted>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Called for every mail that is accepted. Times are of the monotonic clock. */
  add(domain: string, nowMs: number): void {
    const counted = this.#domains.get(domain);
    if (!counted) {
      if (this.#domains.size >= MAX_DOMAINS) this.#domains.delete(this.#domains.keys().next().value!);
      this.#domains.set(domain, { sinceMs: nowMs, count: 1, most: 0, mostAtMs: nowMs });
      return;
    }
    if (nowMs - counted.sinceMs >= this.#windowMs) this.#endWindow(counted, nowMs);
    counted.count++;
  }

  #endWindow(counted: Counted, nowMs: number): void {
    const isOld = nowMs - counted.mostAtMs > KEPT_FOR * this.#windowMs;
    if (isOld || counted.count >= counted.most) {
      counted.most = counted.count;
      counted.mostAtMs = counted.sinceMs;
    }
    counted.count = 0;
    counted.sinceMs = nowMs;
  }

  /** 0: nothing is known. */
  mostOf(domain: string, nowMs: number): number {
    const counted = this.#domains.get(domain);
    if (!counted) return 0;
    const keptMs = KEPT_FOR * this.#windowMs;
    const most = nowMs - counted.mostAtMs > keptMs ? 0 : counted.most;
    return nowMs - counted.sinceMs > keptMs ? 0 : Math.max(most, counted.count);
  }
}
