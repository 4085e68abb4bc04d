/** The throttles of spec section 8, per address. With a proxy of a big mailbox provider, an address is many people. */

import { throttled } from "../lib/errors.ts";
import { apiLimiter } from "../lib/limits/api-limiter.ts";
import { exactWindow, type Grant } from "../lib/limits/limiter.ts";
import { addressBlock } from "./client-ip.ts";
import type { Exchange } from "./exchange.ts";
import type { Route } from "./routes.ts";

const WINDOW_SECONDS = 60;
const LIMITS = { auth: 5, subscribe: 3, tracking: 60 } as const;

type Throttle = NonNullable<Route["throttle"]>;

/** Gmail's and Yahoo's image proxies name themselves; Apple's prefetch says this much and no more. */
const isImageProxy = (userAgent: string) =>
  userAgent === "Mozilla/5.0" || /GoogleImageProxy|YahooMailProxy/.test(userAgent);

function take(exchange: Exchange, name: Throttle): Promise<Grant> {
  const perMessage = name === "tracking" && isImageProxy(exchange.get("user-agent"));
  const who = `${addressBlock(exchange.state.ip)}${perMessage ? `:${exchange.params.token}` : ""}`;
  return apiLimiter().take(exactWindow(`throttle-${name}:${who}`, LIMITS[name], WINDOW_SECONDS), 1);
}

/** Throws the 429, or returns true for a click that may go on but must not count. */
export async function isOverLimit(exchange: Exchange, { throttle, answer }: Route): Promise<boolean> {
  if (!throttle) return false;
  const { granted, retryAfterMs } = await take(exchange, throttle);
  if (granted === 0 && answer !== "redirect") throw throttled(Math.ceil(retryAfterMs / 1_000));
  return granted === 0;
}
