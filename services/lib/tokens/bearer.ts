/**
 * Signs and verifies users' access tokens: short-lived JWTs with the ids of user and session, without rights, because
 * roles are read at each use. Session and password mark are checked then, too: a token ends with either.
 */
import { createHash } from "node:crypto";
import jsonwebtoken, { type JwtPayload } from "jsonwebtoken";
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
  /** Login session; absent in tokens of the previous release. */
  sessionId?: string;
}

/** Identifies a stored password hash: differs after each change, and is of no use for guessing the password. */
export const passwordMarkOf = (passwordHash: string): string =>
  createHash("sha256").update(passwordHash).digest("base64url").slice(0, 16);

export const signBearer = (userId: string, passwordMark: string, sessionId?: string): string =>
  jsonwebtoken.sign({ pwd: passwordMark, ...(sessionId ? { sid: sessionId } : {}) }, keysFor("bearer")[0]!, {
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
      const { sub, exp, pwd, sid } = jsonwebtoken.verify(token, key, {
        algorithms: ["HS256"],
        issuer: ISSUER,
      }) as JwtPayload;
      if (exp === undefined || !isUuid(sub) || typeof pwd !== "string") return null;
      return { userId: sub, passwordMark: pwd, ...(isUuid(sid) ? { sessionId: sid } : {}) };
    } catch {}
  }
  return null;
}
