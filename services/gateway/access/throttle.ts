/** Requests per minute and address on public routes. Behind a proxy of a large mailbox provider one address is many people. */
import { standsForCampaign } from "../../../models/statements/campaign-tokens.ts";
import { mailIds } from "../../../models/statements/mail-key.ts";
import { throttled } from "../../lib/errors.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { exactWindow, type Grant, type Window } from "../../lib/limits/limiter.ts";
import { keysFor } from "../../lib/secrets.ts";
import { readLinkToken } from "../../lib/tokens/link-token.ts";
import { addressBlock } from "../http/client-ip.ts";
import type { Context } from "../http/context.ts";
import type { Route } from "../routes.ts";

const WINDOW_SECONDS = 60;
const LIMITS = { auth: 5, link: 20, subscribe: 3, tracking: 60 } as const;

type Throttle = NonNullable<Route["throttle"]>;

/** Gmail's and Yahoo's image proxies name themselves; Apple's prefetch sends just this. */
const isImageProxy = (userAgent: string) =>
  userAgent === "Mozilla/5.0" || /GoogleImageProxy|YahooMailProxy/.test(userAgent);

/** Of the mails of one campaign, through one address of a proxy: a mailing to 100,000 people who open it within an hour. */
const CAMPAIGN_PER_MINUTE = 3_000;
const campaignWindow = (who: string): Window => ({
  key: `throttle-campaign:${who}`,
  limit: CAMPAIGN_PER_MINUTE,
  windowMs: WINDOW_SECONDS * 1_000,
  buckets: WINDOW_SECONDS,
});

/** Without individual tracking all mails of a campaign have the same tokens. */
async function isOfAllMails(token: string): Promise<boolean> {
  const target = readLinkToken(keysFor("link"), token);
  const mail = target && (await mailIds()).read(target.sentEmailId);
  return mail !== null && standsForCampaign(mail);
}

interface Asking {
  ip: string;
  userAgent: string;
  /** Of a mail's link or pixel. */
  token: string | undefined;
}

async function take(asking: Asking, name: Throttle): Promise<Grant> {
  const token = name === "tracking" && isImageProxy(asking.userAgent) ? `${asking.token}` : undefined;
  const who = `${addressBlock(asking.ip)}${token === undefined ? "" : `:${token}`}`;
  const grant = await apiLimiter().take(exactWindow(`throttle-${name}:${who}`, LIMITS[name], WINDOW_SECONDS), 1);
  // The token is read where the limit of one mail is reached, and for no hit before.
  if (grant.granted > 0 || token === undefined || !(await isOfAllMails(token))) return grant;
  return apiLimiter().take(campaignWindow(who), 1);
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

const askingOf = (context: Context): Asking => ({
  ip: context.state.ip,
  userAgent: context.get("user-agent"),
  token: context.params?.token,
});

async function requireRoom(context: Context, name: Throttle): Promise<void> {
  const { granted, retryAfterMs } = await take(askingOf(context), name);
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
}

/** Guesses of mailed links, by the API's routes and by their pages together. */
export const throttleLink = (context: Context): Promise<void> => requireRoom(context, "link");

/** Logins, by the API and by the console together. */
export const throttleLogin = (context: Context): Promise<void> => requireRoom(context, "auth");

/** Throws where the limit is reached; for a click, which must reach its target all the same, returns true: not counted. */
export async function isOverLimit(context: Context, { throttle, answer }: Route): Promise<boolean> {
  if (!throttle) return false;
  const { granted, retryAfterMs } = await take(askingOf(context), throttle);
  if (granted === 0 && answer !== "redirect") throw throttled(Math.ceil(retryAfterMs / 1_000));
  return granted === 0;
}
