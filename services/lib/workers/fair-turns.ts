/**
 * Who may use one of a few places next: the owners who wait take turns, and each has one place at most. A queue that is
 * full refuses, for an owner before it does for all.
 */
import { throttled, unavailable } from "../errors.ts";

const RETRY_SECONDS = 2;

interface Bounds {
  places: number;
  /** How much of one owner may wait, in the unit of the sizes that are given to `take`. */
  waitingPerOwner: number;
  waitingInAll: number;
}

interface Waiting {
  size: number;
  begin: () => void;
}

const sizeOf = (waiting: readonly Waiting[]) => waiting.reduce((sum, { size }) => sum + size, 0);

export class FairTurns {
  readonly #bounds: Bounds;
  /** In the order of their turns; an owner who got a place goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #held = new Set<string>();
  #free: number;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#free = bounds.places;
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Runs the work when it is its owner's turn. Throws 429 where too much of the owner waits, 503 where too much does. */
  async take<T>(owner: string, size: number, work: () => Promise<T>): Promise<T> {
    await this.#turnOf(owner, size);
    try {
      return await work();
    } finally {
      this.#leave(owner);
    }
  }

  #turnOf(owner: string, size: number): Promise<void> {
    const own = this.#waiting.get(owner) ?? [];
    if (sizeOf(own) + size > this.#bounds.waitingPerOwner) throw throttled(RETRY_SECONDS);
    if (sizeOf([...this.#waiting.values()].flat()) + size > this.#bounds.waitingInAll)
      throw unavailable("Too many large templates are being worked on.");
    const { promise, resolve: begin } = Promise.withResolvers<void>();
    own.push({ size, begin });
    this.#waiting.set(owner, own);
    this.#next();
    return promise;
  }

  #leave(owner: string): void {
    this.#held.delete(owner);
    this.#free++;
    this.#next();
  }

  #next(): void {
    while (this.#free > 0 && this.#waiting.size > 0) {
      const owner = [...this.#waiting.keys()].find((each) => !this.#held.has(each));
      if (owner === undefined) return;
      const own = this.#waiting.get(owner)!;
      const { begin } = own.shift()!;
      this.#waiting.delete(owner);
      if (own.length > 0) this.#waiting.set(owner, own);
      this.#free--;
      this.#held.add(owner);
      begin();
    }
  }
}
