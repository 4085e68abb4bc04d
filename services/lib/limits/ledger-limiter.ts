/**
 * A limiter that never grants more than the limit, although its counter may be lost at any time: every grant is written
 * to a durable ledger before it is used.
 *
 * | event | then |
 * |---|---|
 * | the counter is lost | it restarts from the ledger, in a new epoch |
 * | granted in an older epoch than the ledger's | the ledger refuses: the grant is void and requested again |
 * | returned | first to the counter, then to the ledger: a counter that restarts in between counts too much, never too little |
 * | the ledger is unavailable | nothing is granted |
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Counter, Grant, Ledger, Limiter, Window } from "./limiter.ts";

/** Maximum tries: other nodes may start new epochs a few times in a row, which takes milliseconds each. */
const GIVE_UP_MS = 10_000;
const JITTER_MS = 20;

export class LedgerLimiter implements Limiter {
  readonly #counter: Counter;
  readonly #ledger: Ledger;
  /** Restarts in progress, one per window. */
  readonly #beginning = new Map<string, Promise<void>>();

  constructor(counter: Counter, ledger: Ledger) {
    this.#counter = counter;
    this.#ledger = ledger;
  }

  async take(window: Window, n: number): Promise<Grant> {
    if (!window.remembered || window.limit === null) return this.#counter.take(window, n);
    const deadlineMs = performance.now() + GIVE_UP_MS;
    for (let refused = 0; performance.now() < deadlineMs; ) {
      const grant = await this.#counter.takeKnown(window, n);
      if (grant && (grant.granted === 0 || (await this.#write(window, grant, grant.epoch)))) return grant;
      if (grant) {
        // Nodes that notice a loss together each start an epoch; the latest wins a moment later.
        await sleep(Math.random() * JITTER_MS);
        if (refused++ % 2 === 0) continue;
      }
      await this.#begin(window);
    }
    throw new Error("The count of the hour was lost again and again.");
  }

  async #write(window: Window, { bucket, granted }: Grant, epoch: number): Promise<boolean> {
    try {
      return await this.#ledger.write(window, epoch, bucket, granted);
    } catch (error) {
      await this.#counter.giveBack(window, bucket, granted).catch(() => {});
      throw error;
    }
  }

  #begin(window: Window): Promise<void> {
    const begun = this.#beginning.get(window.key);
    if (begun) return begun;
    const beginning = this.#ledger
      .begin(window)
      .then(({ epoch, taken }) => this.#counter.begin(window, epoch, taken))
      .finally(() => this.#beginning.delete(window.key));
    this.#beginning.set(window.key, beginning);
    return beginning;
  }

  async giveBack(window: Window, bucket: number, n: number): Promise<void> {
    if (!window.remembered || window.limit === null) return this.#counter.giveBack(window, bucket, n);
    await this.#counter.giveBack(window, bucket, n).catch(() => {});
    await this.#ledger.giveBack(window, bucket, n);
  }

  async used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    const { used, retryAfterMs } = await this.take(window, 0);
    return { used, retryAfterMs };
  }

  forget(window: Window): Promise<void> {
    return this.#counter.forget(window);
  }
}
