/** Statements for sessions. A session is the family of refresh tokens of one login. */
import { query, queryOne } from "../../../models/database/db.ts";

interface FoundMember {
  password_hash: string;
  role: string | null;
  is_alive: boolean;
}

/** Checks a bearer token's password, session and role in one statement; runs at most once per second and person. */
export const findMember = (
  userId: string,
  sessionId: string | null,
  companyId: string | null,
): Promise<FoundMember | undefined> =>
  queryOne<FoundMember>(
    `select u.password_hash, m.role, $2::uuid is null or coalesce((
       select bool_and(t.revoked_at is null) from refresh_tokens t where t.family_id = $2 and t.user_id = u.id
     ), false) as is_alive
     from users u left join memberships m on m.user_id = u.id and m.company_id = $3
     where u.id = $1`,
    [userId, sessionId, companyId],
  );

export interface SessionRow {
  id: string;
  began_at: Date;
  last_used_at: Date;
  ip: string | null;
  user_agent: string | null;
}

const MAX_SESSIONS = 200;

/** Lists sessions, newest first. The last token of a family shows the time and address of its last use. */
export const sessionsOf = (userId: string): Promise<SessionRow[]> =>
  query<SessionRow>(
    `select * from (
       select distinct on (family_id) family_id as id, began_at, created_at as last_used_at, ip, user_agent
       from refresh_tokens t
       where user_id = $1 and expires_at > now()
         and not exists (select from refresh_tokens f where f.family_id = t.family_id and f.revoked_at is not null)
       order by family_id, created_at desc
     ) s order by last_used_at desc limit $2`,
    [userId, MAX_SESSIONS],
  );

/** Returns false if the user has no such session. */
export async function endSession(userId: string, sessionId: string): Promise<boolean> {
  const ended = await query(
    `update refresh_tokens set revoked_at = now() where family_id = $2 and user_id = $1 and revoked_at is null
     returning family_id`,
    [userId, sessionId],
  );
  return ended.length > 0;
}

/** Ends the session of any of its refresh tokens, including used ones. Returns the user if there is one. */
export async function endSessionOfToken(tokenHash: Buffer): Promise<string | undefined> {
  const [ended] = await query<{ user_id: string }>(
    `update refresh_tokens set revoked_at = coalesce(revoked_at, now())
     where family_id = (select family_id from refresh_tokens where token_hash = $1) returning user_id`,
    [tokenHash],
  );
  return ended?.user_id;
}

/** Writes at most once per five minutes, so that page views cost no write. */
export async function noteUse(
  userId: string,
  sessionId: string,
  { ip, userAgent }: { ip: string | null; userAgent: string | null },
): Promise<void> {
  await query(
    `update refresh_tokens set created_at = now(), ip = $3, user_agent = $4
     where family_id = $2 and user_id = $1 and spent_at is null and created_at < now() - interval '5 minutes'`,
    [userId, sessionId, ip, userAgent],
  );
}
