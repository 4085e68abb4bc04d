/** Tokens of a company's hour, as a lane takes them for its mails and gives them back. */
import { performance } from "node:perf_hooks";
import { type Grant, hourWindow, type Limiter, tokenLifeMs, type Window } from "../../lib/limits/limiter.ts";
import type { ClaimableCampaign } from "../delivery/rows.ts";

export interface HourToken {
  bucket: number;
  /** By the monotonic clock; undefined where the hour has no limit and a token never gets old. */
  until: number | undefined;
}

export class HourLimit {
  readonly #limiter: Limiter;
  readonly #window: Window;
  readonly #lifeMs: number;

  constructor(limiter: Limiter, { company_id, smtp_per_hour }: ClaimableCampaign, windowSeconds: number) {
    this.#limiter = limiter;
    this.#window = hourWindow(company_id, smtp_per_hour, windowSeconds);
    this.#lifeMs = tokenLifeMs(windowSeconds);
  }

  take(n: number): Promise<Grant> {
    return this.#limiter.take(this.#window, n);
  }

  /** Each of the mails of a grant has one like this. */
  of({ bucket }: Grant): HourToken {
    return { bucket, until: this.#window.limit === null ? undefined : performance.now() + this.#lifeMs };
  }

  async give({ bucket }: HourToken, n = 1): Promise<void> {
    // Tokens that cannot be given back run out by themselves.
    await this.#limiter.give(this.#window, bucket, n).catch(() => {});
  }

  /** With half of its life left the body of its mail will be written in time. */
  isFresh({ until }: HourToken): boolean {
    return until === undefined || until - performance.now() > this.#lifeMs / 2;
  }

  isValid({ until }: HourToken): boolean {
    return until === undefined || performance.now() < until;
  }
}
