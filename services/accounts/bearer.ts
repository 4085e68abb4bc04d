/** Access tokens of people: short-lived JWTs that say who, and nothing about what she may do; roles are read at each use. */
import jwt from "jsonwebtoken";
import { isUuid } from "../ids.ts";
import { keysFor } from "../secrets.ts";

export const BEARER_SECONDS = 15 * 60;

const ISSUER = "flockmail";
// Ours have about 230 characters; a longer one is not worth decoding.
const MAX_LENGTH = 1_024;

export const signBearer = (userId: string): string =>
  jwt.sign({}, keysFor("bearer")[0]!, {
    algorithm: "HS256",
    subject: userId,
    issuer: ISSUER,
    expiresIn: BEARER_SECONDS,
  });

/** Null for an expired, forged or damaged one. Tokens of the previous SECRET_KEY are still good. */
export function verifyBearer(token: string): { userId: string } | null {
  if (token.length > MAX_LENGTH) return null;
  for (const key of keysFor("bearer")) {
    try {
      // The algorithm is pinned: a token must not choose how it is checked.
      const { sub, exp } = jwt.verify(token, key, { algorithms: ["HS256"], issuer: ISSUER }) as jwt.JwtPayload;
      return exp !== undefined && isUuid(sub) ? { userId: sub } : null;
    } catch {}
  }
  return null;
}
