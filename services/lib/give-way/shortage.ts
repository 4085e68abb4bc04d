/** For how long CPU counts as short, and how much longer rests have to be meanwhile. */
import { performance } from "node:perf_hooks";
import { cpuShortage } from "../cpu-shortage.ts";

const LOOK_EVERY_MS = 250;
/** Looks further apart say what CPU was used for before there was anything to rest. */
const FORGET_AFTER_MS = 1_000;
const SHORT_FOR_MS = 10_000;
/** Of newsletters 600 mails per second leave even then: whoever keeps CPU short may be somebody who never ends. */
const MAX_FACTOR = 8;

/** Whether CPU is short, and was a moment ago; and for how many times as long that wants work to rest. */
export class Shortage {
  readonly #isShort: () => boolean;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  #factor = 1;

  /** `isShort`: whether CPU was short since it was asked before. */
  constructor(isShort: () => boolean) {
    this.#isShort = isShort;
  }

  get factor(): number {
    return this.#factor;
  }

  lasts(): boolean {
    const nowMs = performance.now();
    const passedMs = nowMs - this.#lookedMs;
    if (passedMs >= LOOK_EVERY_MS) {
      this.#lookedMs = nowMs;
      this.#look(nowMs, this.#isShort() && passedMs < FORGET_AFTER_MS);
    }
    return nowMs < this.#untilMs;
  }

  #look(nowMs: number, isShort: boolean): void {
    const wasShort = nowMs < this.#untilMs;
    if (isShort) this.#untilMs = nowMs + SHORT_FOR_MS;
    if (!wasShort) this.#factor = 1;
    else this.#factor = isShort ? Math.min(MAX_FACTOR, 2 * this.#factor) : Math.max(1, this.#factor - 1);
  }
}

export const ofThisMachine = new Shortage(cpuShortage(FORGET_AFTER_MS));
