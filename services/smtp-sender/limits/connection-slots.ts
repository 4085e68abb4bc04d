/** The right to have one more connection to a server, counted over all nodes. */
export interface ConnectionSlots {
  /** What gives the slot back, or undefined when all `max` are taken, or this node has its part of them. */
  take(max: number): Promise<(() => void) | undefined>;
  /** How many of `max` this node may have, as long as other nodes want some too. Who has more gives them back. */
  fairShare(max: number): number;
}

export class LocalConnectionSlots implements ConnectionSlots {
  #taken = 0;

  fairShare(): number {
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
