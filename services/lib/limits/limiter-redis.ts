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

type What = "take" | "give" | "used" | "remember";

/** What left within a window, by bucket; undefined for windows too short to be worth it. */
export type History = (window: Window) => Promise<[bucket: number, n: number][]> | undefined;

export class RedisLimiter implements Limiter {
  #redis: Redis;
  #history: History;

  constructor(redis: Redis, history: History = () => undefined) {
    this.#redis = redis;
    this.#history = history;
  }

  async #run(what: What, window: Window, n: number, more: number[], known: boolean): Promise<[number, number, number]> {
    const { key, limit, windowMs } = window;
    const keys = [`limit:${key}`, ...(known ? [`limit:${key}:known`] : [])];
    const args = [what, n, limit ?? -1, windowMs, bucketMs(window), ...more];
    return (await run(this.#redis, keys, args)) as [number, number, number];
  }

  async #ask(what: What, window: Window, n: number, bucket = 0): Promise<[number, number, number]> {
    const answer = await this.#run(what, window, n, [bucket], window.remembered === true);
    if (answer[0] !== -1) return answer;
    const history = (await this.#history(window)) ?? [];
    await this.#run("remember", window, 0, history.flat(), true);
    return this.#run(what, window, n, [bucket], true);
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
