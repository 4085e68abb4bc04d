/** Limiter of a single process, in bounded memory. A restart loses its counts; windows with a ledger recover. */
import { performance } from "node:perf_hooks";
import { bucketMs, type Counter, type Grant, type KnownGrant, oldestBucket, type Window } from "./limiter.ts";

const MAX_KEYS = 100_000;
// Minimum interval between sweeps, which take a few milliseconds, however many new keys arrive.
const SWEEP_PAUSE_MS = 1_000;

interface Counted {
  buckets: Map<number, number>;
  expiresAtMs: number;
}

/**
 * Keys of one kind. If there are too many, expired ones are evicted first, then the oldest. Not an lru-cache, which
 * takes 4 MB per kind while empty, evicts live keys before expired ones, and has no protected keys.
 */
class KeyTable {
  readonly #counted = new Map<string, Counted>();
  readonly #maxKeys: number;
  readonly #mayEvict: boolean;
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  constructor(maxKeys: number, mayEvict: boolean) {
    this.#maxKeys = maxKeys;
    this.#mayEvict = mayEvict;
  }

  get size(): number {
    return this.#counted.size;
  }

  get(key: string, nowMs: number): Counted | undefined {
    const counted = this.#counted.get(key);
    if (!counted || counted.expiresAtMs > nowMs) return counted;
    this.#counted.delete(key);
    return undefined;
  }

  create(key: string, nowMs: number, expiresAtMs: number): Counted {
    if (this.#counted.size >= this.#maxKeys) this.#evict(nowMs);
    const counted: Counted = { buckets: new Map(), expiresAtMs };
    this.#counted.set(key, counted);
    return counted;
  }

  delete(key: string): void {
    this.#counted.delete(key);
  }

  #evict(nowMs: number): void {
    if (nowMs - this.#sweptAtMs >= SWEEP_PAUSE_MS) {
      this.#sweptAtMs = nowMs;
      for (const [key, { expiresAtMs }] of this.#counted) if (expiresAtMs <= nowMs) this.#counted.delete(key);
    }
    if (!this.#mayEvict || this.#counted.size < this.#maxKeys) return;
    // Evicts one in a hundred: iterating a map first skips all entries deleted from its front.
    const keysToKeep = this.#maxKeys - Math.max(1, Math.floor(this.#maxKeys / 100));
    for (const key of this.#counted.keys()) {
      if (this.#counted.size <= keysToKeep) return;
      this.#counted.delete(key);
    }
  }
}

/** Life of a key: as long as one of its buckets counts; a fixed window from its start. */
const lifeMs = (window: Window) => window.windowMs + (window.buckets === 0 ? 0 : 2 * bucketMs(window));

export class MemoryLimiter implements Counter {
  readonly #tables = new Map<string, KeyTable>();
  /** Epochs by window with a ledger; one per company that sent under a limit in this process. */
  readonly #epochs = new Map<string, number>();
  readonly #nowMs: () => number;
  readonly #maxKeys: number;

  /**
   * Uses the monotonic clock: a wall clock set back by an hour would keep a full hour full for two, and set forward
   * would forget it. `maxKeys`: per kind, so that requests from 100,000 addresses evict nobody's daily calls.
   */
  constructor(nowMs: () => number = () => performance.timeOrigin + performance.now(), maxKeys = MAX_KEYS) {
    this.#nowMs = nowMs;
    this.#maxKeys = maxKeys;
  }

  /** Number of keys. */
  get size(): number {
    return [...this.#tables.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async take(window: Window, n: number): Promise<Grant> {
    const nowMs = this.#nowMs();
    const bucket = Math.floor(nowMs / bucketMs(window));
    const used = this.#total(window, nowMs);
    const granted = window.limit === null ? n : Math.min(n, Math.max(0, window.limit - used));
    if (granted > 0) this.#add(window, bucket, granted, nowMs);
    const mayWait = granted < n || (n === 0 && window.limit !== null && used > 0);
    const retryAfterMs = mayWait ? this.#waitMs(window, nowMs) : 0;
    return { granted, bucket, retryAfterMs, used: used + granted };
  }

  async giveBack(window: Window, bucket: number, n: number): Promise<void> {
    const buckets = this.#table(window).get(window.key, this.#nowMs())?.buckets;
    const counted = buckets?.get(bucket);
    if (counted !== undefined) buckets!.set(bucket, Math.max(0, counted - n));
  }

  async used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    const { used, retryAfterMs } = await this.take(window, 0);
    return { used, retryAfterMs };
  }

  async forget(window: Window): Promise<void> {
    this.#table(window).delete(window.key);
    this.#epochs.delete(window.key);
  }

  async takeKnown(window: Window, n: number): Promise<KnownGrant | undefined> {
    const epoch = this.#epochs.get(window.key);
    return epoch === undefined ? undefined : { ...(await this.take(window, n)), epoch };
  }

  async begin(window: Window, epoch: number, taken: readonly (readonly [number, number])[]): Promise<void> {
    const nowMs = this.#nowMs();
    const table = this.#table(window);
    // Counts without an epoch are from a time without a limit: they are in no ledger, and stay.
    if (this.#epochs.has(window.key)) table.delete(window.key);
    for (const [bucket, n] of taken) {
      const counted = table.get(window.key, nowMs)?.buckets.get(bucket) ?? 0;
      this.#add(window, bucket, Math.max(0, n - counted), nowMs);
    }
    this.#epochs.set(window.key, epoch);
  }

  /** Kinds are few, because they are named in the code; only the rest of a key is external. */
  #table({ key, remembered }: Window): KeyTable {
    const kind = key.slice(0, Math.max(0, key.indexOf(":")));
    const table = this.#tables.get(kind) ?? new KeyTable(this.#maxKeys, !remembered);
    this.#tables.set(kind, table);
    return table;
  }

  #add(window: Window, bucket: number, n: number, nowMs: number): void {
    const table = this.#table(window);
    const expiresAtMs = nowMs + lifeMs(window);
    const counted = table.get(window.key, nowMs) ?? table.create(window.key, nowMs, expiresAtMs);
    if (window.buckets > 0) counted.expiresAtMs = expiresAtMs;
    counted.buckets.set(bucket, (counted.buckets.get(bucket) ?? 0) + n);
  }

  /** Current count of the window; drops expired buckets. */
  #total(window: Window, nowMs: number): number {
    const counted = this.#table(window).get(window.key, nowMs);
    if (!counted) return 0;
    const oldest = oldestBucket(window, nowMs);
    let total = 0;
    for (const [bucket, n] of counted.buckets) {
      if (bucket < oldest) counted.buckets.delete(bucket);
      else total += n;
    }
    return total;
  }

  /** Time until the oldest non-empty bucket expires. */
  #waitMs(window: Window, nowMs: number): number {
    const counted = this.#table(window).get(window.key, nowMs);
    if (window.buckets === 0) return counted ? counted.expiresAtMs - nowMs : window.windowMs;
    let first = Number.POSITIVE_INFINITY;
    for (const [bucket, n] of counted?.buckets ?? []) if (n > 0 && bucket < first) first = bucket;
    if (first === Number.POSITIVE_INFINITY) return bucketMs(window);
    return Math.max(1, (first + 1) * bucketMs(window) + window.windowMs - nowMs);
  }
}
