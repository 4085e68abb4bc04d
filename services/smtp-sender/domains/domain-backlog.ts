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
/** Where the limit may end soon: a few seconds of many looks cost less than minutes in which a free domain gets nothing. */
const LOOKS_PER_SECOND_NEAR_END = 1_000;

export class DomainBacklog {
  /** When the last one that has its time may go. */
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #periodBeganMs = Number.NEGATIVE_INFINITY;
  /** Postponed without a time of their own, in this period and in the one before. */
  #behind = 0;
  #behindBefore = 0;

  /**
   * Milliseconds until one more mail is looked at. `roomInMs`: until there may be room again; `intervalMs`: from one mail to
   * the next; `endsInMs`: until the limit may be over, where it is known. What is behind comes back soon after that.
   */
  postpone(
    nowMs: number,
    { roomInMs, intervalMs, endsInMs }: { roomInMs: number; intervalMs: number; endsInMs?: number | undefined },
    random: () => number = Math.random,
  ): number {
    const aheadMs = endsInMs === undefined ? AHEAD_MS : Math.min(AHEAD_MS, 2 * endsInMs);
    const atMs = Math.max(nowMs + roomInMs, this.#lastAtMs + intervalMs);
    if (atMs - nowMs <= Math.max(aheadMs, roomInMs)) {
      this.#lastAtMs = atMs;
      return Math.ceil(atMs - nowMs);
    }
    const perSecond = endsInMs === undefined ? LOOKS_PER_SECOND : LOOKS_PER_SECOND_NEAR_END;
    return Math.ceil(this.#behindMs(nowMs, aheadMs, perSecond) * (0.5 + random() / 2));
  }

  /** In which time all are looked at that have none of their own. */
  #behindMs(nowMs: number, leastMs: number, perSecond: number): number {
    const wanted = (Math.max(this.#behind, this.#behindBefore) * 1_000) / perSecond;
    const aheadMs = Math.min(MAX_AHEAD_MS, Math.max(leastMs, wanted));
    if (nowMs - this.#periodBeganMs > aheadMs) {
      this.#behindBefore = this.#behind;
      this.#behind = 0;
      this.#periodBeganMs = nowMs;
    }
    this.#behind++;
    return aheadMs;
  }
}
