/**
 * The recipients that a process may have marked and not yet recorded: what a crash can leave in doubt. Shared by demand,
 * so that the fast servers get most of it and a slow or hung one holds little:
 *
 * - what a relay may hold at once follows what it gets done (Relay.window);
 * - relays that answer slowly share at most half of it;
 * - a tenth stays free of bulk, so that transactional mail never waits for it;
 * - who gets nothing is served first when something comes back, before a relay that holds more than its part.
 */
export interface BudgetClient {
  held: number;
  /** About what one mail takes of the memory. */
  mailBytes: number;
  slow: boolean;
  /** Called when something came back after it was refused. */
  retry(): void;
}

export class InDoubtBudget {
  readonly total: number;
  #free: number;
  #slowHeld = 0;
  #refused = new Set<BudgetClient>();
  #holders = new Set<BudgetClient>();

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  get held(): number {
    return this.total - this.#free;
  }

  /** About what all that is held takes. */
  get bytes(): number {
    let bytes = 0;
    for (const { held, mailBytes } of this.#holders) bytes += held * mailBytes;
    return bytes;
  }

  #allowed(holder: BudgetClient, transactional: boolean): number {
    const reserve = transactional ? 0 : Math.floor(this.total / 10);
    let allowed = this.#free - reserve;
    if (holder.slow) allowed = Math.min(allowed, Math.max(1, Math.floor(this.total / 2)) - this.#slowHeld);
    const othersWait = this.#refused.size > (this.#refused.has(holder) ? 1 : 0);
    if (othersWait) {
      const part = Math.max(1, Math.floor(this.total / (this.#holders.size + this.#refused.size)));
      allowed = Math.min(allowed, part - holder.held);
    }
    return allowed;
  }

  /** 0 to `wanted`. */
  take(holder: BudgetClient, wanted: number, transactional: boolean): number {
    const granted = Math.max(0, Math.min(wanted, this.#allowed(holder, transactional)));
    if (granted === 0) {
      this.#refused.add(holder);
      return 0;
    }
    this.#refused.delete(holder);
    this.#holders.add(holder);
    this.#free -= granted;
    holder.held += granted;
    if (holder.slow) this.#slowHeld += granted;
    return granted;
  }

  give(holder: BudgetClient, n: number): void {
    if (n === 0) return;
    this.#free += n;
    holder.held -= n;
    if (holder.slow) this.#slowHeld -= n;
    if (holder.held === 0) this.#holders.delete(holder);
    if (this.#refused.size === 0) return;
    const waiting = [...this.#refused];
    this.#refused.clear();
    for (const one of waiting) one.retry();
  }

  /** A relay became slow or quick: what it holds counts on the other side now. */
  setSlow(holder: BudgetClient, slow: boolean): void {
    if (holder.slow === slow) return;
    holder.slow = slow;
    this.#slowHeld += slow ? holder.held : -holder.held;
  }

  forget(holder: BudgetClient): void {
    this.#refused.delete(holder);
  }
}
