/**
 * When something that failed is tried again: the one place for it.
 *
 * | what                                            | how long, how often                                        |
 * |-------------------------------------------------|------------------------------------------------------------|
 * | a recipient that was deferred (4xx, not accepted) | 1 minute, doubling to 8 hours, 12 tries: about 24 hours  |
 * | a mail whose session ended before it was sent   | the next connection, 3 sessions; then as a deferred one    |
 * | a copy (cc, bcc)                                | 3 sessions; given up after 8 failed openings in a row      |
 * | a server that cannot be reached or logged in to | 2 seconds, doubling to 5 minutes; stored in its row, so     |
 * | for now, or defers 20 mails in a row at MAIL    | that all nodes know. After 24 hours campaigns are stopped  |
 * | a server's own limit on connections             | kept for a minute                                          |
 * | no connection slot free, or Redis away          | half a second                                              |
 *
 * The first two rows scale with RETRY_BASE_SECONDS (a minute), and so does the fourth.
 */
import { query, queryOne } from "../../../models/database/db.ts";
import type { TransactionResult } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";

const BASE_SECONDS = 60;
const MAX_FACTOR = 480;
/** A fifth more or less at random: what was deferred together must not come back together. */
const JITTER = 0.2;

/** Tries per recipient, the first one included. */
export const MAX_TRIES = 12;
export const MAX_SESSIONS_PER_MAIL = 3;
export const MAX_SESSIONS_PER_COPY = 3;
/** Failed openings in a row after which waiting copies are given up: about ten minutes. */
export const MAX_FAILED_OPENINGS_PER_COPY = 8;
export const SERVER_LIMIT_KEPT_MS = 60_000;
export const NO_SLOT_PAUSE_MS = 500;

/** Until a deferred recipient is tried again. `tries`: made so far. */
export function retryAfterMs(tries: number, baseMs = BASE_SECONDS * 1_000, random: () => number = Math.random): number {
  const factor = Math.min(2 ** (Math.max(1, tries) - 1), MAX_FACTOR);
  return Math.round(factor * baseMs * (1 + JITTER * (2 * random() - 1)));
}

/** How long a server is left alone after so many failures. */
export function serverPauseMs(failures: number, baseMs = BASE_SECONDS * 1_000, random: () => number = Math.random) {
  const ms = Math.min((baseMs / 30) * 2 ** Math.max(0, failures - 1), baseMs * 5);
  return Math.round(ms * (1 + JITTER * (2 * random() - 1)));
}

/** From the time it has been failing, so that nodes need not share a count. */
function pauseAfterMs(failingForMs: number, baseMs: number): number {
  const first = baseMs / 30;
  return serverPauseMs(Math.floor(Math.log2(1 + failingForMs / first)) + 1, baseMs);
}

const GIVE_UP_AFTER = "24 hours";
/**
 * While it has mail, a failing server is tried every 5 minutes at the latest. After an hour without a try nobody knows
 * what it did meanwhile, and the time of failing begins anew.
 */
const UNTRIED_AFTER = "1 hour";

/** $4: milliseconds since this node last saw it accept a mail; null: not seen. */
const RECORD_FAILURE = `
  update smtp_configs set last_error = $3,
    failing_since = case
      when failing_since is null or coalesce(backoff_until, failing_since) < now() - interval '${UNTRIED_AFTER}' then now()
      else greatest(failing_since, now() - $4::float8 * interval '1 millisecond') end
  where id = $1 and company_id = $2
  returning extract(epoch from now() - failing_since)::float8 * 1000 as failing_for_ms,
    failing_since < now() - interval '${GIVE_UP_AFTER}' as hopeless`;

interface ServerRow {
  id: string;
  companyId: string;
}

/**
 * Stores that the server failed, and until when all senders leave it alone. Its mail is not touched. `hopeless`: it has
 * been failing for a day, at every try of any node.
 */
export async function recordServerFailure(
  { id, companyId }: ServerRow,
  { error, baseMs, acceptedMsAgo }: { error: string; baseMs: number; acceptedMsAgo: number | null },
): Promise<{ ms: number; hopeless: boolean }> {
  const row = await queryOne<{ failing_for_ms: number; hopeless: boolean }>(RECORD_FAILURE, [
    id,
    companyId,
    error,
    acceptedMsAgo,
  ]);
  const ms = pauseAfterMs(row?.failing_for_ms ?? 0, baseMs);
  await query(
    "update smtp_configs set backoff_until = now() + $3 * interval '1 millisecond' where id = $1 and company_id = $2",
    [id, companyId, ms],
  );
  return { ms, hopeless: row?.hopeless ?? false };
}

export async function recordServerWorks({ id, companyId }: ServerRow): Promise<void> {
  await query(
    `update smtp_configs set failing_since = null, backoff_until = null, last_error = null
     where id = $1 and company_id = $2 and failing_since is not null`,
    [id, companyId],
  );
}

const MAX_DEFERRALS_IN_A_ROW = 20;

/** Notices a server that defers everybody's mail, before it has deferred the whole list. */
export class DeferralRun {
  #inARow = 0;

  reset(): void {
    this.#inARow = 0;
  }

  /** The deferral that was one too many. */
  note(result: TransactionResult): Reply | undefined {
    const deferred = result.kind === "refused" && result.stage === "mail" && result.reply.code < 500;
    this.#inARow = deferred ? this.#inARow + 1 : 0;
    return deferred && this.#inARow >= MAX_DEFERRALS_IN_A_ROW ? result.reply : undefined;
  }
}
