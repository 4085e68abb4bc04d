/**
 * Who may use one of a few places next: the owners who wait take turns, and each has one place at most. A queue that is
 * full refuses, for an owner before it does for all.
 */
import { throttled, unavailable } from "../errors.ts";
import { type Release, Turns } from "../turns.ts";

const RETRY_SECONDS = 2;

interface Bounds {
  places: number;
  /** How much of one owner may wait, in the unit of the sizes that are given to `take`. */
  waitingPerOwner: number;
  waitingInAll: number;
}

interface Waiting {
  owner: string;
  size: number;
}

const tooMuch = () => unavailable("Too many large templates are being worked on.");
const sizeOf = (waiting: readonly Waiting[]) => waiting.reduce((sum, { size }) => sum + size, 0);

export class FairTurns {
  readonly #bounds: Bounds;
  readonly #turns: Turns;
  readonly #waiting = new Set<Waiting>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#turns = new Turns({ inAll: bounds.places, perOwner: 1, refusal: tooMuch });
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Runs the work when it is its owner's turn. Throws 429 where too much of the owner waits, 503 where too much does. */
  async take<T>(owner: string, size: number, work: () => Promise<T>): Promise<T> {
    this.#refuseTooMuch(owner, size);
    const release = this.#turns.tryTake(owner) ?? (await this.#turnOf({ owner, size }));
    try {
      return await work();
    } finally {
      release();
    }
  }

  #refuseTooMuch(owner: string, size: number): void {
    const waiting = [...this.#waiting];
    const own = waiting.filter((one) => one.owner === owner);
    if (sizeOf(own) + size > this.#bounds.waitingPerOwner) throw throttled(RETRY_SECONDS);
    if (sizeOf(waiting) + size > this.#bounds.waitingInAll) throw tooMuch();
  }

  async #turnOf(waiting: Waiting): Promise<Release> {
    this.#waiting.add(waiting);
    const release = await this.#turns.take(waiting.owner, Number.POSITIVE_INFINITY);
    this.#waiting.delete(waiting);
    return release;
  }
}
