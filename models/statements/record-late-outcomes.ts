/**
 * Records results of recipients whose lease the sender has lost: it was frozen or cut off from PostgreSQL and recovery
 * put them in doubt, or the database lost written results. Nothing here needs a lease. Each statement changes only what
 * nobody else has settled, and is idempotent.
 *
 * An accepted email is accepted regardless of the recipient's current owner: queued, sending and unknown become sent.
 * Other results apply only to the sender's own doubt: the row has recovery's sentence, and no later lease can have put
 * it there. A chunk's fence grows by one with each lease, recovery, release and resume, so a fence at most two above
 * the sender's means that recovery and at most one lease, which has not expired.
 *
 * Requeued recipients are due individually at once, because their chunk may be closed.
 */
import { lateStatus, MAY_SEND_AGAIN } from "../campaign-lifecycle.ts";
import { inAnyPart } from "../database/campaign-no.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";
import { variantsSent } from "./campaign-variants.ts";
import { copiesWritten, eventsOf, newCopies, QUEUED_WEBHOOKS } from "./record-outcomes.ts";

const { sent, bounced, queued, sending, unknown, suppressed } = SENT_EMAIL_STATUS;

/** Error that recovery stores for a recipient in doubt. */
export const IN_DOUBT_ERROR = "The sender stopped before it recorded the result. The mail may have been delivered.";
const DOUBT = `'${IN_DOUBT_ERROR}'`;

/** SQL: recipient e is in doubt because of the chunk's lease with this fence. */
const isDoubtOf = (fence: string) => `e.status = ${unknown} and e.error = ${DOUBT}
  and c.fence between ${fence} + 1 and ${fence} + 2`;

/**
 * From `counts` (campaign_id, sent, failed, tried_unsent, bounced, queued: increments): updates each campaign's
 * counters, and its status if it had ended already.
 */
export const LATE_COUNTED = `locked as (
  select c.id, n.* from counts n join campaigns c on c.id = n.campaign_id
  order by c.id for no key update of c),
counted as (
  update campaigns c
  set sent_count = c.sent_count + n.sent, failed_count = c.failed_count + n.failed, updated_at = now(),
    tried_unsent = c.tried_unsent + n.tried_unsent, hard_bounces = c.hard_bounces + n.bounced,
    status = ${lateStatus("n")}, finished_at = case when n.queued > 0 then null else c.finished_at end
  from locked n where c.id = n.id
  returning c.id)`;

/**
 * From `written` (campaign_id, company_id, variant, status, before): updates each campaign's counters, and its status
 * if it had ended already.
 */
const COUNTED = `counts as (
  select campaign_id, count(*) filter (where status = ${sent})::int as sent,
    (count(*) filter (where status > ${sent}) - count(*) filter (where before > ${sent}))::int as failed,
    (count(*) filter (where status > ${sent} and status <> ${suppressed})
      - count(*) filter (where before > ${sent}))::int as tried_unsent,
    count(*) filter (where status = ${bounced})::int as bounced,
    count(*) filter (where status = ${queued})::int as queued
  from written group by campaign_id),
${LATE_COUNTED},
${variantsSent("written", `case when w.status = ${sent} then 1 else 0 end`)}`;

/**
 * `mayGet`: condition for row e (of chunk c) to still get its result r, unless that is "sent". LATERAL with a LIMIT
 * keeps the planner's estimate for arrays at ten rows: for one row it might read a whole partition that was empty when
 * last analysed.
 */
const settled = (mayGet: string) => `result as (
  select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[],
      $9::float8[], $10::text[], $11::text[], $12::int[], $13::uuid[], $14::text[], $15::text[], $16::int[])
    r (n, company_id, campaign_id, no, seq, attempts, status, tried, delay_ms, error, response, campaign_no, id, email,
      message_id, fence)),
target as (
  select r.n, e.status as before
  from result r
  cross join lateral (
    select ${MAY_SEND_AGAIN("g")} as may_send_again from campaigns g
    where g.id = r.campaign_id and g.company_id = r.company_id and g.no = r.campaign_no limit 1) g
  join sent_emails e on e.campaign_no = r.campaign_no and e.seq = r.seq
  left join send_chunks c on c.campaign_id = r.campaign_id and c.no = r.no and c.company_id = r.company_id
  where case when r.status = ${sent} then e.status in (${queued}, ${sending}, ${unknown}) else ${mayGet} end
  order by e.campaign_no, e.seq for no key update of e),
written as (
  update sent_emails e
  set status = r.status, error = r.error, smtp_response = r.response,
    attempts = case when t.before = ${unknown} then r.attempts + r.tried
      else greatest(e.attempts, r.attempts + r.tried) end,
    next_attempt_at = case when r.status = ${queued} then now() + coalesce(r.delay_ms, 0) * interval '1 millisecond' end,
    sent_at = case when r.status = ${sent} then now() else e.sent_at end,
    bounced_at = case when r.status = ${bounced} then now() else e.bounced_at end
  from result r cross join lateral (select before from target where n = r.n limit 1) t
  where ${inAnyPart("e.campaign_no", "r.campaign_no")} and e.seq = r.seq
  returning r.id, r.company_id, r.campaign_id, r.email, r.message_id, e.status, r.response as smtp_response,
    r.error, r.n, t.before, e.variant)`;

const OF_OWN_DOUBT = `case
      when r.status = ${queued} and not g.may_send_again then false
      when r.no is null then e.status = ${unknown} and e.error = ${DOUBT} and e.attempts = r.attempts
      else ${isDoubtOf("r.fence")} end`;

/** State before the result, or before the claim. */
const BACK_TO_QUEUE = `case
      when r.no is not null then e.status = ${queued} and e.next_attempt_at is null and e.attempts = r.attempts
      when e.status = ${sending} then e.attempts = r.attempts
      else e.status = ${queued} and e.next_attempt_at is not null and e.attempts = r.attempts - 1 end`;

const LATE_COPY = `(c.status in (${sending}, ${unknown}) or (c.status = ${queued} and r.status = ${sent}))`;

const record = (
  mayGet: string,
) => `with ${[settled(mayGet), COUNTED, ...eventsOf(17), newCopies(18), copiesWritten(19, LATE_COPY)].join(",\n")}
  select (select json_agg(id) from counted) as campaign_ids, ${QUEUED_WEBHOOKS} as webhook_company_ids`;

/** Results as RECORD has them, with the fence of each; then bounces, copies, and results of copies claimed by themselves. */
export const RECORD_LATE = record(OF_OWN_DOUBT);

/**
 * Does the same for results that had been written in transactions that the database has lost: rows are in their earlier
 * state. Events and webhooks were lost with the row, or have stayed with it.
 */
export const RECORD_AGAIN = record(BACK_TO_QUEUE);

/**
 * Requeues recipients of a lease (company, campaign, no, fence) whose handed-over recipients all have results: those
 * still in doubt were not sent. One lease at a time: the values of the look-up are then known, and no plan can scan an
 * index from end to end.
 */
export const REQUEUE_UNSENT = `with chunk as (
  select c.company_id, c.campaign_id, g.no as campaign_no, c.no, c.lo, c.hi, c.fence, l.fence as held
  from (select $1::uuid, $2::uuid, $3::int, $4::int) l (company_id, campaign_id, no, fence)
  join send_chunks c on c.campaign_id = l.campaign_id and c.no = l.no and c.company_id = l.company_id
  join campaigns g on g.id = c.campaign_id and g.company_id = c.company_id and ${MAY_SEND_AGAIN("g")}
  for no key update of c),
written as (
  update sent_emails e
  set status = ${queued}, attempts = e.attempts - 1, error = null, next_attempt_at = now()
  from chunk c
  where ${inAnyPart("e.campaign_no", "(select campaign_no from chunk)")}
    and e.seq between (select lo from chunk) and (select hi from chunk) and ${isDoubtOf("c.held")}
  returning c.campaign_id, c.company_id, e.variant, e.status, ${unknown} as before),
${COUNTED}
  select count(*)::int as queued from written`;
