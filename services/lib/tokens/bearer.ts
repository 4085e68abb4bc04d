/**
 * Access tokens of people: short-lived JWTs that say who, and nothing about what she may do; roles are read at each use.
 * With them it is asked whether her password is still the one of the login: tokens of an old one end at once.
 */
import { createHash } from "node:crypto";
import jwt from "jsonwebtoken";
import { isUuid } from "../ids.ts";
import { keysFor } from "../secrets.ts";

export const BEARER_SECONDS = 15 * 60;

export const TOKEN_REFUSED = "Invalid or expired token.";

const ISSUER = "flockmail";
// Ours have about 230 characters; a longer one is not worth decoding.
const MAX_LENGTH = 1_024;

export interface Person {
  userId: string;
  passwordMark: string;
}

/** Stands for a password as it is stored: another after each change, and of no use to guess it by. */
export const passwordMarkOf = (passwordHash: string): string =>
  createHash("sha256").update(passwordHash).digest("base64url").slice(0, 16);

export const signBearer = (userId: string, passwordMark: string): string =>
  jwt.sign({ pwd: passwordMark }, keysFor("bearer")[0]!, {
    algorithm: "HS256",
    subject: userId,
    issuer: ISSUER,
    expiresIn: BEARER_SECONDS,
  });

/** Null for an expired, forged or damaged one. Tokens of the previous SECRET_KEY are still good. */
export function verifyBearer(token: string): Person | null {
  if (token.length > MAX_LENGTH) return null;
  for (const key of keysFor("bearer")) {
    try {
      // The algorithm is pinned: a token must not choose how it is checked.
      const { sub, exp, pwd } = jwt.verify(token, key, { algorithms: ["HS256"], issuer: ISSUER }) as jwt.JwtPayload;
      return exp !== undefined && isUuid(sub) && typeof pwd === "string" ? { userId: sub, passwordMark: pwd } : null;
    } catch {}
  }
  return null;
}
