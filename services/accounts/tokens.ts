/**
 * Refresh tokens: 32 random bytes, stored as SHA-256, valid once. All tokens of one login form a family (the session);
 * reuse of a spent token means theft and ends the family.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Transaction } from "sequelize";
import type { User } from "../../models/user.ts";
import type { Caller } from "../lib/caller.ts";
import { unauthenticated } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { passwordMarkOf, signBearer } from "../lib/tokens/bearer.ts";
import { revokeFamilyOfSpent, rotateToken, storeFirstToken } from "./people/refresh-tokens.ts";

const REFRESH_SECONDS = 7 * 86_400;
const MAX_USER_AGENT = 200;

const newToken = () => randomBytes(32).toString("base64url");
export const hashOf = (token: string) => createHash("sha256").update(token).digest();

export interface Tokens {
  access: string;
  refresh: string;
}

/** Client details shown in the list of sessions. */
export const originOf = ({ http }: Caller) => ({
  ip: http?.ip ?? null,
  userAgent: http?.userAgent.slice(0, MAX_USER_AGENT) ?? null,
});

const accessOf = ({ id, passwordHash }: Pick<User, "id" | "passwordHash">, familyId: string) =>
  signBearer(id, passwordMarkOf(passwordHash), familyId);

/** Issues the first tokens of a login; null if the password changed since it was checked. */
export async function issueTokens(user: User, meta: Caller, transaction?: Transaction): Promise<Tokens | null> {
  const refresh = newToken();
  const familyId = newId();
  const token = {
    tokenHash: hashOf(refresh),
    familyId,
    userId: user.id,
    passwordHash: user.passwordHash,
    seconds: REFRESH_SECONDS,
    ...originOf(meta),
  };
  const isStored = await storeFirstToken(token, transaction);
  return isStored ? { access: accessOf(user, familyId), refresh } : null;
}

export async function rotate(refresh: string, meta: Caller): Promise<Tokens> {
  const fresh = newToken();
  const successor = { tokenHash: hashOf(fresh), seconds: REFRESH_SECONDS, ...originOf(meta) };
  const user = await rotateToken(hashOf(refresh), successor);
  if (user) return { access: accessOf(user, user.familyId), refresh: fresh };
  await revokeFamilyOfSpent(hashOf(refresh));
  throw unauthenticated("Token is invalid or expired.");
}
