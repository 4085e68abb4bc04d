/**
 * When mails that found no room for their domain are tried again. Those of the next minute follow one another at the
 * distance that the limit allows: each is claimed when it may go, and not before. All behind them are tried again one
 * after the other from a minute on, so that a limit that is lifted or raised is noticed soon, and a long backlog costs
 * few claims a second. Pure: the clock is given.
 *
 * A node knows the order of its own mails only. Where several postpone mails of one domain, some are tried too early and
 * postponed again.
 */
const AHEAD_MS = 60_000;
const MAX_BEHIND_MS = 1_800_000;
/** From one claim to the next. Each costs two updates of a row. */
const CLAIM_MS = 10;

export class DomainBacklog {
  /** When the last mail with a time of its own may go. */
  #lastAtMs = Number.NEGATIVE_INFINITY;
  /** When the last mail behind those is tried again. */
  #behindAtMs = Number.NEGATIVE_INFINITY;

  /** Milliseconds until one more mail is tried. `roomInMs`: until there may be room; `intervalMs`: from one mail to the next. */
  postpone(nowMs: number, { roomInMs, intervalMs }: { roomInMs: number; intervalMs: number }): number {
    const atMs = Math.max(nowMs + roomInMs, this.#lastAtMs + intervalMs);
    if (atMs - nowMs <= Math.max(AHEAD_MS, roomInMs)) {
      this.#lastAtMs = atMs;
      return Math.ceil(atMs - nowMs);
    }
    this.#behindAtMs = Math.max(nowMs + AHEAD_MS, this.#behindAtMs + CLAIM_MS);
    if (this.#behindAtMs > nowMs + MAX_BEHIND_MS) this.#behindAtMs = nowMs + AHEAD_MS;
    return Math.ceil(this.#behindAtMs - nowMs);
  }
}
