/**
 * Statements for refresh tokens, stored by SHA-256. Each step is one statement: of two concurrent requests with a token
 * one wins, and a crash leaves no step half done.
 */
import { QueryTypes, type Transaction } from "sequelize";
import { query, queryOne, sequelize } from "../../../models/database/db.ts";

interface FirstToken {
  tokenHash: Buffer;
  familyId: string;
  userId: string;
  passwordHash: string;
  seconds: number;
  ip: string | null;
  userAgent: string | null;
}

// The share lock waits for a concurrent change of the password.
const STORE_FIRST = `
  insert into refresh_tokens (token_hash, family_id, user_id, expires_at, ip, user_agent)
  select $1, $2, id, now() + make_interval(secs => $3), $6, $7 from users where id = $4 and password_hash = $5 for share
  returning user_id`;

/** Returns false if the password changed since it was checked. */
export async function storeFirstToken(token: FirstToken, transaction: Transaction | null = null): Promise<boolean> {
  const { tokenHash, familyId, seconds, userId, passwordHash, ip, userAgent } = token;
  const bind = [tokenHash, familyId, seconds, userId, passwordHash, ip, userAgent];
  const stored = await sequelize().query(STORE_FIRST, { bind, type: QueryTypes.SELECT, transaction });
  return stored.length === 1;
}

// A revoked token invalidates its family, so a rotation concurrent with the revocation gains nothing.
const ROTATE = `
  with spent as (
    update refresh_tokens t set spent_at = now()
    where token_hash = $1 and spent_at is null and revoked_at is null and expires_at > now()
      and not exists (select from refresh_tokens f where f.family_id = t.family_id and f.revoked_at is not null)
    returning family_id, user_id, began_at
  ), fresh as (
    insert into refresh_tokens (token_hash, family_id, user_id, expires_at, began_at, ip, user_agent)
    select $2, family_id, user_id, now() + make_interval(secs => $3), began_at, $4, $5 from spent
  )
  select u.id, u.password_hash as "passwordHash", spent.family_id as "familyId" from spent join users u on u.id = spent.user_id`;

/** Uses up a token and stores its successor. Returns the user, or undefined if the token is invalid. */
export const rotateToken = (
  spentHash: Buffer,
  fresh: Pick<FirstToken, "tokenHash" | "seconds" | "ip" | "userAgent">,
): Promise<{ id: string; passwordHash: string; familyId: string } | undefined> =>
  queryOne(ROTATE, [spentHash, fresh.tokenHash, fresh.seconds, fresh.ip, fresh.userAgent]);

const REVOKE_FAMILY_OF_SPENT = `
  update refresh_tokens set revoked_at = now()
  where revoked_at is null
    and family_id = (select family_id from refresh_tokens where token_hash = $1 and spent_at is not null)`;

export async function revokeFamilyOfSpent(tokenHash: Buffer): Promise<void> {
  await query(REVOKE_FAMILY_OF_SPENT, [tokenHash]);
}

// Keep a revoked token while any token of its family is unexpired: it marks the family as invalid.
const DELETE_EXPIRED = `
  delete from refresh_tokens t
  where expires_at < now()
    and (revoked_at is null
      or not exists (select from refresh_tokens f where f.family_id = t.family_id and f.expires_at >= now()))`;

/** Deletes tokens of mailed links a day after they expire. */
export async function deleteExpiredTokens(): Promise<void> {
  await query(DELETE_EXPIRED);
  await query("delete from account_tokens where expires_at < now() - interval '1 day'");
}
