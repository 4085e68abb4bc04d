/** Codes by time (RFC 6238: HMAC-SHA-1, 30 s, 6 digits, which every authenticator knows) and the codes that replace them. */
import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

const STEP_SECONDS = 30;
const DIGITS = 6;
/** Steps that a clock may be off, to either side. */
const SKEW = 1;
const SECRET_BYTES = 20;

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function base32(bytes: Buffer): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}

/** Base32 of whole bytes, as `newTotpSecret` makes it. */
function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((sign) => BASE32.indexOf(sign).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
}

export const newTotpSecret = (): string => base32(randomBytes(SECRET_BYTES));

export const stepAt = (ms: number): number => Math.floor(ms / 1_000 / STEP_SECONDS);

export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", bytesOf(secret)).update(counter).digest();
  const offset = mac.at(-1)! & 0xf;
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, "0");
}

/** The step that a code belongs to, or null. */
export function stepOfCode(secret: string, code: string, now = Date.now()): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  for (let step = stepAt(now) - SKEW; step <= stepAt(now) + SKEW; step++) {
    if (timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code))) return step;
  }
  return null;
}

/** For an authenticator, as a link or a QR code. */
export function totpUri(secret: string, service: string, account: string): string {
  const label = `${encodeURIComponent(service)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(service)}`;
}

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
