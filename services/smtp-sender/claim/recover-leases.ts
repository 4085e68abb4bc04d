/**
 * Leases that ran out: their sender died, hangs or lost the database. Recipients it had marked and not recorded are in
 * doubt: those of a newsletter become `unknown` and are never sent to again by themselves, transactional mail goes back to
 * the queue. Recipients that were not marked were not handed over. The new fence makes void whatever the old owner still
 * wants to write.
 */
import { query } from "../../../models/database/db.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";

const { queued, sending, unknown } = SENT_EMAIL_STATUS;

const DOUBT = "The sender stopped before it could record what became of this mail. It may have been delivered.";
/** Leases of this node itself: it is alive, and writes its results first when the database is back. */
const OWN_GRACE_MS = 60_000;

// Locked in the order of ids, as senders do.
const COUNTED = (doubtful: string) => `per_campaign as (
    select campaign_id, count(*)::int n from ${doubtful} group by campaign_id),
  locked as (
    select c.id, d.n from per_campaign d
    join campaigns c on c.id = d.campaign_id order by c.id for no key update of c),
  counted as (
    update campaigns c set failed_count = c.failed_count + l.n, updated_at = now() from locked l where c.id = l.id)`;

/** Each campaign with its own number of recipients in doubt. */
const PER_CAMPAIGN = (freed: string) => `
  select distinct f.campaign_id, f.company_id, coalesce(d.n, 0) as doubtful
  from ${freed} f left join per_campaign d on d.campaign_id = f.campaign_id`;

const EXPIRED_CHUNKS = `
  with expired as (
    select campaign_id, no, company_id, lo, marked_to, is_transactional from send_chunks
    where state = ${SEND_CHUNK_STATE.leased} and lease_until < now() - case when owner = $1 then $2 else 0 end * interval '1 millisecond'
    order by lease_until limit 100 for update skip locked),
  doubtful as (
    update sent_emails e set status = ${unknown}, attempts = e.attempts + 1, error = $3
    from expired x
    where not x.is_transactional and e.campaign_id = x.campaign_id and ${sameCompany("e.company_id", "x.company_id")}
      and e.seq between x.lo and x.marked_to and e.status = ${queued} and e.next_attempt_at is null
    returning e.campaign_id),
  ${COUNTED("doubtful")},
  freed as (
    update send_chunks c
    set state = ${SEND_CHUNK_STATE.ready}, owner = null, lease_until = null, fence = c.fence + 1,
      marked_to = case when c.is_transactional then c.lo - 1 else c.marked_to end
    from expired x where c.campaign_id = x.campaign_id and c.no = x.no and c.company_id = x.company_id)
  ${PER_CAMPAIGN("expired")}`;

const EXPIRED_SINGLES = `
  with expired as (
    select e.campaign_id, e.seq, e.company_id, c.is_transactional
    from campaigns c
    cross join lateral (
      select campaign_id, seq, company_id from sent_emails
      where campaign_id = c.id and ${sameCompany("company_id", "c.company_id")} and next_attempt_at < now() and status = ${sending}
      order by next_attempt_at limit 500 for update skip locked) e
    where c.status in ('pending', 'sending')),
  freed as (
    update sent_emails e
    set status = case when x.is_transactional then ${queued} else ${unknown} end, error = $1,
      next_attempt_at = case when x.is_transactional then now() end
    from expired x where e.campaign_id = x.campaign_id and e.seq = x.seq
      and ${sameCompany("e.company_id", "x.company_id")}
    returning e.campaign_id, e.company_id, e.status),
  ${COUNTED(`freed where status = ${unknown}`)}
  ${PER_CAMPAIGN("freed")}`;

const EXPIRED_COPIES = `
  with expired as (
    select e.campaign_id, e.seq, e.no, e.company_id, c.is_transactional
    from (
      select campaign_id, seq, no, company_id from sent_email_copies
      where next_attempt_at < now() and status = ${sending} order by next_attempt_at limit 500 for update skip locked) e
    join campaigns c on c.id = e.campaign_id and c.company_id = e.company_id)
  update sent_email_copies e
  set status = case when x.is_transactional then ${queued} else ${unknown} end, error = $1,
    next_attempt_at = case when x.is_transactional then now() end
  from expired x where e.campaign_id = x.campaign_id and e.seq = x.seq and e.no = x.no
    and ${sameCompany("e.company_id", "x.company_id")}`;

interface Recovered {
  campaign_id: string;
  company_id: string;
  doubtful: number;
}

/** Frees what ran out on any node; returns the campaigns it belonged to. */
export async function recoverLeases(owner: string): Promise<Recovered[]> {
  const chunks = await query<Recovered>(EXPIRED_CHUNKS, [owner, OWN_GRACE_MS, DOUBT]);
  const singles = await query<Recovered>(EXPIRED_SINGLES, [DOUBT]);
  await query(EXPIRED_COPIES, [DOUBT]);
  return [...chunks, ...singles];
}

/** Only where no other process can hold a lease (the embedded database): those of the process before need not run out. */
export async function endAllLeases(): Promise<void> {
  await query(`update send_chunks set lease_until = '-infinity' where state = ${SEND_CHUNK_STATE.leased}`);
  await query(
    `update sent_emails set next_attempt_at = now() where next_attempt_at is not null and status = ${sending}`,
  );
  await query(`update sent_email_copies set next_attempt_at = now() where status = ${sending}`);
}
