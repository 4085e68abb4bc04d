/** Counters in Redis, one atomic script per question; time is Redis' own, so that nodes with other clocks agree. */
import type { Redis } from "ioredis";
import { luaScript } from "../redis.ts";
import type { Counters, Taken } from "./counters.ts";

// After a failure the fallback counts for this long before Redis is asked again: one request waits, not each.
const AWAY_MS = 1_000;

const add = luaScript(`
  local value = redis.call('incrby', KEYS[1], ARGV[1])
  if redis.call('pttl', KEYS[1]) < 0 then redis.call('expire', KEYS[1], ARGV[2]) end
  return value
`);

// A list of the times (ms) at which something was allowed, oldest first. Returns the ms to wait, 0 when allowed.
const take = luaScript(`
  local clock = redis.call('time')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
  local oldest = redis.call('lindex', KEYS[1], 0)
  while oldest and tonumber(oldest) <= now - window do
    redis.call('lpop', KEYS[1])
    oldest = redis.call('lindex', KEYS[1], 0)
  end
  local taken = redis.call('llen', KEYS[1])
  if taken >= limit then
    return math.max(1, tonumber(redis.call('lindex', KEYS[1], taken - limit)) + window - now)
  end
  redis.call('rpush', KEYS[1], string.format('%.0f', now))
  redis.call('pexpire', KEYS[1], window)
  return 0
`);

export class RedisCounters implements Counters {
  readonly #client: Redis;

  constructor(client: Redis) {
    this.#client = client;
  }

  async add(key: string, by: number, ttlSeconds: number): Promise<number> {
    return Number(await add(this.#client, [`count:${key}`], [by, ttlSeconds]));
  }

  async read(key: string): Promise<number> {
    return Number((await this.#client.get(`count:${key}`)) ?? 0);
  }

  async take(key: string, limit: number, windowSeconds: number): Promise<Taken> {
    const waitMs = Number(await take(this.#client, [`window:${key}`], [limit, windowSeconds * 1_000]));
    return { allowed: waitMs === 0, retryAfterSeconds: Math.ceil(waitMs / 1_000) };
  }

  async forget(key: string): Promise<void> {
    await this.#client.del(`count:${key}`, `window:${key}`);
  }
}

/** Asks Redis, and the fallback while Redis does not answer. */
export class FallbackCounters implements Counters {
  readonly #shared: Counters;
  readonly #fallback: Counters;
  #awayUntilMs = 0;

  constructor(shared: Counters, fallback: Counters) {
    this.#shared = shared;
    this.#fallback = fallback;
  }

  add(key: string, by: number, ttlSeconds: number): Promise<number> {
    return this.#ask((counters) => counters.add(key, by, ttlSeconds));
  }

  read(key: string): Promise<number> {
    return this.#ask((counters) => counters.read(key));
  }

  take(key: string, limit: number, windowSeconds: number): Promise<Taken> {
    return this.#ask((counters) => counters.take(key, limit, windowSeconds));
  }

  forget(key: string): Promise<void> {
    return this.#ask((counters) => counters.forget(key));
  }

  async #ask<T>(question: (counters: Counters) => Promise<T>): Promise<T> {
    if (performance.now() < this.#awayUntilMs) return question(this.#fallback);
    try {
      return await question(this.#shared);
    } catch {
      this.#awayUntilMs = performance.now() + AWAY_MS;
      return question(this.#fallback);
    }
  }
}

const known = new WeakMap<Redis, Counters>();

export function sharedCounters(client: Redis, fallback: Counters): Counters {
  const counters = known.get(client) ?? new FallbackCounters(new RedisCounters(client), fallback);
  known.set(client, counters);
  return counters;
}
