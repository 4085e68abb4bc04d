/**
 * What record-outcomes.ts does for nearly every mail, without what is nearly never there: mails of leased chunks that were
 * accepted, have no copies, and belong to companies without a webhook that wants to know. The same leases, fences and locks.
 *
 * Whether there is such a webhook is looked up in the statement itself, so in the snapshot in which it writes: one that was
 * added before the statement began gets its event, as with the other form. If there is one, nothing is written, and the
 * answer names its companies; the results are written by the other form then.
 */
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { variantsSent } from "../../../models/statements/campaign-variants.ts";
import {
  AFTER_COUNTING,
  LEASES,
  leaseWhere,
  OVER_GUARD,
  STOPPED,
  wantsDelivered,
} from "../../../models/statements/record-outcomes.ts";

const { sent, queued } = SENT_EMAIL_STATUS;

const WANTED = `wanted as materialized (
  select json_agg(o.company_id) as company_ids
  from (select distinct company_id from unnest($3::uuid[]) company_id) o
  where exists (select from webhook_endpoints p where ${wantsDelivered("o.company_id")}))`;

/**
 * $9: which of the leases, counted from 1; $10, $11: the recipient's key; $12: the server's reply.
 * Recipients may be looked up before their leases: for one lookup, as it expects of the leases, the planner would read all
 * of a part that was empty when last counted.
 */
const WRITTEN = `written as (
  update sent_emails e
  set status = ${sent}, attempts = e.attempts + 1, error = null, smtp_response = r.response,
    sent_at = now()
  from (
    select l.campaign_id, l.company_id, r.campaign_no, r.seq, r.response
    from unnest($9::int[], $10::int[], $11::int[], $12::text[])
      r (lease, campaign_no, seq, response)
    join lease l on l.position = r.lease) r
  where e.campaign_no = r.campaign_no and e.seq = r.seq and e.status = ${queued} and e.next_attempt_at is null
  returning r.campaign_id, r.company_id, e.variant)`;

// Accepted mail ends a run of equal refusals. Locked in the order of ids, as in record-outcomes.ts.
const COUNTED = `locked as (
  select c.id, w.sent
  from (select campaign_id, company_id, count(*) as sent from written group by campaign_id, company_id) w
  join campaigns c on c.id = w.campaign_id and c.company_id = w.company_id
  order by c.id for no key update of c),
counted as (
  update campaigns c
  set sent_count = c.sent_count + l.sent, updated_at = now(), repeated_refusal = null, blocks_in_a_row = 0
  from locked l where c.id = l.id
  returning ${AFTER_COUNTING})`;

export const RECORD_ACCEPTED = `with ${WANTED},
${leaseWhere("and (select company_ids from wanted) is null")},
${WRITTEN},
${COUNTED},
${variantsSent("written", "1")}
select ${LEASES} as leases, ${STOPPED} as stopped, ${OVER_GUARD} as over_guard, null as webhook_company_ids,
  (select count(*) from written)::int as written, (select company_ids from wanted) as wanted_by`;

/** Leases and marks alone: there is no result. */
export const RECORD_LEASES = `with ${leaseWhere()}
select ${LEASES} as leases, null as stopped, null as over_guard, null as webhook_company_ids, 0 as written`;
