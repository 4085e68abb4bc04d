/**
 * The limits of a sender. Alone it counts in its memory, with others in Redis.
 *
 * | while Redis is away |  |
 * |---|---|
 * | company with a limit by the hour | waits |
 * | company without one | goes on; what it sends is not counted |
 * | `max_per_second`, `max_per_minute` of a domain | waits; limits by the minute also for the minute after another server took its place, which does not know what was taken before |
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
  /** The server of the last count, and since when it is another one. */
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

  give(window: Window, bucket: number, n: number): Promise<void> {
    return this.#of(window).give(window, bucket, n);
  }

  used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    return this.#of(window).used(window);
  }

  forget(window: Window): Promise<void> {
    return this.#limited.forget(window);
  }

  /** Until this server knows all that was taken within such a window. */
  async #knownInMs(windowMs: number): Promise<number> {
    const { id } = await redisServer(this.#redis);
    const now = performance.now();
    if (this.#serverId !== undefined && this.#serverId !== id) this.#otherSinceMs = now;
    this.#serverId = id;
    return Math.max(0, this.#otherSinceMs + windowMs - now);
  }
}
