/**
 * max_per_second of an SMTP configuration, over all nodes: mails go when there is credit; credit is asked of the limiter a
 * little at a time and does not keep.
 */
import { performance } from "node:perf_hooks";
import { bucketMs, secondWindow } from "../../lib/limits/limiter.ts";
import type { EngineContext } from "../engine/context.ts";
import { limiterWaited } from "../engine/metrics.ts";

export class PerSecondLimit {
  #tools: EngineContext;
  #id: string;
  #wake: () => void;
  #credit = 0;
  #until = 0;
  #asking = false;

  constructor(tools: EngineContext, smtpConfigId: string, wake: () => void) {
    this.#tools = tools;
    this.#id = smtpConfigId;
    this.#wake = wake;
  }

  /** False: not now; `wake` is called when it is worth asking again. */
  mayGo(perSecond: number | null): boolean {
    if (perSecond === null) return true;
    if (this.#credit > 0 && performance.now() < this.#until) {
      this.#credit--;
      return true;
    }
    this.#credit = 0;
    if (!this.#asking) void this.#ask(perSecond);
    return false;
  }

  async #ask(perSecond: number): Promise<void> {
    this.#asking = true;
    const window = secondWindow(this.#id, perSecond);
    let pauseMs = 1_000;
    try {
      const { granted, retryAfterMs } = await this.#tools.limiter.take(window, Math.max(1, Math.floor(perSecond / 10)));
      this.#credit = granted;
      this.#until = performance.now() + bucketMs(window);
      pauseMs = granted > 0 ? 0 : retryAfterMs;
    } catch (error) {
      this.#tools.reportOutage(error as Error);
    }
    if (pauseMs > 0) limiterWaited("second");
    if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
    this.#asking = false;
    this.#wake();
  }
}
