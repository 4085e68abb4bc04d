/** Verifies that a request was sent by the provider. */
import { createHash, timingSafeEqual } from "node:crypto";

/** Request data that is signed or proves the origin. Header names are in lower case. */
export interface ProviderRequest {
  headers: Readonly<Record<string, string | undefined>>;
  /** Raw body, byte for byte. */
  body: string;
}

const digest = (text: string) => createHash("sha256").update(text).digest();

/** Compares in constant time, whatever the lengths. */
export const isSameSecret = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted));

const BASIC = /^basic\s+([a-z0-9+/]+={0,2})\s*$/i;
const BEARER = /^bearer\s+(\S+)\s*$/i;

/** Accepts the secret as the password of basic authentication (any user name) or as a bearer token. */
export function carriesSecret({ headers }: ProviderRequest, secret: string): boolean {
  const given = headers.authorization ?? "";
  const bearer = BEARER.exec(given)?.[1];
  if (bearer !== undefined) return isSameSecret(bearer, secret);
  const pair = Buffer.from(BASIC.exec(given)?.[1] ?? "", "base64").toString();
  const colon = pair.indexOf(":");
  return colon >= 0 && isSameSecret(pair.slice(colon + 1), secret);
}

/** Tells if a Unix time in seconds is at most `olderBySeconds` ago; clocks may differ by five minutes. */
export function isRecent(seconds: string, olderBySeconds: number, now = Date.now()): boolean {
  if (!/^\d{1,12}$/.test(seconds)) return false;
  const ageSeconds = now / 1_000 - Number(seconds);
  return ageSeconds <= olderBySeconds && ageSeconds >= -300;
}
