/** How a request proves that a provider sent it. */
import { createHash, timingSafeEqual } from "node:crypto";

/** What of a request is signed or proves its origin. Names of headers are in lower case. */
export interface ProviderRequest {
  headers: Readonly<Record<string, string | undefined>>;
  /** The body exactly as it came. */
  body: string;
}

const digest = (text: string) => createHash("sha256").update(text).digest();

/** In a time that reveals nothing of either text, their lengths included. */
export const isSameSecret = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted));

const BASIC = /^basic\s+([a-z0-9+/]+={0,2})\s*$/i;
const BEARER = /^bearer\s+(\S+)\s*$/i;

/** The secret as the password of basic authentication, whatever the name, or as a bearer token. */
export function carriesSecret({ headers }: ProviderRequest, secret: string): boolean {
  const given = headers.authorization ?? "";
  const bearer = BEARER.exec(given)?.[1];
  if (bearer !== undefined) return isSameSecret(bearer, secret);
  const pair = Buffer.from(BASIC.exec(given)?.[1] ?? "", "base64").toString();
  const colon = pair.indexOf(":");
  return colon >= 0 && isSameSecret(pair.slice(colon + 1), secret);
}

/** Whether a time in seconds is at most `olderBySeconds` ago; clocks may differ by five minutes. */
export function isRecent(seconds: string, olderBySeconds: number, now = Date.now()): boolean {
  if (!/^\d{1,12}$/.test(seconds)) return false;
  const ageSeconds = now / 1_000 - Number(seconds);
  return ageSeconds <= olderBySeconds && ageSeconds >= -300;
}
