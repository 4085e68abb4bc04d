/**
 * Leases that ran out: their sender died, hangs or lost the database. What it had marked and not recorded is in doubt:
 * of a newsletter it becomes `unknown` and is never sent again by itself, a transactional mail goes back to the queue.
 * What was not marked was not handed over. The new fence makes whatever the old owner still wants to write void.
 */

import { query } from "../../../models/database/db.ts";
import { sameCompany } from "../../../models/database/same-company.ts";

const DOUBT = "The sender stopped before it could record what became of this mail. It may have been delivered.";
/** An owner that lives writes its results first: it comes back to a lease that nobody took from it. */
const OWN_GRACE_MS = 60_000;

// Locked in the order of ids, as senders do.
const COUNTED = (doubtful: string) => `locked as (
    select c.id, d.n from (select campaign_id, count(*) n from ${doubtful} group by campaign_id) d
    join campaigns c on c.id = d.campaign_id order by c.id for no key update of c),
  counted as (
    update campaigns c set failed_count = c.failed_count + l.n, updated_at = now() from locked l where c.id = l.id)`;

const EXPIRED_CHUNKS = `
  with expired as (
    select campaign_id, no, company_id, lo, marked_to, is_transactional from send_chunks
    where state = 1 and lease_until < now() - case when owner = $1 then $2 else 0 end * interval '1 millisecond'
    order by lease_until limit 100 for update skip locked),
  doubtful as (
    update sent_emails e set status = 6, attempts = e.attempts + 1, error = $3
    from expired x
    where not x.is_transactional and e.campaign_id = x.campaign_id and ${sameCompany("e.company_id", "x.company_id")}
      and e.seq between x.lo and x.marked_to and e.status = 0 and e.next_attempt_at is null
    returning e.campaign_id),
  ${COUNTED("doubtful")},
  freed as (
    update send_chunks c
    set state = 0, owner = null, lease_until = null, fence = c.fence + 1,
      marked_to = case when c.is_transactional then c.lo - 1 else c.marked_to end
    from expired x where c.campaign_id = x.campaign_id and c.no = x.no and c.company_id = x.company_id)
  select distinct campaign_id, company_id, (select count(*) from doubtful)::int as doubtful from expired`;

const EXPIRED_SINGLES = `
  with expired as (
    select e.campaign_id, e.seq, e.company_id, c.is_transactional
    from campaigns c
    cross join lateral (
      select campaign_id, seq, company_id from sent_emails
      where campaign_id = c.id and ${sameCompany("company_id", "c.company_id")} and next_attempt_at < now() and status = 1
      order by next_attempt_at limit 500 for update skip locked) e
    where c.status in ('pending', 'sending')),
  freed as (
    update sent_emails e
    set status = case when x.is_transactional then 0 else 6 end, error = $1,
      next_attempt_at = case when x.is_transactional then now() end
    from expired x where e.campaign_id = x.campaign_id and e.seq = x.seq
      and ${sameCompany("e.company_id", "x.company_id")}
    returning e.campaign_id, e.company_id, e.status),
  ${COUNTED("freed where status = 6")}
  select distinct campaign_id, company_id, (select count(*) from freed where status = 6)::int as doubtful from freed`;

export interface Recovered {
  campaign_id: string;
  company_id: string;
  doubtful: number;
}

/** Frees what ran out anywhere; the campaigns it concerns. */
export async function recover(owner: string): Promise<Recovered[]> {
  const chunks = await query<Recovered>(EXPIRED_CHUNKS, [owner, OWN_GRACE_MS, DOUBT]);
  const singles = await query<Recovered>(EXPIRED_SINGLES, [DOUBT]);
  return [...chunks, ...singles];
}

/** Only where no other process can hold a lease (the embedded database): those of the one before need not run out. */
export async function endAllLeases(): Promise<void> {
  await query("update send_chunks set lease_until = '-infinity' where state = 1");
  await query("update sent_emails set next_attempt_at = now() where next_attempt_at is not null and status = 1");
}
