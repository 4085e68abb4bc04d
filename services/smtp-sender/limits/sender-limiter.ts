/**
 * Counts a sender's limits: in memory on a single node, in Redis with several.
 *
 * | mail | while Redis is unavailable |
 * |---|---|
 * | company with an hourly limit | waits |
 * | company without one | continues, uncounted |
 * | `max_per_second`, `max_per_minute` of a domain | waits; limits per minute also wait for a minute after another server has replaced it, because that one does not know the earlier counts |
 */
import { performance } from "node:perf_hooks";
import type { Redis } from "ioredis";
import { FallbackLimiter } from "../../lib/limits/api-limiter.ts";
import { LedgerLimiter } from "../../lib/limits/ledger-limiter.ts";
import type { Grant, Limiter, Window } from "../../lib/limits/limiter.ts";
import { MemoryLimiter } from "../../lib/limits/limiter-memory.ts";
import { RedisLimiter } from "../../lib/limits/limiter-redis.ts";
import { redisServer } from "../../lib/redis.ts";
import { hourLedger } from "./hour-ledger.ts";

const SECOND_MS = 1_000;

export const ownLimiter = (): Limiter => new LedgerLimiter(new MemoryLimiter(), hourLedger);

export class SenderLimiter implements Limiter {
  readonly #redis: Redis;
  readonly #limited: LedgerLimiter;
  readonly #unlimited: FallbackLimiter;
  /** Server of the last count, and the time since which it is another one. */
  #serverId: string | undefined;
  #otherSinceMs = Number.NEGATIVE_INFINITY;

  constructor(redis: Redis) {
    this.#redis = redis;
    const shared = new RedisLimiter(redis);
    this.#limited = new LedgerLimiter(shared, hourLedger);
    this.#unlimited = new FallbackLimiter(shared, new MemoryLimiter());
  }

  #of({ limit }: Window): Limiter {
    return limit === null ? this.#unlimited : this.#limited;
  }

  async take(window: Window, n: number): Promise<Grant> {
    const waitMs = window.remembered || window.windowMs <= SECOND_MS ? 0 : await this.#knownInMs(window.windowMs);
    return waitMs > 0 ? { granted: 0, bucket: 0, retryAfterMs: waitMs, used: 0 } : this.#of(window).take(window, n);
  }

  giveBack(window: Window, bucket: number, n: number): Promise<void> {
    return this.#of(window).giveBack(window, bucket, n);
  }

  used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    return this.#of(window).used(window);
  }

  forget(window: Window): Promise<void> {
    return this.#limited.forget(window);
  }

  /** Time until this server knows all grants of such a window. */
  async #knownInMs(windowMs: number): Promise<number> {
    const { id } = await redisServer(this.#redis);
    const now = performance.now();
    if (this.#serverId !== undefined && this.#serverId !== id) this.#otherSinceMs = now;
    this.#serverId = id;
    return Math.max(0, this.#otherSinceMs + windowMs - now);
  }
}
