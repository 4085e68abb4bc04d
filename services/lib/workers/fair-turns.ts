/**
 * Who may use one of a few places next: the owners who wait take turns, and no owner has two places while another waits
 * for one. A queue that is full refuses, for an owner before it does for all.
 */
import { throttled, unavailable } from "../errors.ts";

const RETRY_SECONDS = 2;

interface Bounds {
  places: number;
  /** How many of one owner may wait. */
  waitingPerOwner: number;
  waitingInAll: number;
}

export class FairTurns {
  readonly #bounds: Bounds;
  /** In the order of their turns; an owner who got a place goes to the end. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #held = new Map<string, number>();
  #waitingInAll = 0;
  #free: number;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#free = bounds.places;
  }

  get waiting(): number {
    return this.#waitingInAll;
  }

  /** Runs the work when it is its owner's turn. Throws 429 where too many of the owner wait, 503 where too many do. */
  async take<T>(owner: string, work: () => Promise<T>): Promise<T> {
    await this.#turnOf(owner);
    try {
      return await work();
    } finally {
      this.#leave(owner);
    }
  }

  #turnOf(owner: string): Promise<void> {
    const own = this.#waiting.get(owner) ?? [];
    if (own.length >= this.#bounds.waitingPerOwner) throw throttled(RETRY_SECONDS);
    if (this.#waitingInAll >= this.#bounds.waitingInAll)
      throw unavailable("Too many large templates are being worked on.");
    const { promise, resolve } = Promise.withResolvers<void>();
    own.push(resolve);
    this.#waiting.set(owner, own);
    this.#waitingInAll++;
    this.#next();
    return promise;
  }

  #leave(owner: string): void {
    const held = this.#held.get(owner)! - 1;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
    this.#free++;
    this.#next();
  }

  #next(): void {
    while (this.#free > 0 && this.#waiting.size > 0) {
      const owner = [...this.#waiting.keys()].find((each) => !this.#held.has(each));
      if (owner === undefined) return;
      const own = this.#waiting.get(owner)!;
      const begin = own.shift()!;
      this.#waiting.delete(owner);
      if (own.length > 0) this.#waiting.set(owner, own);
      this.#waitingInAll--;
      this.#free--;
      this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
      begin();
    }
  }
}
