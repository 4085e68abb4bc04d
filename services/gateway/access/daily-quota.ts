/** Enforces the plan's daily API calls, counted per key, or per company for people. */
import type { call } from "../../call.ts";
import type { Caller } from "../../lib/caller.ts";
import { dailyQuotaExceeded } from "../../lib/errors.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { apiCallsToday, type Grant } from "../../lib/limits/limiter.ts";
import type { Context } from "../http/context.ts";
import { lookUp, lookUpCache } from "./look-up.ts";

type Broker = Parameters<typeof call>[0];

export class DailyQuota {
  readonly #broker: Broker;
  readonly #limits = lookUpCache<number | null>();

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** Counts one call and sets the headers with the remaining calls. Throws if none remain. */
  async charge(context: Context, caller: Caller): Promise<void> {
    const limit = await this.#limits.get(caller.companyId!, async () => {
      return (await lookUp(this.#broker, "accounts.planOf", {}, { meta: caller })).limits.api_calls_per_day;
    });
    const today = apiCallsToday(caller, limit);
    const counted = apiLimiter().take(today, 1);
    // Without a limit the count only shows in the plan's usage, so no request waits for it.
    if (limit === null) return void counted.catch(() => {});
    this.#hold(context, limit, await counted, today.windowMs);
  }

  #hold(context: Context, limit: number, { granted, used }: Grant, leftMs: number): void {
    const secondsLeft = Math.ceil(leftMs / 1_000);
    context.set("X-RateLimit-Limit", String(limit));
    context.set("X-RateLimit-Remaining", String(Math.max(0, limit - used)));
    context.set("X-RateLimit-Reset", String(Math.floor(Date.now() / 1_000) + secondsLeft));
    if (granted === 0) throw dailyQuotaExceeded(limit, limit, secondsLeft);
  }
}
