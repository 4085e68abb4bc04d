/**
 * Counts throttles, daily API calls and failed logins. Without Redis each process counts for itself, so that requests
 * pass and no single node is flooded. Sending limits behave differently (services/smtp-sender/README.md).
 */
import type { Redis } from "ioredis";
import { redis } from "../redis.ts";
import type { Limiter, Window } from "./limiter.ts";
import { MemoryLimiter } from "./limiter-memory.ts";
import { RedisLimiter } from "./limiter-redis.ts";

// Time for which the fallback counts after a failure, so that one request waits for Redis instead of each.
const FALLBACK_MS = 1_000;

/** Uses the shared limiter, and the fallback while it does not answer. */
export class FallbackLimiter implements Limiter {
  readonly #shared: Limiter;
  readonly #fallback: Limiter;
  #awayUntilMs = 0;

  constructor(shared: Limiter, fallback: Limiter) {
    this.#shared = shared;
    this.#fallback = fallback;
  }

  take(window: Window, n: number) {
    return this.#ask((limiter) => limiter.take(window, n));
  }

  giveBack(window: Window, bucket: number, n: number) {
    return this.#ask((limiter) => limiter.giveBack(window, bucket, n));
  }

  used(window: Window) {
    return this.#ask((limiter) => limiter.used(window));
  }

  forget(window: Window) {
    return this.#ask((limiter) => limiter.forget(window));
  }

  async #ask<T>(question: (limiter: Limiter) => Promise<T>): Promise<T> {
    if (performance.now() < this.#awayUntilMs) return question(this.#fallback);
    try {
      return await question(this.#shared);
    } catch {
      this.#awayUntilMs = performance.now() + FALLBACK_MS;
      return question(this.#fallback);
    }
  }
}

const inProcess = new MemoryLimiter();
const overRedis = new WeakMap<Redis, Limiter>();

export function apiLimiter(): Limiter {
  const client = redis();
  if (!client) return inProcess;
  const limiter = overRedis.get(client) ?? new FallbackLimiter(new RedisLimiter(client), inProcess);
  overRedis.set(client, limiter);
  return limiter;
}
