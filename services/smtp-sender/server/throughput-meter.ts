/** Measures how many results were recorded recently, and per second. */
import { performance } from "node:perf_hooks";

const SLOT_MS = 50;
const RATE_MS = 2_000;
const READ_AHEAD_AT = 100;

export class ThroughputMeter {
  #slot = 0;
  #current = 0;
  #previous = 0;
  #total = 0;
  #totalSince = performance.now();
  perSecond = 0;

  #advance(): void {
    const slot = Math.floor(performance.now() / SLOT_MS);
    if (slot === this.#slot) return;
    this.#previous = slot === this.#slot + 1 ? this.#current : 0;
    this.#current = 0;
    this.#slot = slot;
  }

  add(n: number): void {
    this.#advance();
    this.#current += n;
    this.#total += n;
  }

  /** Results within 50 ms: the larger of the current and the previous slot. */
  get recent(): number {
    this.#advance();
    return Math.max(this.#current, this.#previous);
  }

  /** The next chunk is leased when fewer recipients remain: those of the next 200 ms. */
  get readAheadAt(): number {
    return Math.max(READ_AHEAD_AT, 4 * this.recent);
  }

  tick(): void {
    const passed = performance.now() - this.#totalSince;
    if (passed < RATE_MS) return;
    this.perSecond = Math.round((this.#total * 10_000) / passed) / 10;
    this.#total = 0;
    this.#totalSince = performance.now();
  }
}
