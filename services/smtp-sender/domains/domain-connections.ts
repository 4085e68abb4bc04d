/**
 * `max_connections` of a recipient domain: its mails in the hands of connections, over all nodes, counted as the
 * connections of an SMTP configuration are (limits/connection-slots.ts). A slot is kept from one mail to the next while
 * more wait.
 */
import type { ConnectionSlots } from "../limits/connection-slots.ts";

/** No slot, or nobody knows. */
const ASK_AGAIN_MS = 500;
/** Mails that are ready for a slot: a quarter of a second of them, and a few where that is less. */
const READY_MS = 250;
const MAX_READY = 20;
/** How much the last transaction counts in the mean. */
const WEIGHT = 0.1;

interface Options {
  slots(hasWork: () => boolean): ConnectionSlots;
  /** A slot is free. */
  wake(): void;
  reportOutage(error: Error): void;
}

export class DomainConnections {
  max = 1;
  /** Prepared, and in nobody's hands. */
  ready = 0;
  #options: Options;
  #slots: ConnectionSlots;
  /** Each gives a slot back that nobody uses now. */
  #free: (() => void)[] = [];
  #used: (() => void)[] = [];
  #asking = false;
  #meanMs = 100;

  constructor(options: Options) {
    this.#options = options;
    this.#slots = options.slots(() => this.ready + this.#used.length > 0);
  }

  /** From one mail to the next. */
  get intervalMs(): number {
    return this.#meanMs / this.max;
  }

  /** How many more mails may be prepared. */
  get room(): number {
    const wanted = Math.min(MAX_READY, Math.max(2 * this.max, Math.ceil(READY_MS / this.intervalMs)));
    return Math.max(0, wanted - this.ready);
  }

  get idle(): boolean {
    return this.ready + this.#used.length + this.#free.length === 0 && !this.#asking;
  }

  /** Whether a mail may be handed over now; where not, `wake` is called later. */
  isFree(): boolean {
    if (this.#free.length > 0) return this.#used.length < this.max;
    if (!this.#asking && this.#used.length < this.max) void this.#ask();
    return false;
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    let pauseMs = ASK_AGAIN_MS;
    try {
      const free = await this.#slots.take(this.max);
      if (free) this.#free.push(free);
      if (free) pauseMs = 0;
    } catch (error) {
      this.#options.reportOutage(error as Error);
    }
    if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs).unref());
    this.#asking = false;
    this.#options.wake();
  }

  /** A mail is handed over, after `isFree`. */
  begin(): void {
    this.ready--;
    this.#used.push(this.#free.pop()!);
  }

  /** Its transaction is over. */
  end(ms: number): void {
    this.#meanMs += WEIGHT * (ms - this.#meanMs);
    const slot = this.#used.pop()!;
    const held = this.#used.length + this.#free.length;
    if (this.ready === 0 || held >= Math.min(this.max, this.#slots.fairShare(this.max))) slot();
    else this.#free.push(slot);
  }

  /** Called a few times a second. */
  tick(): void {
    if (this.ready === 0) this.giveBack();
  }

  giveBack(): void {
    for (const slot of this.#free.splice(0)) slot();
  }
}
