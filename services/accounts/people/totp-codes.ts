/** Codes by time (RFC 6238: HMAC-SHA-1, 30 s, 6 digits, which every authenticator knows) and the codes that replace them. */
import { createHash, randomInt } from "node:crypto";
import { generateSecret, generateURI, verifySync } from "otplib/functional";

const STEP_SECONDS = 30;
/** Steps that a clock may be off, to either side. */
const SKEW = 1;

/** 20 bytes, in base32. */
export const newTotpSecret = (): string => generateSecret();

const stepAt = (ms: number): number => Math.floor(ms / 1_000 / STEP_SECONDS);

/** The step that a code belongs to, or null. Compared in constant time; that it is good once is the caller's (`spendTotpStep`). */
export function stepOfCode(secret: string, code: string, now = Date.now()): number | null {
  // Anything else is an error to the library.
  if (!/^\d{6}$/.test(code)) return null;
  const found = verifySync({
    secret,
    token: code,
    epoch: Math.floor(now / 1_000),
    period: STEP_SECONDS,
    epochTolerance: SKEW * STEP_SECONDS,
  });
  return found.valid ? stepAt(now) + found.delta : null;
}

/** For an authenticator, as a link or a QR code. A colon ends the name of the service there. */
export const totpUri = (secret: string, service: string, account: string): string =>
  generateURI({ secret, issuer: service.replaceAll(":", ""), label: account });

const CODES = 10;
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const CODE_LETTERS = 10;

/** 31^10 each: about 49 bits, of which nobody tries many. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: CODES }, () => {
    const letters = Array.from({ length: CODE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join("");
    return `${letters.slice(0, 5)}-${letters.slice(5)}`;
  });

/** However it is typed. */
export const recoveryHash = (code: string): Buffer =>
  createHash("sha256")
    .update(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ""))
    .digest();
