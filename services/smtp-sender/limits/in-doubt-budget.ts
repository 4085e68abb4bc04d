/**
 * Enforces MAX_IN_DOUBT: the recipients that a process may have marked without a recorded result, and which a crash can
 * put in doubt. The budget is shared by demand, so that fast servers get most of it:
 *
 * - a server's share follows its throughput (Preparation.#allowance);
 * - slow servers share at most half;
 * - a tenth is reserved for transactional mail, which never waits for newsletters;
 * - emails that are marked together with the results of others may reuse their budget before it is returned;
 * - a refused client is served before one that holds more than its fair share.
 */
export interface BudgetClient {
  held: number;
  /** Estimated memory of one email. */
  mailBytes: number;
  slow: boolean;
  /** Called after a refusal when budget was returned. */
  budgetReturned(): void;
}

export class InDoubtBudget {
  readonly total: number;
  #free: number;
  #slowHeld = 0;
  #refused = new Set<BudgetClient>();
  #clients = new Set<BudgetClient>();
  #serving = false;

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  /** Exceeds `total` by `promised` units, until their results are written. */
  get held(): number {
    return this.total - this.#free;
  }

  /** Estimated memory of all held emails. */
  get bytes(): number {
    let bytes = 0;
    for (const { held, mailBytes } of this.#clients) bytes += held * mailBytes;
    return bytes;
  }

  #allowed(client: BudgetClient, transactional: boolean, promised: number): number {
    const reserve = transactional ? 0 : Math.floor(this.total / 10);
    let allowed = this.#free + Math.min(promised, this.total) - reserve;
    if (client.slow) allowed = Math.min(allowed, Math.max(1, Math.floor(this.total / 2)) - this.#slowHeld);
    const othersWait = this.#refused.size > (this.#refused.has(client) ? 1 : 0);
    if (othersWait) {
      const fairShare = Math.max(1, Math.floor(this.total / (this.#clients.size + this.#refused.size)));
      allowed = Math.min(allowed, fairShare - client.held);
    }
    return allowed;
  }

  /** Takes 0 to `wanted` units. `promised`: units that are returned no later than these are marked. */
  take(client: BudgetClient, wanted: number, transactional: boolean, promised = 0): number {
    const granted = Math.max(0, Math.min(wanted, this.#allowed(client, transactional, promised)));
    if (granted === 0) {
      this.#refused.add(client);
      return 0;
    }
    this.#refused.delete(client);
    this.#clients.add(client);
    this.#free -= granted;
    client.held += granted;
    if (client.slow) this.#slowHeld += granted;
    return granted;
  }

  giveBack(client: BudgetClient, n: number): void {
    if (n === 0) return;
    this.#free += n;
    client.held -= n;
    if (client.slow) this.#slowHeld -= n;
    if (client.held === 0) this.#clients.delete(client);
    if (this.#refused.size === 0 || this.#serving) return;
    this.#serving = true;
    // Runs once for everything returned in one step.
    queueMicrotask(() => this.#serveRefused());
  }

  #serveRefused(): void {
    this.#serving = false;
    const waiting = [...this.#refused];
    this.#refused.clear();
    for (const one of waiting) one.budgetReturned();
  }

  /** Counts the client's units as slow from now on, or no longer. */
  setSlow(client: BudgetClient, slow: boolean): void {
    if (client.slow === slow) return;
    client.slow = slow;
    this.#slowHeld += slow ? client.held : -client.held;
  }

  forget(client: BudgetClient): void {
    this.#refused.delete(client);
  }
}
