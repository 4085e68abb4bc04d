/**
 * When mails that found no room for their domain are looked at again. Those of the next two minutes come one after the other,
 * at the distance that the limit allows: each is claimed when it may go, and not before. What is behind them comes back
 * at random within two minutes, or later where it is so much that the looks themselves would cost too much; so a limit
 * that is lifted or raised is noticed soon, however long the backlog is. Pure: clock and chance are given.
 *
 * A node knows the order of its own alone. Where several postpone mails of one domain, some come too early and go to the
 * end again.
 */
const AHEAD_MS = 120_000;
const MAX_AHEAD_MS = 1_800_000;
/** A look is a claim and a result, two updates of a row. */
const LOOKS_PER_SECOND = 100;

export class DomainBacklog {
  /** When the last one that has its time may go. */
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #periodBeganMs = Number.NEGATIVE_INFINITY;
  /** Postponed without a time of their own, in this period and in the one before. */
  #behind = 0;
  #behindBefore = 0;

  /**
   * Milliseconds until one more mail is looked at. `roomInMs`: until there may be room again; `intervalMs`: from one mail to
   * the next.
   */
  postpone(nowMs: number, roomInMs: number, intervalMs: number, random: () => number = Math.random): number {
    const atMs = Math.max(nowMs + roomInMs, this.#lastAtMs + intervalMs);
    if (atMs - nowMs <= Math.max(AHEAD_MS, roomInMs)) {
      this.#lastAtMs = atMs;
      return Math.ceil(atMs - nowMs);
    }
    return Math.ceil(this.#aheadMs(nowMs) * (0.5 + random() / 2));
  }

  #aheadMs(nowMs: number): number {
    const perMail = 1_000 / LOOKS_PER_SECOND;
    const wanted = Math.max(this.#behind, this.#behindBefore) * perMail;
    const aheadMs = Math.min(MAX_AHEAD_MS, Math.max(AHEAD_MS, wanted));
    if (nowMs - this.#periodBeganMs > aheadMs) {
      this.#behindBefore = this.#behind;
      this.#behind = 0;
      this.#periodBeganMs = nowMs;
    }
    this.#behind++;
    return aheadMs;
  }
}
