/** How much was got done within the last moments, and per second. */
import { performance } from "node:perf_hooks";

const SLOT_MS = 50;
const RATE_MS = 2_000;
const READ_AHEAD_AT = 100;

export class ThroughputMeter {
  #slot = 0;
  #now = 0;
  #before = 0;
  #total = 0;
  #totalAt = performance.now();
  perSecond = 0;

  #turn(): void {
    const slot = Math.floor(performance.now() / SLOT_MS);
    if (slot === this.#slot) return;
    this.#before = slot === this.#slot + 1 ? this.#now : 0;
    this.#now = 0;
    this.#slot = slot;
  }

  add(n: number): void {
    this.#turn();
    this.#now += n;
    this.#total += n;
  }

  /** Done within 50 ms: the better one of the present slot and the one before. */
  get recent(): number {
    this.#turn();
    return Math.max(this.#now, this.#before);
  }

  /** The next chunk is leased when fewer are left of the one before: those of the next fifth of a second. */
  get readAheadAt(): number {
    return Math.max(READ_AHEAD_AT, 4 * this.recent);
  }

  tick(): void {
    const passed = performance.now() - this.#totalAt;
    if (passed < RATE_MS) return;
    this.perSecond = Math.round((this.#total * 10_000) / passed) / 10;
    this.#total = 0;
    this.#totalAt = performance.now();
  }
}
