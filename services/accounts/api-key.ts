/** The form of an API key: `fm_` and 32 random bytes in base62, always 43 characters of them. */
import { createHash, randomBytes } from "node:crypto";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 32;
// 62^43 is the first power of 62 above 2^256.
const LENGTH = 43;
const SHOWN = 9;

const FORM = /^fm_[0-9A-Za-z]{43}$/;

export const looksLikeKey = (key: string): boolean => FORM.test(key);

export function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text.padStart(LENGTH, "0");
}

/** A fast hash is enough: nobody guesses 256 random bits. */
export const hashKey = (key: string): Buffer => createHash("sha256").update(key).digest();

export function newKey(): { key: string; prefix: string; keyHash: Buffer } {
  const key = `fm_${base62(randomBytes(RANDOM_BYTES))}`;
  return { key, prefix: key.slice(0, SHOWN), keyHash: hashKey(key) };
}
