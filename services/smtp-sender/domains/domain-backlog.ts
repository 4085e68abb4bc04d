/**
 * Decides when postponed emails of a throttled domain are retried. Emails of the next minute are spaced by the limit's
 * interval, and each is claimed when it may be sent. Later emails are retried one after another from a minute on, so
 * that a raised limit is noticed soon while a long backlog causes few claims. Pure: the clock is passed in.
 *
 * A node knows only the order of its own emails. If several nodes postpone emails of one domain, some are retried too
 * early and postponed again.
 */
const AHEAD_MS = 60_000;
const MAX_BEHIND_MS = 1_800_000;
/** Interval between claims. Each costs two updates of a row. */
const CLAIM_MS = 10;

export class DomainBacklog {
  /** Time of the last email with its own slot. */
  #lastAtMs = Number.NEGATIVE_INFINITY;
  /** Retry time of the last email after those. */
  #behindAtMs = Number.NEGATIVE_INFINITY;

  /**
   * Delay in ms until one more mail is tried. `tokenInMs`: until a token may be available; `intervalMs`: between two
   * emails.
   */
  postpone(nowMs: number, { tokenInMs, intervalMs }: { tokenInMs: number; intervalMs: number }): number {
    const atMs = Math.max(nowMs + tokenInMs, this.#lastAtMs + intervalMs);
    if (atMs - nowMs <= Math.max(AHEAD_MS, tokenInMs)) {
      this.#lastAtMs = atMs;
      return Math.ceil(atMs - nowMs);
    }
    this.#behindAtMs = Math.max(nowMs + AHEAD_MS, this.#behindAtMs + CLAIM_MS);
    if (this.#behindAtMs > nowMs + MAX_BEHIND_MS) this.#behindAtMs = nowMs + AHEAD_MS;
    return Math.ceil(this.#behindAtMs - nowMs);
  }
}
