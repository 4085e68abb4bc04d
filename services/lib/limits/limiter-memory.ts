/** The limiter of a single process. What a restart forgets is counted again from the rows (hour-history.ts). */
import { performance } from "node:perf_hooks";
import { bucketMs, type Grant, type Limiter, oldestBucket, type Window } from "./limiter.ts";

export class MemoryLimiter implements Limiter {
  #buckets = new Map<string, Map<number, number>>();
  #now: () => number;

  /** The clock may be set meanwhile: back by an hour, and a full hour would stay full for two; on, and it would be forgotten. */
  constructor(now: () => number = () => performance.timeOrigin + performance.now()) {
    this.#now = now;
  }

  #counting(window: Window): Map<number, number> {
    const counts = this.#buckets.get(window.key) ?? new Map<number, number>();
    this.#buckets.set(window.key, counts);
    const oldest = oldestBucket(window, this.#now());
    for (const bucket of counts.keys()) if (bucket < oldest) counts.delete(bucket);
    return counts;
  }

  #total(counts: Map<number, number>): number {
    let total = 0;
    for (const n of counts.values()) total += n;
    return total;
  }

  /** When the oldest bucket that holds something stops counting. */
  #wait(window: Window, counts: Map<number, number>): number {
    const held = [...counts].flatMap(([bucket, n]) => (n > 0 ? [bucket] : []));
    if (held.length === 0) return bucketMs(window);
    return Math.max(1, (Math.min(...held) + 1) * bucketMs(window) + window.windowMs - this.#now());
  }

  async take(window: Window, n: number): Promise<Grant> {
    const counts = this.#counting(window);
    const bucket = Math.floor(this.#now() / bucketMs(window));
    const room = window.limit === null ? n : Math.max(0, window.limit - this.#total(counts));
    const granted = Math.min(n, room);
    if (granted > 0) counts.set(bucket, (counts.get(bucket) ?? 0) + granted);
    return { granted, bucket, retryAfterMs: granted < n ? this.#wait(window, counts) : 0 };
  }

  async give(window: Window, bucket: number, n: number): Promise<void> {
    const counts = this.#counting(window);
    const held = counts.get(bucket);
    if (held !== undefined) counts.set(bucket, Math.max(0, held - n));
  }

  async used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    const counts = this.#counting(window);
    const used = this.#total(counts);
    return { used, retryAfterMs: window.limit !== null && used > 0 ? this.#wait(window, counts) : 0 };
  }

  /** What was handed over before this process began. */
  remember(window: Window, at: number, n: number): void {
    const counts = this.#counting(window);
    const bucket = Math.floor(at / bucketMs(window));
    counts.set(bucket, (counts.get(bucket) ?? 0) + n);
  }
}
