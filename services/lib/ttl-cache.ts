/**
 * Answers kept for a moment, in bounded memory (lru-cache). Age counts from when the question was asked, so that what an
 * answer says was true at most `ttlMs` ago. Those who ask the same at once wait for one answer; failures are not kept.
 * Who asks again and again need not wait: from `renewMs` on the question is asked anew, and the answer is given until it is too old.
 *
 * lru-cache's own `fetch` is not used: it returns a promise even for what is cached, and fails those who wait for an
 * answer when its key is dropped meanwhile.
 */
import { LRUCache } from "lru-cache";

interface Entry<T> {
  value: T;
  askedMs: number;
}

export class TtlCache<T> {
  readonly #ttlMs: number;
  readonly #renewMs: number;
  readonly #cache: LRUCache<string, Entry<T>>;
  readonly #pending = new Map<string, Promise<T>>();

  constructor(ttlMs: number, maxEntries: number, renewMs = ttlMs) {
    this.#ttlMs = ttlMs;
    this.#renewMs = renewMs;
    this.#cache = new LRUCache({ max: maxEntries, ttl: ttlMs, ttlResolution: 0 });
  }

  /** A value without a promise where it is cached: the common case costs no turn of the event loop. */
  get(key: string, ask: () => Promise<T>): T | Promise<T> {
    const entry = this.#cache.get(key);
    if (!entry) return this.#pending.get(key) ?? this.#ask(key, ask);
    const isOld = performance.now() - entry.askedMs > this.#renewMs;
    // Whoever asks when the answer is too old learns what went wrong.
    if (isOld && !this.#pending.has(key)) this.#ask(key, ask).catch(() => {});
    return entry.value;
  }

  async #ask(key: string, ask: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const answer = ask();
    this.#pending.set(key, answer);
    try {
      const value = await answer;
      // Dropped while it was asked: the answer may be older than the reason for dropping it.
      const current = this.#pending.get(key) === answer;
      if (current && performance.now() - start < this.#ttlMs)
        this.#cache.set(key, { value, askedMs: start }, { start });
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
