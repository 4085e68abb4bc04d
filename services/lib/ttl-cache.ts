/**
 * Caches answers briefly in bounded memory (lru-cache). The age starts when the question is asked, so that an answer
 * was true at most `ttlMs` ago. Concurrent callers share one request; failures are not cached.
 *
 * Does not use lru-cache's `fetch`: it rejects pending callers when their key is evicted.
 */
import { LRUCache } from "lru-cache";

export class TtlCache<T> {
  readonly #ttlMs: number;
  readonly #cache: LRUCache<string, { value: T }>;
  readonly #pending = new Map<string, Promise<T>>();

  constructor(ttlMs: number, max: number) {
    this.#ttlMs = ttlMs;
    this.#cache = new LRUCache({ max, ttl: ttlMs, ttlResolution: 0 });
  }

  async get(key: string, ask: () => Promise<T>): Promise<T> {
    const entry = this.#cache.get(key);
    return entry ? entry.value : (this.#pending.get(key) ?? this.#ask(key, ask));
  }

  async #ask(key: string, ask: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const answer = ask();
    this.#pending.set(key, answer);
    try {
      const value = await answer;
      // Dropped while the request was running: the answer may be older than the event that dropped it.
      const current = this.#pending.get(key) === answer;
      if (current && performance.now() - start < this.#ttlMs) this.#cache.set(key, { value }, { start });
      return value;
    } finally {
      if (this.#pending.get(key) === answer) this.#pending.delete(key);
    }
  }

  drop(applies: (value: T) => boolean): void {
    for (const [key, { value }] of this.#cache.entries()) if (applies(value)) this.#cache.delete(key);
    // Running requests may have been read before the event.
    this.#pending.clear();
  }
}
