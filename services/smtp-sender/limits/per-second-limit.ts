/**
 * Enforces `max_per_second` of an SMTP configuration over all nodes. Emails and copies use credit, which is requested
 * from the limiter in small amounts and expires soon.
 */
import { performance } from "node:perf_hooks";
import { bucketMs, type Limiter, secondWindow } from "../../lib/limits/limiter.ts";
import { limiterWaited } from "../engine/metrics.ts";

interface Options {
  limiter: Limiter;
  smtpConfigId: string;
  /** True if asking again may succeed. */
  onCredit(): void;
  reportOutage(error: Error): void;
}

export class PerSecondLimit {
  #options: Options;
  #credit = 0;
  #creditUntil = 0;
  #asking = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Takes credit for one email. False: none now, `onCredit` is called later. */
  take(perSecond: number | null): boolean {
    if (perSecond === null) return true;
    if (this.#credit > 0 && performance.now() < this.#creditUntil) {
      this.#credit--;
      return true;
    }
    this.#credit = 0;
    if (!this.#asking) void this.#ask(perSecond);
    return false;
  }

  async #ask(perSecond: number): Promise<void> {
    this.#asking = true;
    const { limiter, smtpConfigId, onCredit, reportOutage } = this.#options;
    const window = secondWindow(smtpConfigId, perSecond);
    let pauseMs = 1_000;
    try {
      const { granted, retryAfterMs } = await limiter.take(window, Math.max(1, Math.floor(perSecond / 10)));
      this.#credit = granted;
      this.#creditUntil = performance.now() + bucketMs(window);
      pauseMs = granted > 0 ? 0 : retryAfterMs;
    } catch (error) {
      reportOutage(error as Error);
    }
    if (pauseMs > 0) limiterWaited("second");
    if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
    this.#asking = false;
    onCredit();
  }
}
