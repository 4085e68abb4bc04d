/** The limiter of all nodes together: one script in Redis, so that counting and taking are one step. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { luaScript } from "../../mixins/redis.ts";
import { bucketMs, type Grant, type Limiter, type Window } from "./limiter.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "limiter.lua"), "utf8"));

type What = "take" | "give" | "used";

export class RedisLimiter implements Limiter {
  #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async #ask(what: What, window: Window, n: number, bucket = 0): Promise<[number, number, number]> {
    const { key, limit, windowMs } = window;
    const args = [what, n, limit ?? -1, windowMs, bucketMs(window), bucket];
    return (await run(this.#redis, [`limit:${key}`], args)) as [number, number, number];
  }

  async take(window: Window, n: number): Promise<Grant> {
    const [granted, bucket, retryAfterMs] = await this.#ask("take", window, n);
    return { granted, bucket, retryAfterMs };
  }

  async give(window: Window, bucket: number, n: number): Promise<void> {
    await this.#ask("give", window, n, bucket);
  }

  async used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    const [used, , retryAfterMs] = await this.#ask("used", window, 0);
    return { used, retryAfterMs };
  }
}
