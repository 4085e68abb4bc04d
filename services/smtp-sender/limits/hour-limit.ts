/**
 * A company's mails per rolling hour (its plan's `smtp_per_hour`): tokens as a batch takes and gives them back, and how much
 * room is left.
 */
import { performance } from "node:perf_hooks";
import { queryOne } from "../../../models/database/db.ts";
import { config } from "../../lib/config.ts";
import { notFound } from "../../lib/errors.ts";
import { type Grant, hourWindow, type Limiter, tokenLifeMs, type Window } from "../../lib/limits/limiter.ts";

export interface HourToken {
  bucket: number;
  /** By the monotonic clock; undefined where the hour has no limit and a token never expires. */
  until: number | undefined;
}

/** A company's hour, as a batch uses it. */
export interface HourTokens {
  take(n: number): Promise<Grant>;
  /** The token of each mail of a grant. */
  tokenOf(grant: Grant): HourToken;
  give(token: HourToken, n?: number): Promise<void>;
  /** With half of its life left, the body of its mail will be written in time. */
  isFresh(token: HourToken): boolean;
  isValid(token: HourToken): boolean;
}

/** For mails that count in no hour: retried copies, as those that go out behind their mail. */
export const UNCOUNTED: HourTokens = {
  take: async (n) => ({ granted: n, used: 0, bucket: 0, retryAfterMs: 0 }),
  tokenOf: ({ bucket }) => ({ bucket, until: undefined }),
  give: async () => {},
  isFresh: () => true,
  isValid: () => true,
};

export class HourLimit implements HourTokens {
  readonly #limiter: Limiter;
  readonly #window: Window;
  readonly #lifeMs: number;

  constructor(
    limiter: Limiter,
    { company_id, smtp_per_hour }: { company_id: string; smtp_per_hour: number | null },
    windowSeconds: number,
  ) {
    this.#limiter = limiter;
    this.#window = hourWindow(company_id, smtp_per_hour, windowSeconds);
    this.#lifeMs = tokenLifeMs(windowSeconds);
  }

  take(n: number): Promise<Grant> {
    return this.#limiter.take(this.#window, n);
  }

  tokenOf({ bucket }: Grant): HourToken {
    return { bucket, until: this.#window.limit === null ? undefined : performance.now() + this.#lifeMs };
  }

  async give({ bucket }: HourToken, n = 1): Promise<void> {
    // Tokens that cannot be given back expire by themselves.
    await this.#limiter.give(this.#window, bucket, n).catch(() => {});
  }

  isFresh({ until }: HourToken): boolean {
    return until === undefined || until - performance.now() > this.#lifeMs / 2;
  }

  isValid({ until }: HourToken): boolean {
    return until === undefined || performance.now() < until;
  }
}

/** What the company may still send within the rolling hour. */
export async function hourRoom(companyId: string, limiter: Limiter) {
  const plan = await queryOne<{ smtp_per_hour: number | null }>(
    "select p.smtp_per_hour from companies c join plans p on p.name = c.plan where c.id = $1",
    [companyId],
  );
  if (!plan) throw notFound();
  const limit = plan.smtp_per_hour;
  const window = hourWindow(companyId, limit, config().LIMIT_WINDOW_SECONDS);
  const { used, retryAfterMs } = await limiter.used(window).catch((error) => {
    // Nobody counts while Redis is away, and a company without a limit need not know.
    if (limit !== null) throw error;
    return { used: 0, retryAfterMs: 0 };
  });
  return {
    limit,
    used,
    room: limit === null ? null : Math.max(0, limit - used),
    retry_after_seconds: limit === null ? 0 : Math.ceil((retryAfterMs || window.windowMs) / 1_000),
  };
}
