/**
 * Rate limits per minute and address on public routes. The proxy of a large mailbox provider is one address for many
 * people.
 */
import { isCampaignToken } from "../../../models/statements/campaign-tokens.ts";
import { mailIds } from "../../../models/statements/mail-key.ts";
import type { OverLimit } from "../../lib/caller.ts";
import { throttled } from "../../lib/errors.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { exactWindow, type Grant, type Limiter, type Window } from "../../lib/limits/limiter.ts";
import { MemoryLimiter } from "../../lib/limits/limiter-memory.ts";
import { keysFor } from "../../lib/secrets.ts";
import { MAIL_CHARACTERS, readLinkToken } from "../../lib/tokens/link-token.ts";
import { addressBlock } from "../http/client-ip.ts";
import type { Context } from "../http/context.ts";
import type { Route } from "../routes.ts";

const WINDOW_SECONDS = 60;
const LIMITS = { auth: 5, link: 20, subscribe: 3, tracking: 60 } as const;

type Throttle = NonNullable<Route["throttle"]>;

/** The image proxies of Gmail and Yahoo name themselves; Apple's prefetch sends exactly this. */
const isImageProxy = (userAgent: string) =>
  userAgent === "Mozilla/5.0" || /GoogleImageProxy|YahooMailProxy/.test(userAgent);

/** Hits on one campaign's mails through one address. Allows for 100,000 recipients who open within an hour. */
const CAMPAIGN_PER_MINUTE = 3_000;
const campaignWindow = (who: string): Window => ({
  key: `throttle-campaign:${who}`,
  limit: CAMPAIGN_PER_MINUTE,
  windowMs: WINDOW_SECONDS * 1_000,
  buckets: WINDOW_SECONDS,
});

/** Returns whether the token belongs to all mails of a campaign, as without individual tracking. */
async function isOfAllMails(token: string): Promise<boolean> {
  const target = readLinkToken(keysFor("link"), token);
  const mail = target && (await mailIds()).read(target.sentEmailId);
  return mail !== null && isCampaignToken(mail);
}

/** Hits by address and mail. Each process counts its own and evicts the oldest. */
const hitsOnMails = new MemoryLimiter(undefined, 20_000);

const retryAfterSeconds = ({ retryAfterMs }: Grant): number => Math.ceil(retryAfterMs / 1_000);

const take = (limiter: Limiter, name: Throttle, who: string): Promise<Grant> =>
  limiter.take(exactWindow(`throttle-${name}:${who}`, LIMITS[name], WINDOW_SECONDS), 1);

async function countOnMail(limiter: Limiter, address: string, token: string): Promise<Grant> {
  const who = `${address}:${token.slice(0, MAIL_CHARACTERS)}`;
  const grant = await take(limiter, "tracking", who);
  // The token is read only when the limit of one mail is reached.
  return grant.granted > 0 || !(await isOfAllMails(token)) ? grant : limiter.take(campaignWindow(who), 1);
}

/**
 * Many readers can share one address (an office, a VPN). Above the address limit, hits are recorded until one mail has
 * too many.
 */
async function overTrackingLimit(context: Context): Promise<OverLimit | undefined> {
  const address = addressBlock(context.state.ip);
  const token: string = context.params?.token ?? "";
  if (isImageProxy(context.get("user-agent"))) {
    const grant = await countOnMail(apiLimiter(), address, token);
    return grant.granted > 0 ? undefined : { retryAfterSeconds: retryAfterSeconds(grant), isRecorded: false };
  }
  const [ofAddress, ofMail] = await Promise.all([
    take(apiLimiter(), "tracking", address),
    countOnMail(hitsOnMails, address, token),
  ]);
  if (ofAddress.granted > 0) return undefined;
  return { retryAfterSeconds: retryAfterSeconds(ofAddress), isRecorded: ofMail.granted > 0 };
}

const INVALID_KEYS_PER_MINUTE = 60;
const invalidKeys = (ip: string) =>
  exactWindow(`throttle-key:${addressBlock(ip)}`, INVALID_KEYS_PER_MINUTE, WINDOW_SECONDS);

/** Limits invalid keys, because each costs a look-up. Throws before the next look-up of an address with too many. */
export async function requireFewInvalidKeys(ip: string): Promise<void> {
  const { used, retryAfterMs } = await apiLimiter().used(invalidKeys(ip));
  if (used >= INVALID_KEYS_PER_MINUTE) throw throttled(Math.ceil(retryAfterMs / 1_000));
}

export const noteInvalidKey = (ip: string): Promise<unknown> => apiLimiter().take(invalidKeys(ip), 1);

async function requireRoom(context: Context, name: Throttle): Promise<void> {
  const grant = await take(apiLimiter(), name, addressBlock(context.state.ip));
  if (grant.granted === 0) throw throttled(retryAfterSeconds(grant));
}

/** Limits guesses of mailed links, counted over API routes and pages together. */
export const throttleLink = (context: Context): Promise<void> => requireRoom(context, "link");

/** Limits logins, counted over API and console together. */
export const throttleLogin = (context: Context): Promise<void> => requireRoom(context, "auth");

/** Throws 429 over the limit. Opens and clicks get the limit returned instead, because they are recorded anyway. */
export async function throttle(context: Context, name: Throttle): Promise<OverLimit | undefined> {
  if (name === "tracking") return overTrackingLimit(context);
  await requireRoom(context, name);
  return undefined;
}
