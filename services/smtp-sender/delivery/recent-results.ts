/**
 * Results that were written within the last minute, to be written again when the database has lost its last transactions
 * (engine/database-history.ts). About 500 bytes each, so at most 10 MB: a node that sends 300 mails a second keeps a minute
 * of them, one that sends 2,000 keeps ten seconds, and replicas are behind by less than that.
 */
import { performance } from "node:perf_hooks";
import type { RecordedResult } from "./recorded-result.ts";

const KEPT_MS = 60_000;
const MAX_RESULTS = 20_000;

export class RecentResults {
  #flushes: { atMs: number; results: readonly RecordedResult[] }[] = [];
  #size = 0;

  add(results: readonly RecordedResult[]): void {
    const atMs = performance.now();
    if (results.length > 0) this.#flushes.push({ atMs, results });
    this.#size += results.length;
    let old = 0;
    while (old < this.#flushes.length) {
      const { atMs: since, results: oldest } = this.#flushes[old]!;
      if (this.#size <= MAX_RESULTS && atMs - since < KEPT_MS) break;
      this.#size -= oldest.length;
      old++;
    }
    if (old > 0) this.#flushes.splice(0, old);
  }

  get size(): number {
    return this.#size;
  }

  /** Oldest first, as they were written. */
  groups(): (readonly RecordedResult[])[] {
    return this.#flushes.map(({ results }) => results);
  }
}
