/**
 * Mails are made while connections are served, 20 µs each. Where each takes long (a template of many loops: up to 40 ms),
 * other work of the process runs in between: nobody makes one when 20 ms of this turn of the event loop are used up, and
 * those who wanted to are woken in the next turn, in the order in which they asked.
 */
import { performance } from "node:perf_hooks";

const TURN_MS = 20;

interface Maker {
  /** It may make mails again. */
  wake(): void;
}

export class MakingTime {
  #usedMs = 0;
  #waiting = new Set<Maker>();
  #turn: NodeJS.Immediate | undefined;

  /** True: it is woken when it may. */
  mustWait(maker: Maker): boolean {
    if (this.#usedMs < TURN_MS) return false;
    this.#waiting.add(maker);
    return true;
  }

  spend<T>(make: () => T): T {
    const beganMs = performance.now();
    try {
      return make();
    } finally {
      this.#usedMs += performance.now() - beganMs;
      this.#turn ??= setImmediate(() => this.#nextTurn());
    }
  }

  #nextTurn(): void {
    this.#turn = undefined;
    this.#usedMs = 0;
    const makers = [...this.#waiting];
    this.#waiting.clear();
    for (const [n, maker] of makers.entries()) {
      if (this.#usedMs >= TURN_MS) {
        // Before those who have had their part of this turn.
        this.#waiting = new Set([...makers.slice(n), ...this.#waiting]);
        return;
      }
      maker.wake();
    }
  }
}
