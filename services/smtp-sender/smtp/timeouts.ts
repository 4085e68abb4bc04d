/** Defines the time-outs of an SMTP session, one per stage, and the timer that enforces them. */
import { performance } from "node:perf_hooks";

/** Maximum time of each reply in milliseconds; `block`: for one slice of the message to be sent. */
export interface StageTimeouts {
  rset: number;
  mail: number;
  rcpt: number;
  data: number;
  block: number;
  endOfData: number;
  emptyData: number;
  noop: number;
  quit: number;
}

const MINUTE_MS = 60_000;

/**
 * RFC 5321 section 4.5.3.2. Shorter time-outs would send mail twice: a server that is slow to store a message has
 * accepted it all the same.
 */
export const RFC_TIMEOUTS: StageTimeouts = {
  rset: 5 * MINUTE_MS,
  mail: 5 * MINUTE_MS,
  rcpt: 5 * MINUTE_MS,
  data: 2 * MINUTE_MS,
  block: 3 * MINUTE_MS,
  endOfData: 10 * MINUTE_MS,
  emptyData: 10 * MINUTE_MS,
  // No mail waits for this reply: a connection that does not give it is replaced.
  noop: 5_000,
  // The reply to QUIT is not needed.
  quit: 2_000,
};

/** A time-out that moves with every reply. One slow timer checks it, so that no timer is armed per message. */
export class Deadline {
  #tickMs: number;
  #onPassed: () => void;
  #at = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** `tickMs`: the shortest time-out ever set. */
  constructor(tickMs: number, onPassed: () => void) {
    this.#tickMs = tickMs;
    this.#onPassed = onPassed;
  }

  set(ms: number): void {
    this.#at = performance.now() + ms;
    this.#timer ??= setTimeout(() => this.#check(), this.#tickMs);
  }

  unset(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }

  clear(): void {
    this.unset();
    clearTimeout(this.#timer);
  }

  #check(): void {
    this.#timer = undefined;
    const remainingMs = this.#at - performance.now();
    if (remainingMs === Number.POSITIVE_INFINITY) return;
    if (remainingMs > 0) this.#timer = setTimeout(() => this.#check(), Math.min(remainingMs, this.#tickMs));
    else this.#onPassed();
  }
}
