/**
 * Results that were written within the last minute, to be written again when the database has lost its last transactions
 * (engine/database-history.ts). Kept as they are, some 350 bytes each, so 7 MB at most; columns of statements are made of
 * them only then. A node that sends 300 mails a second keeps a minute of them, one that sends 2,000 keeps ten seconds; replicas
 * are behind by less than that.
 */
import { performance } from "node:perf_hooks";

const KEPT_MS = 60_000;
const MAX_RESULTS = 20_000;

interface Flush {
  atMs: number;
  n: number;
  values(): unknown[];
}

export class RecentResults {
  #flushes: Flush[] = [];
  #size = 0;
  #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** `n` results, and the values of the statement that writes them again. */
  add(n: number, values: () => unknown[]): void {
    const atMs = this.#now();
    if (n > 0) this.#flushes.push({ atMs, n, values });
    this.#size += n;
    let old = 0;
    for (const flush of this.#flushes) {
      if (this.#size <= MAX_RESULTS && atMs - flush.atMs < KEPT_MS) break;
      this.#size -= flush.n;
      old++;
    }
    if (old > 0) this.#flushes.splice(0, old);
  }

  get size(): number {
    return this.#size;
  }

  /** Oldest first, as they were written. */
  flushes(): (() => unknown[])[] {
    return this.#flushes.map(({ values }) => values);
  }
}
