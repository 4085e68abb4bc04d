/** A time-out that is moved for every answer: one slow tick looks at it, nothing is armed per message. */
import { performance } from "node:perf_hooks";

export class Deadline {
  #tickMs: number;
  #passed: () => void;
  #at = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** `tickMs`: the shortest time that is ever set. */
  constructor(tickMs: number, passed: () => void) {
    this.#tickMs = tickMs;
    this.#passed = passed;
  }

  in(ms: number): void {
    this.#at = performance.now() + ms;
    this.#timer ??= setTimeout(() => this.#look(), this.#tickMs);
  }

  none(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }

  clear(): void {
    this.none();
    clearTimeout(this.#timer);
  }

  #look(): void {
    this.#timer = undefined;
    const left = this.#at - performance.now();
    if (left === Number.POSITIVE_INFINITY) return;
    if (left > 0) this.#timer = setTimeout(() => this.#look(), Math.min(left, this.#tickMs));
    else this.#passed();
  }
}
