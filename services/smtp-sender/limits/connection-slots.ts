/** The right to have one more connection to a server, counted over all nodes. */
export interface Slots {
  /** What gives the slot back, or undefined when all `max` are taken, or this node has its part of them. */
  take(max: number): Promise<(() => void) | undefined>;
  /** How many of `max` this node may have, as long as other nodes want some too. Who has more gives them back. */
  part(max: number): number;
}

export class LocalSlots implements Slots {
  #taken = 0;

  part(): number {
    return Number.POSITIVE_INFINITY;
  }

  async take(max: number): Promise<(() => void) | undefined> {
    if (this.#taken >= max) return undefined;
    this.#taken++;
    let given = false;
    return () => {
      if (!given) this.#taken--;
      given = true;
    };
  }
}
