/**
 * The limiter of all nodes together: one script in Redis, so that counting and taking are one step. What is held in memory
 * may be gone at any moment: emptied, evicted, or the server is another one that never knew the latest. A remembered window
 * therefore names the server and the epoch it was counted in, and its count begins anew from the ledger where they differ.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { luaScript, redisServer } from "../redis.ts";
import type { Attempt, Block, LedgerCounter } from "./ledger-limiter.ts";
import { bucketMs, type Grant, type Limiter, type Window } from "./limiter.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "limiter.lua"), "utf8"));

type Command = "take" | "give" | "used" | "begin";

/** [granted, or used for "used"; bucket; retry after ms; used; epoch], or what limiter.lua says of -1 and -2. */
type Reply = [number, number, number, number, string];

const LOST = -1;
const RESERVE = -2;

export class RedisLimiter implements Limiter, LedgerCounter {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async #run(command: Command, window: Window, n: number, more: (string | number)[], withLedger = false) {
    const { key, limit, windowMs, buckets } = window;
    const keys = [`limit:${key}`, ...(withLedger ? [`limit:${key}:epoch`] : [])];
    const width = buckets === 0 ? 0 : bucketMs(window);
    return (await run(this.#redis, keys, [command, n, limit ?? -1, windowMs, width, ...more])) as Reply;
  }

  async take(window: Window, n: number): Promise<Grant> {
    const [granted, bucket, retryAfterMs, used] = await this.#run("take", window, n, []);
    return { granted, bucket, retryAfterMs, used };
  }

  async give(window: Window, bucket: number, n: number): Promise<void> {
    await this.#run("give", window, n, [bucket]);
  }

  async used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    const [used, , retryAfterMs] = await this.#run("used", window, 0, []);
    return { used, retryAfterMs };
  }

  async forget({ key }: Window): Promise<void> {
    await this.#redis.del(`limit:${key}`, `limit:${key}:epoch`);
  }

  async attempt(window: Window, n: number, block?: Block): Promise<Attempt<Grant>> {
    const { id } = await redisServer(this.#redis);
    const more = block ? [block.epoch, block.n, block.from] : [];
    const [granted, bucket, retryAfterMs, used, epoch] = await this.#run("take", window, n, [id, ...more], true);
    if (granted === LOST) return { kind: "lost", epoch };
    if (granted === RESERVE) return { kind: "reserve", block: { epoch, n: bucket, from: retryAfterMs } };
    return { kind: "known", answer: { granted, bucket, retryAfterMs, used } };
  }

  async look(window: Window): Promise<Attempt<{ used: number; retryAfterMs: number }>> {
    const { id } = await redisServer(this.#redis);
    const [used, , retryAfterMs, , epoch] = await this.#run("used", window, 0, [id], true);
    return used === LOST ? { kind: "lost", epoch } : { kind: "known", answer: { used, retryAfterMs } };
  }

  async begin(window: Window, epoch: string, instead: string, taken: readonly [number, number][]): Promise<void> {
    const { id } = await redisServer(this.#redis);
    await this.#run("begin", window, 0, [id, epoch, instead, ...taken.flat()], true);
  }
}
