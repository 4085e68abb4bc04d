/**
 * Counters of one process, in bounded memory: what expired goes first, then what is oldest. Each kind of key (what stands
 * before the first ":") has its own bound, so that readers from 100,000 addresses make nobody's daily calls forgotten.
 */
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

/** The entries of one kind. */
class Table {
  readonly #entries = new Map<string, Entry>();
  readonly #maxKeys: number;
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string, nowMs: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.expiresAtMs > nowMs) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  create(key: string, nowMs: number, ttlSeconds: number): Entry {
    if (this.#entries.size >= this.#maxKeys) this.#makeRoom(nowMs);
    const entry: Entry = { value: 0, times: [], expiresAtMs: nowMs + ttlSeconds * 1_000 };
    this.#entries.set(key, entry);
    return entry;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #makeRoom(nowMs: number): void {
    if (nowMs - this.#sweptAtMs >= SWEEP_PAUSE_MS) {
      this.#sweptAtMs = nowMs;
      for (const [key, { expiresAtMs }] of this.#entries) if (expiresAtMs <= nowMs) this.#entries.delete(key);
    }
    if (this.#entries.size < this.#maxKeys) return;
    // Many at once: a walk over a map begins with the places of all that were deleted from its front.
    const kept = this.#maxKeys - Math.max(1, Math.floor(this.#maxKeys / 100));
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= kept) return;
      this.#entries.delete(key);
    }
  }
}

export class MemoryCounters implements Counters {
  readonly #tables = new Map<string, Table>();
  readonly #nowMs: () => number;
  readonly #maxKeys: number;

  /** `maxKeys`: of each kind. */
  constructor(nowMs: () => number = () => performance.now(), maxKeys = MAX_KEYS) {
    this.#nowMs = nowMs;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return [...this.#tables.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async add(key: string, by: number, ttlSeconds: number): Promise<number> {
    const entry = this.#entryFor(key, ttlSeconds);
    entry.value += by;
    return entry.value;
  }

  async read(key: string): Promise<number> {
    return this.#entry(key)?.value ?? 0;
  }

  async take(key: string, limit: number, windowSeconds: number): Promise<Taken> {
    const nowMs = this.#nowMs();
    const windowMs = windowSeconds * 1_000;
    const entry = this.#entryFor(key, windowSeconds);
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
    this.#table(key).delete(key);
  }

  /** Kinds are few: they are named in the code, and only what follows comes from outside. */
  #table(key: string): Table {
    const kind = key.slice(0, Math.max(0, key.indexOf(":")));
    const table = this.#tables.get(kind) ?? new Table(this.#maxKeys);
    this.#tables.set(kind, table);
    return table;
  }

  #entry(key: string): Entry | undefined {
    return this.#table(key).get(key, this.#nowMs());
  }

  #entryFor(key: string, ttlSeconds: number): Entry {
    const table = this.#table(key);
    const nowMs = this.#nowMs();
    return table.get(key, nowMs) ?? table.create(key, nowMs, ttlSeconds);
  }
}
