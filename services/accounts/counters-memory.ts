/** Counters of one process, in bounded memory: what expired goes first, then what is oldest. */
import type { Counters, Taken } from "./counters.ts";

const MAX_KEYS = 100_000;
// Looking through all keys takes a few milliseconds: never more often than this, however hard new keys press in.
const SWEEP_PAUSE_MS = 1_000;

interface Entry {
  value: number;
  /** When each allowed one was taken, oldest first; at most as many as the limit. */
  times: number[];
  expiresAtMs: number;
}

export class MemoryCounters implements Counters {
  readonly #entries = new Map<string, Entry>();
  readonly #nowMs: () => number;
  readonly #maxKeys: number;
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number = () => performance.now(), maxKeys = MAX_KEYS) {
    this.#nowMs = nowMs;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#entries.size;
  }

  async add(key: string, by: number, ttlSeconds: number): Promise<number> {
    const entry = this.#entry(key) ?? this.#create(key, ttlSeconds);
    entry.value += by;
    return entry.value;
  }

  async read(key: string): Promise<number> {
    return this.#entry(key)?.value ?? 0;
  }

  async take(key: string, limit: number, windowSeconds: number): Promise<Taken> {
    const nowMs = this.#nowMs();
    const windowMs = windowSeconds * 1_000;
    const entry = this.#entry(key) ?? this.#create(key, windowSeconds);
    while (entry.times.length > 0 && entry.times[0]! <= nowMs - windowMs) entry.times.shift();
    if (entry.times.length >= limit) {
      const freeAtMs = entry.times[entry.times.length - limit]! + windowMs;
      return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil((freeAtMs - nowMs) / 1_000)) };
    }
    entry.times.push(nowMs);
    entry.expiresAtMs = nowMs + windowMs;
    return { allowed: true, retryAfterSeconds: 0 };
  }

  async forget(key: string): Promise<void> {
    this.#entries.delete(key);
  }

  #entry(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry && entry.expiresAtMs <= this.#nowMs()) {
      this.#entries.delete(key);
      return undefined;
    }
    return entry;
  }

  #create(key: string, ttlSeconds: number): Entry {
    if (this.#entries.size >= this.#maxKeys) this.#makeRoom();
    const entry: Entry = { value: 0, times: [], expiresAtMs: this.#nowMs() + ttlSeconds * 1_000 };
    this.#entries.set(key, entry);
    return entry;
  }

  #makeRoom(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sweptAtMs >= SWEEP_PAUSE_MS) {
      this.#sweptAtMs = nowMs;
      for (const [key, { expiresAtMs }] of this.#entries) if (expiresAtMs <= nowMs) this.#entries.delete(key);
    }
    for (const key of this.#entries.keys()) {
      if (this.#entries.size < this.#maxKeys) return;
      this.#entries.delete(key);
    }
  }
}
