/**
 * API key format: `fm_` and 32 random bytes in base62, always 43 characters. Authentication is one look-up by the key's
 * hash; gateways cache the result for at most a second.
 */
import { createHash, randomBytes } from "node:crypto";
import { unauthenticated } from "../lib/errors.ts";
import { type FoundKey, findApiKey, noteKeyUse } from "./find-api-key.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 32;
// 62^43 is the first power of 62 above 2^256.
const LENGTH = 43;
const PREFIX_LENGTH = 9;
const FORM = /^fm_[0-9A-Za-z]{43}$/;

const USE_NOTED_EVERY_MS = 60_000;

export const looksLikeKey = (key: string): boolean => FORM.test(key);

export function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text.padStart(LENGTH, "0");
}

/** A fast hash is enough for 256 random bits. */
export const hashKey = (key: string): Buffer => createHash("sha256").update(key).digest();

/** `prefix` identifies the key in lists. */
export function newKey(): { key: string; prefix: string; keyHash: Buffer } {
  const key = `fm_${base62(randomBytes(RANDOM_BYTES))}`;
  return { key, prefix: key.slice(0, PREFIX_LENGTH), keyHash: hashKey(key) };
}

/** Created once per service, so that pending writes finish before the database closes. */
export class KeyAuthentication {
  readonly #pendingUpdates = new Set<Promise<unknown>>();

  /** Records the key's use at most once per minute, without delaying the answer; errors do not reach the caller. */
  #noteUse(found: FoundKey): void {
    if (found.last_used_at && Date.now() - found.last_used_at.getTime() < USE_NOTED_EVERY_MS) return;
    const note = noteKeyUse(found)
      .catch(() => {})
      .finally(() => this.#pendingUpdates.delete(note));
    this.#pendingUpdates.add(note);
  }

  async authenticate(key: string) {
    const found = looksLikeKey(key) ? await findApiKey(hashKey(key)) : undefined;
    if (!found) throw unauthenticated("Invalid API key.");
    this.#noteUse(found);
    return {
      companyId: found.company_id,
      apiKeyId: found.id,
      expiresAt: found.expires_at?.toISOString() ?? null,
      scopes: found.scopes,
      allowedIps: found.allowed_ips,
    };
  }

  /** Resolves when no writes are pending. */
  async settled(): Promise<void> {
    await Promise.all(this.#pendingUpdates);
  }
}
