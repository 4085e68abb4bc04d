/** The plan's daily API calls: per key, or per company for people (spec section 8, "General API"). */

import { call } from "../call.ts";
import type { Caller } from "../lib/caller.ts";
import { dailyQuotaExceeded } from "../lib/errors.ts";
import { apiLimiter } from "../lib/limits/api-limiter.ts";
import { apiCallsToday } from "../lib/limits/limiter.ts";
import type { Exchange } from "./exchange.ts";
import { Remember } from "./remember.ts";

type Broker = Parameters<typeof call>[0];

const REMEMBER_MS = 1_000;
const REMEMBER_MAX = 10_000;
/** Everyone of a company waits for one answer: a lost call must not hold them long. */
const LOOK_UP_MS = 3_000;

export class DailyQuota {
  readonly #broker: Broker;
  readonly #limits = new Remember<number | null>(REMEMBER_MS, REMEMBER_MAX);

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** Counts one call and tells the caller where she stands; throws the 429 of spec 7.4. */
  async charge(exchange: Exchange, caller: Caller): Promise<void> {
    const limit = await this.#limits.get(caller.companyId!, async () => {
      return (await call(this.#broker, "accounts.planOf", {}, { meta: caller, timeout: LOOK_UP_MS })).limits
        .api_calls_per_day;
    });
    const today = apiCallsToday(caller, limit);
    const counted = apiLimiter().take(today, 1);
    // Nobody waits for a number that decides nothing; it still shows in the plan's usage.
    if (limit === null) return void counted.catch(() => {});

    const { granted, used } = await counted;
    const secondsLeft = Math.ceil(today.windowMs / 1_000);
    exchange.set("X-RateLimit-Limit", String(limit));
    exchange.set("X-RateLimit-Remaining", String(Math.max(0, limit - used)));
    exchange.set("X-RateLimit-Reset", String(Math.floor(Date.now() / 1_000) + secondsLeft));
    if (granted === 0) throw dailyQuotaExceeded(limit, limit, secondsLeft);
  }
}
