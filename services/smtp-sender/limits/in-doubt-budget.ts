/**
 * MAX_IN_DOUBT: the recipients that a process may have marked and not yet recorded, which is what a crash can leave in
 * doubt. Not a rate. Shared by demand, so that the fast servers get most of it and a slow or hung one holds little:
 *
 * - how much a server may hold at once follows its throughput (Preparation.#allowance);
 * - servers that answer slowly share at most half of it;
 * - a tenth is kept for transactional mail, which never waits for newsletters;
 * - what is marked in the database together with the results of others may have their place before it is returned;
 * - a client that gets nothing is served first when something is returned, before one that holds more than its fair
 *   share.
 */
export interface BudgetClient {
  held: number;
  /** Memory of one mail, about. */
  mailBytes: number;
  slow: boolean;
  /** Called when something was returned after it was refused. */
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

  /** More than `total` by what was taken in the place of others (`promised`), until their results are written. */
  get held(): number {
    return this.total - this.#free;
  }

  /** Memory of all that is held, about. */
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

  /** 0 to `wanted`. `promised`: what will be returned before, or in one statement with, the marks of what is taken. */
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

  give(client: BudgetClient, n: number): void {
    if (n === 0) return;
    this.#free += n;
    client.held -= n;
    if (client.slow) this.#slowHeld -= n;
    if (client.held === 0) this.#clients.delete(client);
    if (this.#refused.size === 0 || this.#serving) return;
    this.#serving = true;
    // Once for all that is given back in one step.
    queueMicrotask(() => this.#serveRefused());
  }

  #serveRefused(): void {
    this.#serving = false;
    const waiting = [...this.#refused];
    this.#refused.clear();
    for (const one of waiting) one.budgetReturned();
  }

  /** What it holds counts among the slow ones from now on, or no longer. */
  setSlow(client: BudgetClient, slow: boolean): void {
    if (client.slow === slow) return;
    client.slow = slow;
    this.#slowHeld += slow ? client.held : -client.held;
  }

  forget(client: BudgetClient): void {
    this.#refused.delete(client);
  }
}
