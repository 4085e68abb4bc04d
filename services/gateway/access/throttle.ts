/** Requests per minute and address on public routes. Behind a proxy of a large mailbox provider one address is many people. */
import { throttled } from "../../lib/errors.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { exactWindow, type Grant } from "../../lib/limits/limiter.ts";
import { addressBlock } from "../http/client-ip.ts";
import type { Context } from "../http/context.ts";
import type { Route } from "../routes.ts";

const WINDOW_SECONDS = 60;
const LIMITS = { auth: 5, link: 20, subscribe: 3, tracking: 60 } as const;

type Throttle = NonNullable<Route["throttle"]>;

/** Gmail's and Yahoo's image proxies name themselves; Apple's prefetch sends just this. */
const isImageProxy = (userAgent: string) =>
  userAgent === "Mozilla/5.0" || /GoogleImageProxy|YahooMailProxy/.test(userAgent);

function take(context: Context, name: Throttle): Promise<Grant> {
  const perMessage = name === "tracking" && isImageProxy(context.get("user-agent"));
  const who = `${addressBlock(context.state.ip)}${perMessage ? `:${context.params.token}` : ""}`;
  return apiLimiter().take(exactWindow(`throttle-${name}:${who}`, LIMITS[name], WINDOW_SECONDS), 1);
}

const INVALID_KEYS_PER_MINUTE = 60;
const invalidKeys = (ip: string) =>
  exactWindow(`throttle-key:${addressBlock(ip)}`, INVALID_KEYS_PER_MINUTE, WINDOW_SECONDS);

/** Invalid keys cost a look-up each. Throws where this address has shown too many, before the next one is looked up. */
export async function requireFewInvalidKeys(ip: string): Promise<void> {
  const { used, retryAfterMs } = await apiLimiter().used(invalidKeys(ip));
  if (used >= INVALID_KEYS_PER_MINUTE) throw throttled(Math.ceil(retryAfterMs / 1_000));
}

export const noteInvalidKey = (ip: string): Promise<unknown> => apiLimiter().take(invalidKeys(ip), 1);

async function requireRoom(context: Context, name: Throttle): Promise<void> {
  const { granted, retryAfterMs } = await take(context, name);
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
}

/** Guesses of mailed links, by the API's routes and by their pages together. */
export const throttleLink = (context: Context): Promise<void> => requireRoom(context, "link");

/** Logins, by the API and by the console together. */
export const throttleLogin = (context: Context): Promise<void> => requireRoom(context, "auth");

/** Throws where the limit is reached; for a click, which must reach its target all the same, returns true: not counted. */
export async function isOverLimit(context: Context, { throttle, answer }: Route): Promise<boolean> {
  if (!throttle) return false;
  const { granted, retryAfterMs } = await take(context, throttle);
  if (granted === 0 && answer !== "redirect") throw throttled(Math.ceil(retryAfterMs / 1_000));
  return granted === 0;
}
