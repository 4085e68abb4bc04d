/** Stores operators' console sessions: link, first use, later uses, end. Rows stay as an audit record. */
import { query, queryOne } from "../../models/database/db.ts";

export interface OperatorSessionRow {
  id: string;
  name: string;
  made_at: Date;
  link_until: Date;
  began_at: Date | null;
  expires_at: Date | null;
  ended_at: Date | null;
  last_used_at: Date | null;
  ip: string | null;
  user_agent: string | null;
}

const MAX_LISTED = 200;

/**
 * Stores a link and deletes rows older than `keepDays`; links are rare, and nothing else reads them. Returns the
 * expiry.
 */
export async function storeLink(
  link: { id: string; hash: Buffer; name: string; goodSeconds: number },
  keepDays: number,
): Promise<Date> {
  const [stored] = await query<{ link_until: Date }>(
    `with expired as (delete from operator_sessions where made_at < now() - make_interval(days => $5::int))
     insert into operator_sessions (id, link_hash, name, link_until)
     values ($1, $2, $3, now() + make_interval(secs => $4)) returning link_until`,
    [link.id, link.hash, link.name, link.goodSeconds, keepDays],
  );
  return stored!.link_until;
}

interface Origin {
  ip: string | null;
  userAgent: string | null;
}

/**
 * Starts a session. Of two concurrent uses of a link, one gets a session. Undefined for a link that is unknown, used or
 * expired.
 */
export const beginSession = (hash: Buffer, goodSeconds: number, { ip, userAgent }: Origin) =>
  queryOne<{ id: string; name: string; expires_at: Date }>(
    `update operator_sessions set link_hash = null, began_at = now(), last_used_at = now(),
       expires_at = now() + make_interval(secs => $2), ip = $3, user_agent = $4
     where link_hash = $1 and link_until > now() and ended_at is null
     returning id, name, expires_at`,
    [hash, goodSeconds, ip, userAgent],
  );

/** Undefined if the session is over. Writes at most once a minute. */
export const continueSession = (id: string) =>
  queryOne<{ id: string; name: string; expires_at: Date }>(
    `with used as (
       update operator_sessions set last_used_at = now()
       where id = $1 and ended_at is null and expires_at > now() and last_used_at < now() - interval '1 minute')
     select id, name, expires_at from operator_sessions where id = $1 and ended_at is null and expires_at > now()`,
    [id],
  );

/** Ends a session or an unused link. False if unknown or already over. */
export async function endSession(id: string): Promise<boolean> {
  const ended = await query(
    `update operator_sessions set ended_at = now(), link_hash = null
     where id = $1 and ended_at is null and coalesce(expires_at, link_until) > now() returning id`,
    [id],
  );
  return ended.length > 0;
}

/** Newest first, including ended ones. */
export const listSessions = (): Promise<OperatorSessionRow[]> =>
  query<OperatorSessionRow>(
    `select id, name, made_at, link_until, began_at, expires_at, ended_at, last_used_at, ip, user_agent
     from operator_sessions order by made_at desc, id desc limit ${MAX_LISTED}`,
  );
