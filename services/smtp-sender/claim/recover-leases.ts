/**
 * Recovers expired leases, whose sender died, hangs or lost the database. Recipients it had marked without a recorded
 * result are in doubt: in a newsletter they become `unknown` and are not sent again without a resume; transactional
 * mail returns to the queue. Unmarked recipients were not handed over. The new fence voids anything the old owner still
 * writes, except results of recipients in doubt (models/statements/record-late-outcomes.ts).
 *
 * Each sender checks every 2 seconds for leases not renewed for SEND_LEASE_SECONDS, and later after a database outage
 * (engine/lease-recovery.ts). Live owners are asked first (ask-owners.ts), and their leases wait. A statement sent into
 * a broken network may arrive when the network heals, before live senders have written their results: so each statement
 * does nothing if it starts more than MAX_LATE_MS after the database's clock was read for it.
 */
import { inAnyPart } from "../../../models/database/campaign-no.ts";
import { query } from "../../../models/database/db.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { IN_DOUBT_ERROR } from "../../../models/statements/record-late-outcomes.ts";

const { queued, sending, unknown } = SENT_EMAIL_STATUS;

const DOUBT = IN_DOUBT_ERROR;
export const MAX_LATE_MS = 2_000;
const IN_TIME = (at: string) => `now() < ${at}::timestamptz + interval '${MAX_LATE_MS} milliseconds'`;
/** Grace period for this node's own leases: it is alive, and writes its results first when the database is back. */
const OWN_GRACE_MS = 60_000;

// Locked in id order, as in the senders' other statements.
const COUNTED = (doubtful: string) => `per_campaign as (
    select campaign_id, count(*)::int n from ${doubtful} group by campaign_id),
  locked as (
    select c.id, d.n from per_campaign d
    join campaigns c on c.id = d.campaign_id order by c.id for no key update of c),
  counted as (
    update campaigns c set failed_count = c.failed_count + l.n, tried_unsent = c.tried_unsent + l.n, updated_at = now() from locked l where c.id = l.id)`;

/** Updates each campaign with its number of recipients in doubt. */
const PER_CAMPAIGN = (freed: string) => `
  select distinct f.campaign_id, f.company_id, coalesce(d.n, 0) as doubtful
  from ${freed} f left join per_campaign d on d.campaign_id = f.campaign_id`;

/** $1: this node, $2: extra time for its own leases. */
const EXPIRED_LEASE = `state = ${SEND_CHUNK_STATE.leased}
      and lease_until < now() - case when owner = $1 then $2 else 0 end * interval '1 millisecond'`;

export const EXPIRED_CHUNKS = `
  with expired as (
    select campaign_id, no, company_id, lo, marked_to, is_transactional,
      (select c.no from campaigns c where c.id = campaign_id and c.company_id = send_chunks.company_id) as campaign_no
    from send_chunks
    where ${EXPIRED_LEASE} and ${IN_TIME("$4")}
      and not exists (select from unnest($5::uuid[], $6::int[]) w (campaign_id, no)
        where w.campaign_id = send_chunks.campaign_id and w.no = send_chunks.no)
    order by lease_until limit 100 for update skip locked),
  doubtful as (
    update sent_emails e set status = ${unknown}, attempts = e.attempts + 1, error = $3
    from expired x
    where not x.is_transactional and ${inAnyPart("e.campaign_no", "x.campaign_no")}
      and e.seq between x.lo and x.marked_to and e.status = ${queued} and e.next_attempt_at is null
    returning x.campaign_id),
  ${COUNTED("doubtful")},
  freed as (
    update send_chunks c
    set state = ${SEND_CHUNK_STATE.ready}, owner = null, lease_until = null, fence = c.fence + 1,
      marked_to = case when c.is_transactional then c.lo - 1 else c.marked_to end
    from expired x where c.campaign_id = x.campaign_id and c.no = x.no and c.company_id = x.company_id)
  ${PER_CAMPAIGN("expired")}`;

export const EXPIRED_SINGLES = `
  with expired as (
    select c.id as campaign_id, c.no, e.seq, c.company_id, c.is_transactional
    from campaigns c
    cross join lateral (
      select seq from sent_emails
      where ${inAnyPart("campaign_no", "c.no")} and next_attempt_at < now() and status = ${sending}
        and not exists (select from unnest($3::uuid[], $4::int[]) w (campaign_id, seq)
          where w.campaign_id = c.id and w.seq = sent_emails.seq)
      order by next_attempt_at limit 500 for update skip locked) e
    where c.status in ('pending', 'sending') and ${IN_TIME("$2")}),
  freed as (
    update sent_emails e
    set status = case when x.is_transactional then ${queued} else ${unknown} end, error = $1,
      next_attempt_at = case when x.is_transactional then now() end
    from expired x where ${inAnyPart("e.campaign_no", "x.no")} and e.seq = x.seq
    returning x.campaign_id, x.company_id, e.status),
  ${COUNTED(`freed where status = ${unknown}`)}
  ${PER_CAMPAIGN("freed")}`;

const EXPIRED_COPIES = `
  with expired as (
    select e.campaign_id, e.seq, e.no, e.company_id, c.is_transactional
    from (
      select campaign_id, seq, no, company_id from sent_email_copies
      where next_attempt_at < now() and status = ${sending} and ${IN_TIME("$2")}
      order by next_attempt_at limit 500 for update skip locked) e
    join campaigns c on c.id = e.campaign_id and c.company_id = e.company_id)
  update sent_email_copies e
  set status = case when x.is_transactional then ${queued} else ${unknown} end, error = $1,
    next_attempt_at = case when x.is_transactional then now() end
  from expired x where e.campaign_id = x.campaign_id and e.seq = x.seq and e.no = x.no
    and ${sameCompany("e.company_id", "x.company_id")}`;

/** An expired lease of a chunk, or the expired claim of an individually claimed recipient (`no` is null). */
export interface ExpiredLease {
  company_id: string;
  campaign_id: string;
  /** Null for an individually claimed recipient, which `seq` and its tries identify. */
  no: number | null;
  seq: number;
  fence: number;
  /** Null: rows do not record who claimed them. */
  owner: string | null;
  expired_ms: number;
}

const FIND_EXPIRED = `
  (select company_id, campaign_id, no, 0 as seq, fence, owner,
      extract(epoch from now() - lease_until)::float8 * 1000 as expired_ms
    from send_chunks where ${EXPIRED_LEASE} and owner <> $1 order by lease_until limit 100)
  union all
  select c.company_id, c.id, null, e.seq, e.attempts, null,
    extract(epoch from now() - e.next_attempt_at)::float8 * 1000
  from campaigns c
  cross join lateral (
    select seq, attempts, next_attempt_at from sent_emails
    where campaign_no = c.no and next_attempt_at < now() and status = ${sending}
    order by next_attempt_at limit 500) e
  where c.status in ('pending', 'sending')`;

/**
 * SQL expression: true if any lease exists. An idle cluster asks this one question, together with the database's clock,
 * instead of running the four statements below.
 */
export const ANY_LEASE = `(select true from send_chunks where state = ${SEND_CHUNK_STATE.leased} order by company_id limit 1)
    or (select true from campaigns where status in ('pending', 'sending') order by status, scheduled_for limit 1)
    or (select true from sent_email_copies where status = ${sending} order by next_attempt_at limit 1)`;

/** Finds expired leases of other nodes; those of retries may be this node's own. */
export const findExpiredLeases = (owner: string): Promise<ExpiredLease[]> =>
  query<ExpiredLease>(FIND_EXPIRED, [owner, OWN_GRACE_MS]);

interface Recovered {
  campaign_id: string;
  company_id: string;
  doubtful: number;
}

/**
 * Recovers the expired leases of all nodes, except those in `wait`; returns their campaigns. `at`: a recent reading of
 * the database's clock.
 */
export async function recoverLeases(
  owner: string,
  at: string,
  wait: readonly ExpiredLease[] = [],
): Promise<Recovered[]> {
  const leased = wait.filter(({ no }) => no !== null);
  const claimed = wait.filter(({ no }) => no === null);
  const ids = (leases: readonly ExpiredLease[]) => leases.map(({ campaign_id }) => campaign_id);
  const values = [owner, OWN_GRACE_MS, DOUBT, at, ids(leased), leased.map(({ no }) => no)];
  const chunks = await query<Recovered>(EXPIRED_CHUNKS, values);
  const singles = await query<Recovered>(EXPIRED_SINGLES, [DOUBT, at, ids(claimed), claimed.map(({ seq }) => seq)]);
  await query(EXPIRED_COPIES, [DOUBT, at]);
  return [...chunks, ...singles];
}

/** Ends all leases at start, if no other process can hold one (embedded database). */
export async function endAllLeases(): Promise<void> {
  await query(`update send_chunks set lease_until = '-infinity' where state = ${SEND_CHUNK_STATE.leased}`);
  await query(
    `update sent_emails set next_attempt_at = now() where next_attempt_at is not null and status = ${sending}`,
  );
  await query(`update sent_email_copies set next_attempt_at = now() where status = ${sending}`);
}
