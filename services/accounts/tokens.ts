/**
 * Refresh tokens: 32 random bytes, kept as SHA-256, good once. All that come from one login are a family; a spent one
 * that comes back was stolen, so its whole family ends.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Transaction } from "sequelize";
import { revokeFamilyOfSpent, rotateToken, storeFirstToken } from "../../models/statements/refresh-tokens.ts";
import type { User } from "../../models/user.ts";
import { unauthenticated } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { passwordMarkOf, signBearer } from "../lib/tokens/bearer.ts";

const REFRESH_SECONDS = 7 * 86_400;

const newToken = () => randomBytes(32).toString("base64url");
const hashOf = (token: string) => createHash("sha256").update(token).digest();

interface Tokens {
  access: string;
  refresh: string;
}

const accessOf = ({ id, passwordHash }: Pick<User, "id" | "passwordHash">) =>
  signBearer(id, passwordMarkOf(passwordHash));

/** The first tokens of a login; null where the password was changed since it was checked. */
export async function issueTokens(user: User, transaction?: Transaction): Promise<Tokens | null> {
  const refresh = newToken();
  const isStored = await storeFirstToken(
    {
      tokenHash: hashOf(refresh),
      familyId: newId(),
      userId: user.id,
      passwordHash: user.passwordHash,
      seconds: REFRESH_SECONDS,
    },
    transaction,
  );
  return isStored ? { access: accessOf(user), refresh } : null;
}

export async function rotate(refresh: string): Promise<Tokens> {
  const fresh = newToken();
  const user = await rotateToken(hashOf(refresh), hashOf(fresh), REFRESH_SECONDS);
  if (user) return { access: accessOf(user), refresh: fresh };
  await revokeFamilyOfSpent(hashOf(refresh));
  throw unauthenticated("Token is invalid or expired.");
}
