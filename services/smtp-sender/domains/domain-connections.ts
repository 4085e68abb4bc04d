/**
 * Enforces `max_connections` of a recipient domain: its emails held by connections, over all nodes, counted like the
 * connections of an SMTP configuration (limits/connection-slots.ts). A slot is kept for the next email while more wait.
 */
import type { ConnectionSlots } from "../limits/connection-slots.ts";

/** Pause after no slot was granted or the count is unavailable. */
const ASK_AGAIN_MS = 500;
/** Emails kept ready for a slot: 250 ms worth, with a minimum. */
const READY_MS = 250;
const MAX_READY = 20;
/** Weight of the last transaction in the moving average. */
const WEIGHT = 0.1;

interface Options {
  slots(hasWork: () => boolean): ConnectionSlots;
  /** Called when a slot is free. */
  wake(): void;
  reportOutage(error: Error): void;
}

export class DomainConnections {
  max = 1;
  /** Prepared emails that no connection holds. */
  ready = 0;
  #options: Options;
  #slots: ConnectionSlots;
  /** Functions that return unused slots. */
  #free: (() => void)[] = [];
  #used: (() => void)[] = [];
  #asking = false;
  #meanMs = 100;

  constructor(options: Options) {
    this.#options = options;
    this.#slots = options.slots(() => this.ready + this.#used.length > 0);
  }

  /** Mean time between emails. */
  get intervalMs(): number {
    return this.#meanMs / this.max;
  }

  /** Number of emails that may still be prepared. */
  get capacity(): number {
    const capacity = Math.min(MAX_READY, Math.max(2 * this.max, Math.ceil(READY_MS / this.intervalMs)));
    return Math.max(0, capacity - this.ready);
  }

  get idle(): boolean {
    return this.ready + this.#used.length + this.#free.length === 0 && !this.#asking;
  }

  /** True if an email may be handed over now; otherwise `wake` is called later. */
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

  /** Called when an email is handed over, after `isFree`. */
  begin(): void {
    this.ready--;
    this.#used.push(this.#free.pop()!);
  }

  /** Called when the email's transaction ends. */
  end(ms: number): void {
    this.#meanMs += WEIGHT * (ms - this.#meanMs);
    const slot = this.#used.pop()!;
    const slotCount = this.#used.length + this.#free.length;
    if (this.ready === 0 || slotCount >= Math.min(this.max, this.#slots.fairShare(this.max))) slot();
    else this.#free.push(slot);
  }

  /** Called a few times per second. */
  tick(): void {
    if (this.ready === 0) this.giveBack();
  }

  giveBack(): void {
    for (const slot of this.#free.splice(0)) slot();
  }
}
