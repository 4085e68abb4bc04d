/**
 * Defines all retry and back-off times of sending.
 *
 * | what                                              | how long, how often                                          |
 * |---------------------------------------------------|--------------------------------------------------------------|
 * | a recipient that was deferred (4xx, not accepted) | 1 minute, doubling to 8 hours, each a fifth more or less,    |
 * |                                                   | 12 tries: about 24 hours (`deferredForMs`, MAX_TRIES)        |
 * | an email whose session ended early                | the next connection, up to 3 sessions, if that session had   |
 * |                                                   | accepted email; otherwise like a deferred one                |
 * | a copy (cc, bcc)                                  | like a recipient; it does not wait for a server: a copy that |
 * |                                                   | cannot follow its email is queued individually, untried      |
 * | a server that accepts no mail for now             | 2 seconds, doubling to 5 minutes, then one email as a        |
 * | (server/health.ts)                                | probe; stored in its row, so that all nodes know. After      |
 * |                                                   | 24 hours its campaigns are stopped                           |
 * | a session that has reached the server's limit     | the next connection, not counted as a try                    |
 * | a server's own connection limit                   | remembered for a minute                                      |
 * | no connection slot free, or no Redis            | half a second                                                |
 *
 * The first two rows scale with RETRY_BASE_SECONDS (a minute); a server's pauses only if it is below 2 seconds.
 *
 * Causes of a 4xx, in the order of AFTER_SMTP in steps.ts; the first match decides:
 *
 * | sign | then |
 * |---|---|
 * | session limit: 4.5.3 or "too many messages" at MAIL, after accepted email (`isSessionUsedUp`) | retried at once in the next session; not counted |
 * | domain: its fifth in a row with the same text, or a further one while the domain is backed off (domains/domain-back-off.ts) | deferred as in the first row, and the domain is throttled |
 * | server: at MAIL in a session that has accepted nothing, for a probe, or the fifth in a row with the same text and nothing accepted in between (`ServerHealth.reasonToPause`) | retried after the server's pause; not counted |
 * | recipient: any other, such as a single 451 to RCPT, DATA or the end of data, and at RCPT anything about the recipient itself (`isRecipientsOwnWait`: its mailbox, greylisting) | deferred as in the first row |
 */
import { query, queryOne } from "../../../models/database/db.ts";

const BASE_SECONDS = 60;
const MAX_FACTOR = 480;
/** Random jitter of 20 %: recipients deferred together must not be retried together. */
const JITTER = 0.2;

/** Tries per recipient, including the first. */
export const MAX_TRIES = 12;
export const MAX_SESSIONS_PER_MAIL = 3;
export const SERVER_LIMIT_KEPT_MS = 60_000;
export const NO_SLOT_PAUSE_MS = 500;

/** Delay until a deferred recipient is retried. `tries`: made so far. */
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
 * A failing server with waiting mail is tried at least every 5 minutes. After an hour without a try its state is
 * unknown, and the failing time restarts.
 */
const STATE_EXPIRES_AFTER = "1 hour";

/**
 * $4: milliseconds since this node last saw it accept an email; null: never. $8: this node's probe failed, and the pause
 * in the row is the probe's own. A failure during another node's pause does not extend it.
 */
const RECORD_FAILURE = `
  update smtp_configs set last_error = $3, last_error_at = now(),
    failing_since = case
      when failing_since is null or coalesce(last_error_at, failing_since) < now() - interval '${STATE_EXPIRES_AFTER}' then now()
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
 * Records that the server accepts no mail, and until when no sender may use it. Its email stays queued. `hopeless`:
 * every try of every node has failed for a day.
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

/**
 * Records an error that only the user can fix: a refused login, a certificate. Later campaigns, and permitted resumes,
 * try the server again.
 */
export async function recordServerError({ id, companyId }: ServerRow, error: string): Promise<void> {
  await query(
    `update smtp_configs set last_error = $3, last_error_at = now(), failing_since = coalesce(failing_since, now())
     where id = $1 and company_id = $2`,
    [id, companyId, error],
  );
}

/**
 * Records that a session was opened: settings that worked once are not considered wrong when a later handshake fails.
 */
export async function recordServerOpened({ id, companyId }: ServerRow): Promise<void> {
  await query("update smtp_configs set worked_at = now() where id = $1 and company_id = $2 and worked_at is null", [
    id,
    companyId,
  ]);
}

/** Records that the server accepted an email. */
export async function recordServerWorks({ id, companyId }: ServerRow): Promise<void> {
  await query(
    `update smtp_configs
     set failing_since = null, backoff_until = null, backoff_count = 0, last_error = null, last_error_at = null
     where id = $1 and company_id = $2 and failing_since is not null`,
    [id, companyId],
  );
}

/** Time after which a running probe is presumed lost together with its node. */
const PROBE_MS = 60_000;

const CLAIM_PROBE = `
  with claimed as (
    update smtp_configs set backoff_until = now() + $3 * interval '1 millisecond'
    where id = $1 and company_id = $2 and failing_since is not null and (backoff_until is null or backoff_until <= now())
    returning id)
  select exists (select from claimed) as claimed, failing_since is null as works,
    extract(epoch from backoff_until - now())::float8 * 1000 as wait_ms
  from smtp_configs where id = $1 and company_id = $2`;

/** Claims the right to send one email as a probe to a paused server; only one node at a time gets it. */
export async function claimProbe({ id, companyId }: ServerRow): Promise<"probe" | "works" | { waitMs: number }> {
  const row = await queryOne<{ claimed: boolean; works: boolean; wait_ms: number | null }>(CLAIM_PROBE, [
    id,
    companyId,
    PROBE_MS,
  ]);
  if (row?.claimed) return "probe";
  // A configuration deleted in the meantime is noticed by the transport.
  if (!row || row.works) return "works";
  return { waitMs: Math.max(0, row.wait_ms ?? 0) };
}

export async function releaseProbe({ id, companyId }: ServerRow): Promise<void> {
  await query(
    "update smtp_configs set backoff_until = now() where id = $1 and company_id = $2 and failing_since is not null",
    [id, companyId],
  );
}
