/**
 * A company's mails per rolling hour (its plan's `smtp_per_hour`): tokens as a batch takes and gives them back, and how
 * much room is left. A recipient takes one for the mail and one for each of its copies (cc, bcc), all at once or none:
 * the copies go out right behind their mail.
 */
import { performance } from "node:perf_hooks";
import { queryOne } from "../../../models/database/db.ts";
import { config } from "../../lib/config.ts";
import { notFound } from "../../lib/errors.ts";
import { hourWindow, type Limiter, tokenLifeMs, type Window } from "../../lib/limits/limiter.ts";

/** A day of a warm-up: its date, and its number among those with mail, from 1. */
export interface Day {
  /** As YYYY-MM-DD. */
  date: string;
  step: number;
}

/** The room that one recipient has in a day of an SMTP configuration (day-tokens.ts). */
interface DayToken {
  day: Day;
  mails: number;
  /** By the monotonic clock. */
  until: number;
}

/** The room that one recipient has in the hour. */
export interface HourToken {
  bucket: number;
  mails: number;
  /** By the monotonic clock; undefined where the hour has no limit and a token never expires. */
  until: number | undefined;
  /** While the SMTP configuration is warmed up. */
  ofDay?: DayToken;
}

export interface HourGrant {
  /** Of the first recipients that were asked for, as many as there is room for. */
  tokens: HourToken[];
  /** Until there may be more room; 0 when all were granted. */
  retryAfterMs: number;
  /** It is the day of the SMTP configuration that has no room, not the hour. */
  waitsForDay?: boolean;
}

/** A company's hour, as a batch uses it. */
export interface HourTokens {
  /** For recipients with so many mails each, in their order. */
  take(mails: readonly number[]): Promise<HourGrant>;
  give(...tokens: readonly HourToken[]): Promise<void>;
  /** With half of its life left, the body of its mail will be written in time. */
  isFresh(token: HourToken): boolean;
  isValid(token: HourToken): boolean;
}

/** For mails that count in no hour: retried copies, as those that go out behind their mail. */
export const UNCOUNTED: HourTokens = {
  take: async (mails) => ({ tokens: mails.map(() => ({ bucket: 0, mails: 0, until: undefined })), retryAfterMs: 0 }),
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

  async take(mails: readonly number[]): Promise<HourGrant> {
    // A mail with more copies than the hour has room takes all of it: it would wait for ever otherwise.
    const most = this.#window.limit === null ? Number.POSITIVE_INFINITY : Math.max(1, this.#window.limit);
    const wanted = mails.map((n) => Math.min(n, most));
    const all = wanted.reduce((sum, n) => sum + n, 0);
    const askedMs = performance.now();
    const { granted, bucket, retryAfterMs } = await this.#limiter.take(this.#window, all);
    const until = this.#window.limit === null ? undefined : askedMs + this.#lifeMs;
    const tokens: HourToken[] = [];
    let left = granted;
    for (const n of wanted) {
      if (n > left) break;
      left -= n;
      tokens.push({ bucket, mails: n, until });
    }
    if (left > 0) await this.give({ bucket, mails: left, until });
    return { tokens, retryAfterMs };
  }

  /** All are of one bucket, or there is one. */
  async give(...tokens: readonly HourToken[]): Promise<void> {
    const n = tokens.reduce((sum, { mails }) => sum + mails, 0);
    // Tokens that cannot be given back expire by themselves.
    if (n > 0) await this.#limiter.give(this.#window, tokens[0]!.bucket, n).catch(() => {});
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
