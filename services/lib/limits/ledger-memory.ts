/** The count of a process that is alone, for a LedgerLimiter: only an end of the process loses it. */
import { performance } from "node:perf_hooks";
import type { Attempt, Block, LedgerCounter } from "./ledger-limiter.ts";
import { blockLifeMs, type Grant, type Window } from "./limiter.ts";
import { MemoryLimiter } from "./limiter-memory.ts";

interface Epoch {
  epoch: string;
  credit: number;
  from: number;
}

export class MemoryLedgerCounter extends MemoryLimiter implements LedgerCounter {
  /** By window; as many as companies that ever sent under a limit in this process. */
  readonly #epochs = new Map<string, Epoch>();

  async attempt(window: Window, n: number, block?: Block): Promise<Attempt<Grant>> {
    if (window.limit === null) return { kind: "known", answer: this.takeNow(window, n) };
    const held = this.#epochs.get(window.key);
    if (!held) return { kind: "lost", epoch: "" };
    const nowMs = performance.now();
    const isAlive = (from: number) => nowMs - from < blockLifeMs(window);
    const usedUp = isAlive(held.from);
    if (!usedUp) held.credit = 0;
    if (block?.epoch === held.epoch && isAlive(block.from)) {
      held.credit += block.n;
      held.from = block.from;
    }
    const room = Math.max(0, window.limit - this.usedNow(window).used);
    const more = Math.min(n, room) - held.credit;
    if (more > 0) {
      const size = usedUp ? Math.min(room, Math.max(more, Math.ceil(window.limit / 50))) : more;
      return { kind: "reserve", block: { epoch: held.epoch, n: size, from: nowMs } };
    }
    const grant = this.takeNow(window, n);
    held.credit -= grant.granted;
    return { kind: "known", answer: grant };
  }

  async look(window: Window): Promise<Attempt<{ used: number; retryAfterMs: number }>> {
    const lost = window.limit !== null && !this.#epochs.has(window.key);
    return lost ? { kind: "lost", epoch: "" } : { kind: "known", answer: this.usedNow(window) };
  }

  async begin(window: Window, epoch: string, _instead: string, taken: readonly [number, number][]): Promise<void> {
    // Whoever could have taken the rest of a block is dead.
    for (const [ageMs, n] of taken) this.remember(window, Math.max(0, ageMs), n);
    this.#epochs.set(window.key, { epoch, credit: 0, from: Number.NEGATIVE_INFINITY });
  }
}
