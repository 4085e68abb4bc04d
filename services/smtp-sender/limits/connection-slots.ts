/**
 * Defines slots for `max_connections` of an SMTP configuration: the right to one more connection, counted over all
 * nodes.
 */
export interface ConnectionSlots {
  /** Returns the function that releases the slot; undefined if all `max` are taken, or this node has its fair share. */
  take(max: number): Promise<(() => void) | undefined>;
  /** Fair share: how many of `max` this node may have while other nodes also want some. Nodes above it return slots. */
  fairShare(max: number): number;
}

/** Slots of a single node. */
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
