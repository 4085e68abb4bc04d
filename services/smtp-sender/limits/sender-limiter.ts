/**
 * The limits of a sender. Alone it counts for itself, with others in Redis. While Redis is away, or this sender is cut off
 * from it:
 *
 * - a company with a limit by the hour waits: nobody can say how much of it is left;
 * - a company without one goes on, and what it sends meanwhile is counted by nobody;
 * - of `max_per_second` a sender uses its share, one part in as many as senders are known. Those that do reach Redis leave
 *   the others their shares there;
 * - the same of what is limited by the minute, and nothing for one minute before: what all took until then still counts. For
 *   a minute nothing is taken either when Redis has lost its data.
 */
import { performance } from "node:perf_hooks";
import type { Redis } from "ioredis";
import { LedgerLimiter } from "../../lib/limits/ledger-limiter.ts";
import { MemoryLedgerCounter } from "../../lib/limits/ledger-memory.ts";
import type { Grant, Limiter, Window } from "../../lib/limits/limiter.ts";
import { MemoryLimiter } from "../../lib/limits/limiter-memory.ts";
import { RedisLimiter } from "../../lib/limits/limiter-redis.ts";
import { redisServer } from "../../lib/redis.ts";
import { hourLedger } from "./hour-ledger.ts";
import { SenderPresence } from "./sender-presence.ts";

/** After a failure Redis is asked by one request a second, and nobody waits for it. */
const ASK_AGAIN_MS = 1_000;
/** Of no bucket: giving back means nothing. */
const UNCOUNTED_BUCKET = -1;
/** What is longer outlasts the times after which senders know of each other's loss (sender-presence.ts). */
const SHORT_WINDOW_MS = 1_000;

export const ownLimiter = (): Limiter => new LedgerLimiter(new MemoryLedgerCounter(), hourLedger);

export class SenderLimiter implements Limiter {
  readonly #counts: RedisLimiter;
  readonly #hours: LedgerLimiter;
  readonly #presence: SenderPresence;
  readonly #own = new MemoryLimiter();
  #awayUntilMs = 0;
  readonly #redis: Redis;
  /** The server of the last count, and when another one took its place: that knows nothing of what was taken before. */
  #serverId: string | undefined;
  #otherSinceMs = Number.NEGATIVE_INFINITY;

  constructor(redis: Redis, presence = new SenderPresence(redis, "alone", () => [])) {
    this.#redis = redis;
    this.#counts = new RedisLimiter(redis);
    this.#hours = new LedgerLimiter(this.#counts, hourLedger);
    this.#presence = presence;
  }

  take(window: Window, n: number): Promise<Grant> {
    if (!window.remembered)
      return window.windowMs > SHORT_WINDOW_MS ? this.#takeLong(window, n) : this.#takeShared(window, n);
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

  async #takeLong(window: Window, n: number): Promise<Grant> {
    const { windowMs } = window;
    const limit = window.limit!;
    const { known } = this.#presence;
    const share = Math.floor(limit / known);
    const nothing = (retryAfterMs: number): Grant => ({ granted: 0, bucket: UNCOUNTED_BUCKET, retryAfterMs, used: 0 });
    // Less than one in the window: one in a longer one, of buckets as wide.
    const longer = share > 0 ? 1 : known / limit;
    const own: Window = {
      ...window,
      limit: Math.max(1, share),
      windowMs: Math.ceil(windowMs * longer),
      buckets: Math.ceil(window.buckets * longer),
    };
    if (this.#presence.isCutOff) {
      const waitMs = this.#presence.ownShareInMs(windowMs);
      if (waitMs > 0) return nothing(waitMs);
      return { ...(await this.#own.take(own, n)), bucket: UNCOUNTED_BUCKET };
    }
    const waitMs = await this.#knownAgainInMs(windowMs);
    if (waitMs > 0) return nothing(waitMs);
    const alone = (await this.#own.used(own)).used;
    const left = limit - this.#presence.missingWithin(windowMs) * Math.max(1, share) - alone;
    return this.#counts.take({ ...window, limit: Math.max(0, left) }, n);
  }

  /** Until this server's count holds all that was taken within such a window. */
  async #knownAgainInMs(windowMs: number): Promise<number> {
    const { id } = await redisServer(this.#redis);
    const now = performance.now();
    if (this.#serverId !== undefined && this.#serverId !== id) this.#otherSinceMs = now;
    this.#serverId = id;
    return Math.max(0, this.#otherSinceMs + windowMs - now);
  }
}
