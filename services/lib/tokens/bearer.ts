/**
 * Access tokens of users: short-lived JWTs that hold the user's id and no rights, since roles are read at each use. A mark
 * of the password is compared then too, so that tokens issued before a change of password end with it.
 */
import { createHash } from "node:crypto";
import jwt from "jsonwebtoken";
import { isUuid } from "../ids.ts";
import { keysFor } from "../secrets.ts";

export const BEARER_SECONDS = 15 * 60;

export const TOKEN_REFUSED = "Invalid or expired token.";

const ISSUER = "flockmail";
// Ours have about 230 characters; a longer one is refused undecoded.
const MAX_LENGTH = 1_024;

export interface Person {
  userId: string;
  passwordMark: string;
}

/** Identifies a stored password hash: differs after each change, and is of no use for guessing the password. */
export const passwordMarkOf = (passwordHash: string): string =>
  createHash("sha256").update(passwordHash).digest("base64url").slice(0, 16);

export const signBearer = (userId: string, passwordMark: string): string =>
  jwt.sign({ pwd: passwordMark }, keysFor("bearer")[0]!, {
    algorithm: "HS256",
    subject: userId,
    issuer: ISSUER,
    expiresIn: BEARER_SECONDS,
  });

/** Null for an expired, forged or damaged token. Those signed with the previous SECRET_KEY are still valid. */
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
