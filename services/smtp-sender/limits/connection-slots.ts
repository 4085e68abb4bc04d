/** `max_connections` of an SMTP configuration: the right to have one more connection, counted over all nodes. */
export interface ConnectionSlots {
  /** Returns what gives the slot back; undefined when all `max` are taken, or this node has its fair share of them. */
  take(max: number): Promise<(() => void) | undefined>;
  /** How many of `max` this node may have as long as other nodes want some too. Whoever has more gives them back. */
  fairShare(max: number): number;
}

/** For a node that is alone. */
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
