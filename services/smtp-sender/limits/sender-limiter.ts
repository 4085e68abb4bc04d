/**
 * The limits of a sender. Alone it counts for itself, with others in Redis. While Redis is away, or this sender is cut off
 * from it:
 *
 * - a company with a limit by the hour waits: nobody can say how much of it is left;
 * - a company without one goes on, and what it sends meanwhile is counted by nobody;
 * - of `max_per_second` a sender uses its share, one part in as many as senders are known. Those that do reach Redis leave
 *   the others their shares there.
 */
import type { Redis } from "ioredis";
import { LedgerLimiter } from "../../lib/limits/ledger-limiter.ts";
import { MemoryLedgerCounter } from "../../lib/limits/ledger-memory.ts";
import type { Grant, Limiter, Window } from "../../lib/limits/limiter.ts";
import { MemoryLimiter } from "../../lib/limits/limiter-memory.ts";
import { RedisLimiter } from "../../lib/limits/limiter-redis.ts";
import { hourLedger } from "./hour-ledger.ts";
import { SenderPresence } from "./sender-presence.ts";

/** After a failure Redis is asked by one request a second, and nobody waits for it. */
const ASK_AGAIN_MS = 1_000;
/** Of no bucket: giving back means nothing. */
const UNCOUNTED_BUCKET = -1;

export const ownLimiter = (): Limiter => new LedgerLimiter(new MemoryLedgerCounter(), hourLedger);

export class SenderLimiter implements Limiter {
  readonly #counts: RedisLimiter;
  readonly #hours: LedgerLimiter;
  readonly #presence: SenderPresence;
  readonly #own = new MemoryLimiter();
  #awayUntilMs = 0;

  constructor(redis: Redis, presence = new SenderPresence(redis, "alone", () => [])) {
    this.#counts = new RedisLimiter(redis);
    this.#hours = new LedgerLimiter(this.#counts, hourLedger);
    this.#presence = presence;
  }

  take(window: Window, n: number): Promise<Grant> {
    if (!window.remembered) return this.#takeShared(window, n);
    return window.limit === null ? this.#count(window, n) : this.#hours.take(window, n);
  }

  async give(window: Window, bucket: number, n: number): Promise<void> {
    if (bucket !== UNCOUNTED_BUCKET) await this.#hours.give(window, bucket, n);
  }

  used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    return this.#hours.used(window);
  }

  forget(window: Window): Promise<void> {
    return this.#hours.forget(window);
  }

  async #count(window: Window, n: number): Promise<Grant> {
    const uncounted = { granted: n, bucket: UNCOUNTED_BUCKET, retryAfterMs: 0, used: n };
    const now = performance.now();
    if (now < this.#awayUntilMs) return uncounted;
    const wasAway = this.#awayUntilMs > 0;
    if (wasAway) this.#awayUntilMs = now + ASK_AGAIN_MS;
    const counting = this.#hours.take(window, n).then(
      (grant) => {
        this.#awayUntilMs = 0;
        return grant;
      },
      () => {
        this.#awayUntilMs = performance.now() + ASK_AGAIN_MS;
        return uncounted;
      },
    );
    return wasAway ? uncounted : counting;
  }

  async #takeShared(window: Window, n: number): Promise<Grant> {
    const { isCutOff, backInMs, missing, known } = this.#presence;
    const limit = window.limit!;
    const share = Math.floor(limit / known);
    if (isCutOff) {
      // Less than one in the window: one in a longer one.
      const own = share > 0 ? { limit: share } : { limit: 1, windowMs: Math.ceil((window.windowMs * known) / limit) };
      return this.#own.take({ ...window, ...own }, n);
    }
    if (backInMs > 0) return { granted: 0, bucket: UNCOUNTED_BUCKET, retryAfterMs: backInMs, used: 0 };
    return this.#counts.take({ ...window, limit: Math.max(1, limit - missing * Math.max(1, share)) }, n);
  }
}
