/**
 * The limiter of all nodes together: one script in Redis, so that counting and taking are one step. What a Redis that lost
 * its data has forgotten of a window is counted again from `history`, before anything more is granted.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { luaScript } from "../redis.ts";
import { bucketMs, type Grant, type Limiter, type Window } from "./limiter.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "limiter.lua"), "utf8"));

type Command = "take" | "give" | "used" | "remember";

/** [granted, or used for "used"; bucket; retry after ms; used], or [-1] where the history is asked for. */
type Reply = [number, number, number, number];

/** What was taken within a window, by bucket; undefined for windows too short to be worth it. */
type History = (window: Window) => Promise<[bucket: number, n: number][]> | undefined;

export class RedisLimiter implements Limiter {
  readonly #redis: Redis;
  readonly #history: History;

  constructor(redis: Redis, history: History = () => undefined) {
    this.#redis = redis;
    this.#history = history;
  }

  async #run(command: Command, window: Window, n: number, more: number[]): Promise<Reply> {
    const { key, limit, windowMs, buckets, remembered } = window;
    const keys = [`limit:${key}`, ...(remembered ? [`limit:${key}:known`] : [])];
    const width = buckets === 0 ? 0 : bucketMs(window);
    return (await run(this.#redis, keys, [command, n, limit ?? -1, windowMs, width, ...more])) as Reply;
  }

  async #ask(command: Command, window: Window, n: number, bucket = 0): Promise<Reply> {
    const reply = await this.#run(command, window, n, [bucket]);
    if (reply[0] !== -1) return reply;
    const history = (await this.#history(window)) ?? [];
    await this.#run("remember", window, 0, history.flat());
    return this.#run(command, window, n, [bucket]);
  }

  async take(window: Window, n: number): Promise<Grant> {
    const [granted, bucket, retryAfterMs, used] = await this.#ask("take", window, n);
    return { granted, bucket, retryAfterMs, used };
  }

  async give(window: Window, bucket: number, n: number): Promise<void> {
    await this.#ask("give", window, n, bucket);
  }

  async used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    const [used, , retryAfterMs] = await this.#ask("used", window, 0);
    return { used, retryAfterMs };
  }

  /** A remembered window is counted again from its history when it is asked for next. */
  async forget({ key }: Window): Promise<void> {
    await this.#redis.del(`limit:${key}`, `limit:${key}:known`);
  }
}
