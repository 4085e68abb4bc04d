/**
 * A limiter whose count may be lost at any moment, and that grants no more than the limit even so. The count itself is fast
 * and exact; beside it a ledger, which is never lost, says how much may have been taken and until when. Taking from what is
 * reserved costs the ledger nothing; a block is reserved some fifty times in a window.
 *
 * Each beginning of a count has a name, its epoch. A beginning makes that of the ledger its own and then reads what may have
 * been taken before; from there on whoever counts in an older one (a server that was cut off, a slow node) cannot reserve.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Grant, Ledger, Limiter, Window } from "./limiter.ts";

/** Reserved in the ledger; `from`: when, by the clock of the count, and at the latest. */
export interface Block {
  epoch: string;
  n: number;
  from: number;
}

/** `lost`: the count is not there or not whole, `epoch` is what it was. `reserve`: this block is needed first. */
export type Attempt<T> =
  | { kind: "known"; answer: T }
  | { kind: "lost"; epoch: string }
  | { kind: "reserve"; block: Block };

export interface LedgerCounter extends Limiter {
  attempt(window: Window, n: number, block?: Block): Promise<Attempt<Grant>>;
  look(window: Window): Promise<Attempt<{ used: number; retryAfterMs: number }>>;
  /** Begins with what was taken before, in place of the epoch `instead` ("": of whatever is lost). Does nothing where another node has done it. */
  begin(window: Window, epoch: string, instead: string, taken: readonly [number, number][]): Promise<void>;
}

/** Others may take what was reserved, or begin anew, a few times in a row; each time costs some milliseconds. */
const GIVE_UP_MS = 10_000;
const JITTER_MS = 20;

export class LedgerLimiter implements Limiter {
  readonly #counter: LedgerCounter;
  readonly #ledger: Ledger;
  /** One at a time for each window: whoever comes meanwhile takes from what it brings. */
  readonly #preparing = new Map<string, Promise<unknown>>();

  constructor(counter: LedgerCounter, ledger: Ledger) {
    this.#counter = counter;
    this.#ledger = ledger;
  }

  take(window: Window, n: number): Promise<Grant> {
    if (!window.remembered) return this.#counter.take(window, n);
    return this.#ask(window, (block) => this.#counter.attempt(window, n, block));
  }

  used(window: Window): Promise<{ used: number; retryAfterMs: number }> {
    if (!window.remembered) return this.#counter.used(window);
    return this.#ask(window, () => this.#counter.look(window));
  }

  give(window: Window, bucket: number, n: number): Promise<void> {
    return this.#counter.give(window, bucket, n);
  }

  forget(window: Window): Promise<void> {
    return this.#counter.forget(window);
  }

  async #ask<T>(window: Window, question: (block?: Block) => Promise<Attempt<T>>): Promise<T> {
    const deadlineMs = performance.now() + GIVE_UP_MS;
    let attempt = await question();
    for (let n = 0; attempt.kind !== "known"; ) {
      if (performance.now() > deadlineMs) throw new Error("The count of the hour was lost again and again.");
      const others = this.#preparing.get(window.key);
      if (others) {
        await others.catch(() => {});
        attempt = await question();
        continue;
      }
      const work = this.#prepare(window, attempt, n++).then(question);
      this.#preparing.set(window.key, work);
      attempt = await work.finally(() => this.#preparing.delete(window.key));
    }
    return attempt.answer;
  }

  /** The block that was reserved; undefined: the count has begun anew, or another node is at it. */
  async #prepare<T>(window: Window, attempt: Attempt<T>, n: number): Promise<Block | undefined> {
    if (attempt.kind === "known") return undefined;
    if (attempt.kind === "reserve") {
      const { block } = attempt;
      if (await this.#ledger.reserve(window, block.epoch, block.n)) return block;
      // Nodes that noticed a loss together began anew together, each in the other's way: one of them must be first.
      await sleep(Math.random() * JITTER_MS * Math.min(n + 1, 10));
      if (n % 2 === 0) return undefined;
    }
    const epoch = randomBytes(9).toString("base64url");
    const taken = await this.#ledger.begin(window, epoch);
    await this.#counter.begin(window, epoch, attempt.kind === "lost" ? "" : attempt.block.epoch, taken);
    return undefined;
  }
}
