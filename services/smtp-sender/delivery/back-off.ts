/**
 * When something that failed is tried again: the one place for it.
 *
 * | what                                            | how long, how often                                        |
 * |-------------------------------------------------|------------------------------------------------------------|
 * | a recipient that was deferred (4xx, not accepted) | 1 minute, doubling to 8 hours, each a fifth more or less, |
 * |                                                 | 12 tries: about 24 hours (`deferredForMs`, MAX_TRIES)      |
 * | a mail whose session ended before it was sent   | the next connection, 3 sessions, where that session had    |
 * |                                                 | taken mail; else, and then, as a deferred one              |
 * | a copy (cc, bcc)                                | as a recipient; it waits for no server: what cannot go out |
 * |                                                 | behind its mail is queued by itself, untried               |
 * | a server that takes no mail for now             | 2 seconds, doubling to 5 minutes, then one mail as a       |
 * | (server/health.ts)                              | probe; stored in its row, so that all nodes know. After    |
 * |                                                 | 24 hours its campaigns are stopped                         |
 * | a session that the server has used up           | the next connection, without a count: it has taken mail    |
 * | a server's own limit on connections             | kept for a minute                                          |
 * | no connection slot free, or Redis away          | half a second                                              |
 *
 * The first two rows scale with RETRY_BASE_SECONDS (a minute); a server's pauses do where it is below 2 seconds.
 *
 * Causes of a 4xx, in the order of AFTER_SMTP in steps.ts; the first that fits decides:
 *
 * | sign                                            | then                                                       |
 * |-------------------------------------------------|------------------------------------------------------------|
 * | of a used-up session: at MAIL, 4.5.3 or "too many messages", and it had taken mail (`isSessionUsedUp`) | at once in the next session; no try |
 * | of a domain: its fifth in a row with an equal text, or a further one of a domain that backs off (domains/domain-back-off.ts) | deferred as in the first row, and the domain gets less |
 * | of the server: at MAIL in a session that has taken nothing, a probe's, or the fifth in a row with an equal text and nothing accepted between (`ServerHealth.reasonToPause`) | at once after the server's pause; no try |
 * | of nothing but itself: any other, so a single 451 to RCPT, DATA or the end of data, and at RCPT any wait of the recipient's own (`isRecipientsOwnWait`: its mailbox, greylisting) | deferred as in the first row |
 */
import { query, queryOne } from "../../../models/database/db.ts";

const BASE_SECONDS = 60;
const MAX_FACTOR = 480;
/** A fifth more or less at random: what was deferred together must not come back together. */
const JITTER = 0.2;

/** Tries per recipient, the first one included. */
export const MAX_TRIES = 12;
export const MAX_SESSIONS_PER_MAIL = 3;
export const SERVER_LIMIT_KEPT_MS = 60_000;
export const NO_SLOT_PAUSE_MS = 500;

/** Until a deferred recipient is tried again. `tries`: made so far. */
export function deferredForMs(
  tries: number,
  baseMs = BASE_SECONDS * 1_000,
  random: () => number = Math.random,
): number {
  const factor = Math.min(2 ** (Math.max(1, tries) - 1), MAX_FACTOR);
  return Math.round(factor * baseMs * (1 + JITTER * (2 * random() - 1)));
}

const FIRST_PAUSE_MS = 2_000;
const PAUSE_FACTOR = 150;

const GIVE_UP_AFTER = "24 hours";
/**
 * While it has mail, a failing server is tried every 5 minutes at the latest. After an hour without a try its state
 * is unknown, and the time of failing starts again.
 */
const UNTRIED_AFTER = "1 hour";

/**
 * $4: milliseconds since this node last saw it accept a mail; null: not seen. $8: this node's probe failed, and the pause in
 * the row is the probe's own. A failure during the pause of another node adds nothing to it.
 */
const RECORD_FAILURE = `
  update smtp_configs set last_error = $3, last_error_at = now(),
    failing_since = case
      when failing_since is null or coalesce(last_error_at, failing_since) < now() - interval '${UNTRIED_AFTER}' then now()
      else greatest(failing_since, now() - $4::float8 * interval '1 millisecond') end,
    backoff_count = case when backoff_until > now() and not $8::boolean then backoff_count else backoff_count + 1 end,
    backoff_until = case when backoff_until > now() and not $8::boolean then backoff_until
      else now() + least($5::float8 * power(2, least(backoff_count, 30)), $6::float8) * $7::float8 * interval '1 millisecond' end
  where id = $1 and company_id = $2
  returning extract(epoch from backoff_until - now())::float8 * 1000 as pause_ms,
    failing_since < now() - interval '${GIVE_UP_AFTER}' as hopeless`;

interface ServerRow {
  id: string;
  companyId: string;
}

/**
 * Stores that the server takes no mail for now, and until when all senders leave it alone. Its mail is not touched.
 * `hopeless`: it has been failing for a day, at every try of any node.
 */
export async function recordServerFailure(
  { id, companyId }: ServerRow,
  failure: { error: string; baseMs: number; acceptedMsAgo: number | null; probing: boolean },
): Promise<{ ms: number; hopeless: boolean }> {
  const firstMs = Math.min(FIRST_PAUSE_MS, failure.baseMs);
  const jitter = 1 + JITTER * (2 * Math.random() - 1);
  const row = await queryOne<{ pause_ms: number; hopeless: boolean }>(RECORD_FAILURE, [
    id,
    companyId,
    failure.error,
    failure.acceptedMsAgo,
    firstMs,
    firstMs * PAUSE_FACTOR,
    jitter,
    failure.probing,
  ]);
  return { ms: Math.max(0, row?.pause_ms ?? 0), hopeless: row?.hopeless ?? false };
}

/** An error that only the user can correct: a refused login, a certificate. Later campaigns try it again, and a resume where it is allowed. */
export async function recordServerError({ id, companyId }: ServerRow, error: string): Promise<void> {
  await query(
    `update smtp_configs set last_error = $3, last_error_at = now(), failing_since = coalesce(failing_since, now())
     where id = $1 and company_id = $2`,
    [id, companyId, error],
  );
}

/** A session could be opened: settings that worked once are not wrong when a handshake breaks later. */
export async function recordServerOpened({ id, companyId }: ServerRow): Promise<void> {
  await query("update smtp_configs set worked_at = now() where id = $1 and company_id = $2 and worked_at is null", [
    id,
    companyId,
  ]);
}

/** The server accepted a mail. */
export async function recordServerWorks({ id, companyId }: ServerRow): Promise<void> {
  await query(
    `update smtp_configs
     set failing_since = null, backoff_until = null, backoff_count = 0, last_error = null, last_error_at = null
     where id = $1 and company_id = $2 and failing_since is not null`,
    [id, companyId],
  );
}

/** A probe that still runs after this is presumed lost, and its node with it. */
const PROBE_MS = 60_000;

const CLAIM_PROBE = `
  with claimed as (
    update smtp_configs set backoff_until = now() + $3 * interval '1 millisecond'
    where id = $1 and company_id = $2 and failing_since is not null and (backoff_until is null or backoff_until <= now())
    returning id)
  select exists (select from claimed) as claimed, failing_since is null as works,
    extract(epoch from backoff_until - now())::float8 * 1000 as wait_ms
  from smtp_configs where id = $1 and company_id = $2`;

/** Whether this node may send one mail to a server that was left alone; of all nodes one at a time may. */
export async function claimProbe({ id, companyId }: ServerRow): Promise<"probe" | "works" | { waitMs: number }> {
  const row = await queryOne<{ claimed: boolean; works: boolean; wait_ms: number | null }>(CLAIM_PROBE, [
    id,
    companyId,
    PROBE_MS,
  ]);
  if (row?.claimed) return "probe";
  // If the configuration has since been deleted, the transport notices.
  if (!row || row.works) return "works";
  return { waitMs: Math.max(0, row.wait_ms ?? 0) };
}

export async function releaseProbe({ id, companyId }: ServerRow): Promise<void> {
  await query(
    "update smtp_configs set backoff_until = now() where id = $1 and company_id = $2 and failing_since is not null",
    [id, companyId],
  );
}
