/**
 * Limiter shared by all nodes: one Redis script, so that counting and taking are atomic. Counts can be lost at any
 * time: by a flush, an eviction, or a failover to a lagging replica. Counts with a ledger therefore name the server
 * they were made on.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { luaScript, redisServer } from "../redis.ts";
import { bucketMs, type Counter, type Grant, type KnownGrant, type Window } from "./limiter.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "limiter.lua"), "utf8"));

const WITHOUT_LEDGER = "";
const LOST = -1;

export class RedisLimiter implements Counter {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async #run(command: "take" | "give_back" | "begin", window: Window, n: number, server: string, more: number[] = []) {
    const { key, limit, windowMs, buckets } = window;
    const width = buckets === 0 ? 0 : bucketMs(window);
    const args = [command, n, limit ?? -1, windowMs, width, server, ...more];
    return (await run(this.#redis, [`limit:${key}`], args)) as [number, number, number, number, number];
  }

  async take(window: Window, n: number): Promise<Grant> {
    const [granted, bucket, retryAfterMs, used] = await this.#run("take", window, n, WITHOUT_LEDGER);
    return { granted, bucket, retryAfterMs, used };
  }

  async giveBack(window: Window, bucket: number, n: number): Promise<void> {
    await this.#run("give_back", window, n, WITHOUT_LEDGER, [bucket]);
  }

  async used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    const { used, retryAfterMs } = await this.take(window, 0);
    return { used, retryAfterMs };
  }

  async forget({ key }: Window): Promise<void> {
    await this.#redis.del(`limit:${key}`);
  }

  async takeKnown(window: Window, n: number): Promise<KnownGrant | undefined> {
    const { id } = await redisServer(this.#redis);
    const [granted, bucket, retryAfterMs, used, epoch] = await this.#run("take", window, n, id);
    return granted === LOST ? undefined : { granted, bucket, retryAfterMs, used, epoch };
  }

  async begin(window: Window, epoch: number, taken: readonly (readonly [number, number])[]): Promise<void> {
    const { id } = await redisServer(this.#redis);
    await this.#run("begin", window, 0, id, [epoch, ...taken.flat()]);
  }
}
