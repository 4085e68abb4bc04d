/**
 * A company's mails per rolling hour (its plan's `smtp_per_hour`): tokens as a batch takes and gives them back, how much room
 * is left, and what a restart must count again.
 */
import { performance } from "node:perf_hooks";
import { query, queryOne } from "../../../models/database/db.ts";
import { config } from "../../lib/config.ts";
import { notFound } from "../../lib/errors.ts";
import { bucketMs, type Grant, hourWindow, type Limiter, tokenLifeMs, type Window } from "../../lib/limits/limiter.ts";
import type { MemoryLimiter } from "../../lib/limits/limiter-memory.ts";

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
  const { used, retryAfterMs } = await limiter.used(window);
  return {
    limit,
    used,
    room: limit === null ? null : Math.max(0, limit - used),
    retry_after_seconds: limit === null ? 0 : Math.ceil((retryAfterMs || window.windowMs) / 1_000),
  };
}

// Only campaigns that were touched within the window, only companies with a limit: at most what the limits allow.
const SENT = `
  select c.company_id, p.smtp_per_hour, floor(extract(epoch from e.sent_at) * 1000 / $2)::float8 as bucket,
    count(*)::int as n
  from campaigns c
  join companies co on co.id = c.company_id
  join plans p on p.name = co.plan and p.smtp_per_hour is not null
  join sent_emails e on e.campaign_id = c.id and e.company_id = c.company_id
    and e.sent_at > now() - $1 * interval '1 second'
  where c.updated_at > now() - $1 * interval '1 second' and ($3::uuid is null or c.company_id = $3)
  group by 1, 2, 3`;

function sentWithin(window: Window, companyId: string | null) {
  const width = bucketMs(window);
  // A bucket counts until the whole of it is older than the window, so one more of them is needed.
  const values = [(window.windowMs + width) / 1_000, width, companyId];
  return query<{ company_id: string; smtp_per_hour: number; bucket: number; n: number }>(SENT, values);
}

/** A restart forgets what the limiter of the process had counted: it is counted again from the rows. */
export async function rememberHours(limiter: MemoryLimiter): Promise<void> {
  const seconds = config().LIMIT_WINDOW_SECONDS;
  const window = hourWindow("", null, seconds);
  for (const { company_id, smtp_per_hour, bucket, n } of await sentWithin(window, null)) {
    limiter.remember(hourWindow(company_id, smtp_per_hour, seconds), bucket * bucketMs(window), n);
  }
}

/**
 * The same for a Redis without its data, one company at a time. What is under way at this moment is missing: no more than
 * senders hold in doubt.
 */
export async function sentInHour(window: Window): Promise<[bucket: number, n: number][]> {
  const rows = await sentWithin(window, window.key.slice("hour:".length));
  return rows.map(({ bucket, n }) => [bucket, n]);
}
