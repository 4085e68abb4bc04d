/**
 * Refresh tokens: 32 random bytes, kept as SHA-256, good once. All that come from one login are a family; a spent one
 * that comes back was stolen from somebody, so its whole family ends.
 */
import { createHash, randomBytes } from "node:crypto";
import { QueryTypes, type Transaction } from "sequelize";
import { query, queryOne, sequelize } from "../../models/database/db.ts";
import { unauthenticated } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { passwordMarkOf, signBearer } from "../lib/tokens/bearer.ts";

const REFRESH_SECONDS = 7 * 86_400;

const make = () => randomBytes(32).toString("base64url");
const hashOf = (token: string) => createHash("sha256").update(token).digest();

export interface Tokens {
  access: string;
  refresh: string;
}

export interface Account {
  id: string;
  passwordHash: string;
}

/** The share lock waits for a change of the password that is under way, and finds it done. */
const STORE = `
  insert into refresh_tokens (token_hash, family_id, user_id, expires_at)
  select $1, $2, id, now() + make_interval(secs => $3) from users where id = $4 and password_hash = $5 for share
  returning user_id`;

/** The first tokens of a login; null where the password was changed since it was checked. */
export async function issueTokens({ id, passwordHash }: Account, within?: Transaction): Promise<Tokens | null> {
  const refresh = make();
  const stored = await sequelize().query(STORE, {
    bind: [hashOf(refresh), newId(), REFRESH_SECONDS, id, passwordHash],
    type: QueryTypes.SELECT,
    transaction: within ?? null,
  });
  return stored.length === 1 ? { access: signBearer(id, passwordMarkOf(passwordHash)), refresh } : null;
}

/**
 * One statement spends the old token and stores the new one: of two requests with the same token one wins, and a
 * crash leaves either both done or none. A family with any revoked token is dead, so that a rotation that runs while
 * the family is revoked gains nothing.
 */
const ROTATE = `
  with spent as (
    update refresh_tokens t set spent_at = now()
    where token_hash = $1 and spent_at is null and revoked_at is null and expires_at > now()
      and not exists (select from refresh_tokens f where f.family_id = t.family_id and f.revoked_at is not null)
    returning family_id, user_id
  ), fresh as (
    insert into refresh_tokens (token_hash, family_id, user_id, expires_at)
    select $2, family_id, user_id, now() + make_interval(secs => $3) from spent
  )
  select u.id, u.password_hash as "passwordHash" from spent join users u on u.id = spent.user_id`;

const REVOKE_FAMILY_OF_SPENT = `
  update refresh_tokens set revoked_at = now()
  where revoked_at is null
    and family_id = (select family_id from refresh_tokens where token_hash = $1 and spent_at is not null)`;

export async function rotate(refresh: string): Promise<Tokens> {
  const fresh = make();
  const spent = await queryOne<Account>(ROTATE, [hashOf(refresh), hashOf(fresh), REFRESH_SECONDS]);
  if (spent) return { access: signBearer(spent.id, passwordMarkOf(spent.passwordHash)), refresh: fresh };
  await query(REVOKE_FAMILY_OF_SPENT, [hashOf(refresh)]);
  throw unauthenticated("Token is invalid or expired.");
}
