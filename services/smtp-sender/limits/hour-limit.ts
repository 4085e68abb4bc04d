/**
 * Enforces a company's emails per rolling hour (its plan's `smtp_per_hour`): tokens that batches take and return, and
 * the remaining capacity. A recipient needs one token for the email and one for each copy (cc, bcc), all or none,
 * because copies follow their mail at once.
 */
import { performance } from "node:perf_hooks";
import { queryOne } from "../../../models/database/db.ts";
import { config } from "../../lib/config.ts";
import { notFound } from "../../lib/errors.ts";
import { hourWindow, type Limiter, tokenLifeMs, type Window } from "../../lib/limits/limiter.ts";

/** A day of a warm-up: its date, and its number among the days with mail, from 1. */
export interface Day {
  /** Date as YYYY-MM-DD. */
  date: string;
  step: number;
}

/** A recipient's token of the daily limit (day-tokens.ts). */
interface DayToken {
  day: Day;
  mails: number;
  /** Expiry by the monotonic clock. */
  until: number;
}

/** A recipient's token of the hourly limit. */
export interface HourToken {
  bucket: number;
  mails: number;
  /** Expiry by the monotonic clock; undefined if the hour has no limit and the token never expires. */
  until: number | undefined;
  /** Present during the configuration's warm-up. */
  ofDay?: DayToken;
}

export interface HourGrant {
  /** Tokens for the first recipients, as many as are available. */
  tokens: HourToken[];
  /** Time until more tokens may be available; 0 if all were granted. */
  retryAfterMs: number;
  /** The daily limit of the configuration is reached, not the hourly one. */
  waitsForDay?: boolean;
}

/** The hourly limit as a batch uses it. */
export interface HourTokens {
  /** Takes tokens for recipients with the given numbers of emails, in order. */
  take(mails: readonly number[]): Promise<HourGrant>;
  giveBack(...tokens: readonly HourToken[]): Promise<void>;
  /** Returns whether at least half of the token's life is left, enough to write the body in time. */
  isFresh(token: HourToken): boolean;
  isValid(token: HourToken): boolean;
}

/** Tokens for emails that are not counted: retried copies, like copies that follow their mail. */
export const UNCOUNTED: HourTokens = {
  take: async (mails) => ({ tokens: mails.map(() => ({ bucket: 0, mails: 0, until: undefined })), retryAfterMs: 0 }),
  giveBack: async () => {},
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

  async take(mails: readonly number[]): Promise<HourGrant> {
    // An email with more copies than a whole hour allows takes the full hour, because it would otherwise wait forever.
    const maxMails = this.#window.limit === null ? Number.POSITIVE_INFINITY : Math.max(1, this.#window.limit);
    const wanted = mails.map((n) => Math.min(n, maxMails));
    const all = wanted.reduce((sum, n) => sum + n, 0);
    const askedMs = performance.now();
    const { granted, bucket, retryAfterMs } = await this.#limiter.take(this.#window, all);
    const until = this.#window.limit === null ? undefined : askedMs + this.#lifeMs;
    const tokens: HourToken[] = [];
    let remaining = granted;
    for (const n of wanted) {
      if (n > remaining) break;
      remaining -= n;
      tokens.push({ bucket, mails: n, until });
    }
    if (remaining > 0) await this.giveBack({ bucket, mails: remaining, until });
    return { tokens, retryAfterMs };
  }

  /** All are from one bucket. */
  async giveBack(...tokens: readonly HourToken[]): Promise<void> {
    const n = tokens.reduce((sum, { mails }) => sum + mails, 0);
    // Tokens that cannot be given back expire by themselves.
    if (n > 0) await this.#limiter.giveBack(this.#window, tokens[0]!.bucket, n).catch(() => {});
  }

  isFresh({ until }: HourToken): boolean {
    return until === undefined || until - performance.now() > this.#lifeMs / 2;
  }

  isValid({ until }: HourToken): boolean {
    return until === undefined || performance.now() < until;
  }
}

/** Number of emails the company may still send within the rolling hour. */
export async function hourRoom(companyId: string, limiter: Limiter) {
  const plan = await queryOne<{ smtp_per_hour: number | null }>(
    "select p.smtp_per_hour from companies c join plans p on p.name = c.plan where c.id = $1",
    [companyId],
  );
  if (!plan) throw notFound();
  const limit = plan.smtp_per_hour;
  const window = hourWindow(companyId, limit, config().LIMIT_WINDOW_SECONDS);
  const { used, retryAfterMs } = await limiter.used(window).catch((error) => {
    // Nothing is counted while Redis is unavailable; a company without a limit needs no count.
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
