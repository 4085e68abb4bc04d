/**
 * Limits how long mails are made at a time. They are made while connections are served, and a template with many loops takes up
 * to 40 ms. No mail is made once 20 ms of this turn of the event loop are used up; the servers that wanted to make one are
 * woken in the next turn, in the order in which they asked. CPU time counts: a process that
 * has to share its core with others is not slowed down further.
 */
import { performance } from "node:perf_hooks";

const TURN_MS = 20;

interface Maker {
  /** It may make mails again. */
  wake(): void;
}

export class MakingTime {
  /** Upper bound since the turn began: other processes may have had the core in between. */
  #usedMs = 0;
  #cpuAtBegin: NodeJS.CpuUsage | undefined;
  #waiting = new Set<Maker>();
  #turn: NodeJS.Immediate | undefined;

  /** True: it is woken when it may. */
  mustWait(maker: Maker): boolean {
    if (!this.#isUsedUp()) return false;
    this.#waiting.add(maker);
    return true;
  }

  #isUsedUp(): boolean {
    if (this.#usedMs < TURN_MS) return false;
    const { user, system } = process.threadCpuUsage(this.#cpuAtBegin);
    this.#usedMs = Math.min(this.#usedMs, (user + system) / 1_000);
    return this.#usedMs >= TURN_MS;
  }

  spend<T>(make: () => T): T {
    this.#cpuAtBegin ??= process.threadCpuUsage();
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
    this.#cpuAtBegin = undefined;
    const makers = [...this.#waiting];
    this.#waiting.clear();
    for (const [n, maker] of makers.entries()) {
      if (this.#isUsedUp()) {
        // Before those who have had their part of this turn.
        this.#waiting = new Set([...makers.slice(n), ...this.#waiting]);
        return;
      }
      maker.wake();
    }
  }
}
