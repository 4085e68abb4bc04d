/** The right to have one more connection to a server, counted over all nodes. */
export interface Slots {
  /** What gives the slot back, or undefined when all `max` are taken. */
  take(max: number): Promise<(() => void) | undefined>;
}

export class LocalSlots implements Slots {
  #taken = 0;

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
