/**
 * The rate that a server allows and does not state, learnt from its refusals: what it accepted from one pause for "too many"
 * to the next, pauses included, is what it allows. Mails are paced by that, and the rate is raised again little by little,
 * so that a limit which was lifted, or misread, is forgotten. Pure: the clock is given, in milliseconds.
 */
const SPEAKS_OF_RATE = /\brate\b|too (?:many|much|fast)|\blimit|exceed|throttl|slow down|\bquota\b/i;

/** Slower than this, pauses alone do the work: a rate that was misread must not stop a campaign. */
const MIN_PER_SECOND = 1;
const RAISE_AFTER_MS = 20_000;
const RAISE_FACTOR = 1.25;
const MAX_PER_SECOND = 500;

export class LearnedRate {
  #perSecond: number | undefined;
  #accepted = 0;
  #pausedAt: number | undefined;
  #raisedAt = 0;
  #nextAt = 0;

  /** Undefined: none is known. */
  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  accepted(): void {
    this.#accepted++;
  }

  /** The server is paused for this refusal. */
  paused(text: string, nowMs: number): void {
    if (!SPEAKS_OF_RATE.test(text)) {
      this.#pausedAt = undefined;
      return;
    }
    // A pause without anything accepted since the last one belongs to that one.
    if (this.#pausedAt !== undefined && this.#accepted === 0) return;
    if (this.#pausedAt !== undefined) {
      const rate = (this.#accepted * 1_000) / Math.max(1, nowMs - this.#pausedAt);
      this.#perSecond = Math.min(MAX_PER_SECOND, Math.max(MIN_PER_SECOND, rate));
      this.#raisedAt = nowMs;
    }
    this.#pausedAt = nowMs;
    this.#accepted = 0;
  }

  /** Milliseconds until the next mail may go. */
  waitMs(nowMs: number): number {
    if (this.#perSecond === undefined) return 0;
    if (nowMs - this.#raisedAt > RAISE_AFTER_MS) {
      this.#raisedAt = nowMs;
      this.#perSecond *= RAISE_FACTOR;
      if (this.#perSecond > MAX_PER_SECOND) this.#perSecond = undefined;
    }
    return this.#perSecond === undefined ? 0 : Math.max(0, this.#nextAt - nowMs);
  }

  /** A mail went: the next one waits for its turn. */
  sent(nowMs: number): void {
    if (this.#perSecond !== undefined) this.#nextAt = nowMs + 1_000 / this.#perSecond;
  }
}
