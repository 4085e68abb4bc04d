/** Time-based codes (RFC 6238: HMAC-SHA-1, 30 s, 6 digits, supported by all authenticator apps) and recovery codes. */
import { createHash, randomInt } from "node:crypto";
import { generateSecret, generateURI, verifySync } from "otplib/functional";

const STEP_SECONDS = 30;
/** Steps that a clock may be fast or slow. */
const SKEW = 1;

/** 20 bytes, in base32. */
export const newTotpSecret = (): string => generateSecret();

const stepAt = (ms: number): number => Math.floor(ms / 1_000 / STEP_SECONDS);

/** Returns the step of a code, or null. Compares in constant time; the caller enforces single use (`spendTotpStep`). */
export function stepOfCode(secret: string, code: string, now = Date.now()): number | null {
  // The library throws on any other format.
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

/** Enrolment URI for a link or QR code. A colon would end the issuer's name. */
export const totpUri = (secret: string, service: string, account: string): string =>
  generateURI({ secret, issuer: service.replaceAll(":", ""), label: account });

const CODES = 10;
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const CODE_LETTERS = 10;

/** Recovery codes of about 49 bits each. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: CODES }, () => {
    const letters = Array.from({ length: CODE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join("");
    return `${letters.slice(0, 5)}-${letters.slice(5)}`;
  });

/** Normalises a typed code. */
export const recoveryHash = (code: string): Buffer =>
  createHash("sha256")
    .update(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ""))
    .digest();
