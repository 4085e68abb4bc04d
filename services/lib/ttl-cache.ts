/**
 * Answers kept for a moment, in bounded memory (lru-cache). Age counts from when the question was asked, so that what an
 * answer says was true at most `ttlMs` ago. Those who ask the same at once wait for one answer; failures are not kept.
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
      // Dropped while it was asked: the answer may be older than the reason for dropping it.
      const current = this.#pending.get(key) === answer;
      if (current && performance.now() - start < this.#ttlMs) this.#cache.set(key, { value }, { start });
      return value;
    } finally {
      if (this.#pending.get(key) === answer) this.#pending.delete(key);
    }
  }

  drop(applies: (value: T) => boolean): void {
    for (const [key, { value }] of this.#cache.entries()) if (applies(value)) this.#cache.delete(key);
    // What is on its way may have been read before the event.
    this.#pending.clear();
  }
}
