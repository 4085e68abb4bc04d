/**
 * What is counted per key for a while: throttles, daily API calls, failed logins. In Redis for all nodes where there is
 * one, else in the process. Redis away: the process counts for itself, so that requests pass and no single node is flooded.
 */
import { redis } from "../redis.ts";
import { MemoryCounters } from "./counters-memory.ts";
import { sharedCounters } from "./counters-redis.ts";

export interface Taken {
  allowed: boolean;
  /** 0 when allowed, else when the next one will be (at least 1). */
  retryAfterSeconds: number;
}

export interface Counters {
  /** Adds to a counter and returns its new value. It is forgotten ttlSeconds after its first addition. */
  add(key: string, by: number, ttlSeconds: number): Promise<number>;
  /** 0 for a key that nobody added to. */
  read(key: string): Promise<number>;
  /** Allows at most `limit` (1 or more) in any `windowSeconds`; what was refused does not count. */
  take(key: string, limit: number, windowSeconds: number): Promise<Taken>;
  forget(key: string): Promise<void>;
}

const inProcess = new MemoryCounters();

export function counters(): Counters {
  const client = redis();
  return client ? sharedCounters(client, inProcess) : inProcess;
}
