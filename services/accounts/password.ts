/**
 * Password hashes by scrypt; parameters are part of the hash: `scrypt$14$8$5$salt$hash` (log2 of N, r, p). This is one
 * of OWASP's recommended parameter sets and takes 16 MiB per hash. At most MAX_AT_ONCE hashes run concurrently, to save
 * memory and libuv's threads; MAX_WAITING more may wait.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import pLimit from "p-limit";
import { unavailable } from "../lib/errors.ts";

const CURRENT = { logN: 14, r: 8, p: 5 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const MAX_AT_ONCE = 2;
const MAX_WAITING = 100;

interface Parameters {
  logN: number;
  r: number;
  p: number;
}

const hashing = pLimit(MAX_AT_ONCE);

function derive(password: string, salt: Buffer, { logN, r, p }: Parameters): Promise<Buffer> {
  const options: ScryptOptions = { N: 2 ** logN, r, p, maxmem: 256 * r * (2 ** logN + p + 2) };
  if (hashing.activeCount + hashing.pendingCount >= MAX_AT_ONCE + MAX_WAITING) throw unavailable();
  // NFKC makes a password typed on different systems equal.
  return hashing(
    () =>
      new Promise((resolve, reject) => {
        scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, hash) =>
          error ? reject(error) : resolve(hash),
        );
      }),
  );
}

const format = ({ logN, r, p }: Parameters, salt: Buffer, hash: Buffer) =>
  ["scrypt", logN, r, p, salt.toString("base64url"), hash.toString("base64url")].join("$");

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return format(CURRENT, salt, await derive(password, salt, CURRENT));
}

export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [scheme, logN, r, p, salt, hash] = stored.split("$");
  if (scheme !== "scrypt" || !salt || !hash) throw new Error("A stored password hash has an unknown form");
  const expected = Buffer.from(hash, "base64url");
  const parameters = { logN: Number(logN), r: Number(r), p: Number(p) };
  const given = await derive(password, Buffer.from(salt, "base64url"), parameters);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Hash to check if the user does not exist, so that the answer takes as long. No password matches it. */
export const DUMMY_HASH = format(CURRENT, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
