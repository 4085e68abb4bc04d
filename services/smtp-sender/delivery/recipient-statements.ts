/** Reads the recipients of a batch. Run for every hundred mails on a connection that keeps its plans. */

import { campaignNo, inAnyPart } from "../../../models/database/campaign-no.ts";
import { isOnTimeline } from "../../../models/database/history.ts";
import { subscriberAt, suppressionAt } from "../../../models/database/row-at.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";

const { queued, sending } = SENT_EMAIL_STATUS;

/** The recipients e of the campaign $1 of the company $2. */
const OF_CAMPAIGN = `e.campaign_no = ${campaignNo("$1", "$2")}`;

/**
 * Places in the campaign, to be joined: rows that have the campaign beside the seq are looked up by both. With a constant in
 * its place the planner, where it takes the table for small, reads the whole campaign and compares it with each.
 */
const places = (columns: string, values: string) => `r as materialized (
    select ${campaignNo("$1", "$2")} as campaign_no, $1::uuid as campaign_id, ${columns} from unnest(${values}) r (${columns}))`;
/** Rows have the address only where the subscriber does not have it. */
const ADDRESS = "coalesce(e.email, s.email)";

/** The subscriber s of a recipient e. */
const OF_SUBSCRIBER = `left join lateral (${subscriberAt("$2", "e.subscriber_id", "r.*")}) s on true`;

/** Evaluated once per statement. */
const anySuppressed = (kind: "domain" | "email_key") =>
  `(select exists (select from suppressions where company_id = $2 and ${kind} is not null))`;

/** The kind of the suppression that blocks the recipient e of company $2. */
const BLOCKED = `case when ${ADDRESS} = '' then 'erased'
    when ${anySuppressed("domain")} then blocked_by($2, ${ADDRESS})
    when ${anySuppressed("email_key")} then (${suppressionAt("$2", `address_key(${ADDRESS})`, "r.kind")})
  end as blocked`;

/** What every row of RecipientRow has; alias e = sent_emails, s = subscribers. */
const MAIL = `e.campaign_no, e.seq, ${ADDRESS} as email, e.cc, e.bcc, e.subscriber_id, e.variables::text, e.variant,
  s.first_name, s.last_name, s.attributes::text, s.status as subscriber_status`;

/** Suppressions alone: there is one for every subscriber who has unsubscribed or whose address is dead. */
const BLOCKED_COPIES = `case when e.cc is not null or e.bcc is not null then (
    select json_object_agg(address, kind)
    from (
      select distinct address, blocked_by($2, address) as kind
      from unnest(coalesce(e.cc, '{}') || coalesce(e.bcc, '{}')) address) a
    where kind is not null and not ($4::boolean and kind = 'unsubscribed'))
  end as blocked_copies`;

/** The columns of a recipient; $4 = is_transactional. */
const RECIPIENT = `${MAIL}, e.attempts, ${BLOCKED}, ${BLOCKED_COPIES}`;

/** Values of one read; a campaign's receivers may bring a few bytes each or 16 MB, and hundreds of batches read ahead. */
export const BYTES_AHEAD = 256 * 1024;

/**
 * At most $6 rows, and none after the first BYTES_AHEAD bytes. Of the 13 µs of PostgreSQL that a row with twenty attributes
 * takes, four make a text of these, and five find the subscriber.
 */
export const READ = `
  select * from (
    select r.*,
      sum(coalesce(octet_length(variables), 0) + coalesce(octet_length(attributes), 0))
        over (order by seq rows between unbounded preceding and 1 preceding) as bytes_before
    from (
      select ${RECIPIENT} from sent_emails e
      ${OF_SUBSCRIBER}
      where ${OF_CAMPAIGN} and e.seq > $3 and e.seq <= $5
        and e.status = ${queued} and e.next_attempt_at is null
      order by e.seq limit $6) r) r
  where coalesce(bytes_before, 0) < ${BYTES_AHEAD}
  order by seq`;

/** Only the rows at hand: others of the chunk may be under way, and still look queued. */
export const READ_AGAIN = `
  select ${RECIPIENT} from sent_emails e
  ${OF_SUBSCRIBER}
  where ${OF_CAMPAIGN} and e.seq = any ($3)
    and e.status = ${queued} and e.next_attempt_at is null
  order by e.seq`;

/** Whether they, and their copies, may still get their mail; in any state, because some are claimed. */
export const RECHECK = `
  select e.seq, s.status as subscriber_status, ${BLOCKED}, ${BLOCKED_COPIES}
  from sent_emails e
  left join lateral (${subscriberAt("$2", "e.subscriber_id", "r.status, r.email")}) s on true
  where ${OF_CAMPAIGN} and e.seq = any ($3)`;

/**
 * Takes deferred recipients that are due, one by one: each is its own lease, fenced by its number of tries. As arrays, of which
 * the planner expects ten rows: for one it may as well read all of a part that was empty when last counted.
 */
export const CLAIM_DUE = `
  with due as (
    select e.campaign_no, e.seq from sent_emails e
    where next_attempt_at <= now() and status = ${queued} and ${OF_CAMPAIGN}
      and ${isOnTimeline("$6")}
    order by next_attempt_at limit $3 for update skip locked),
  taken as (
    update sent_emails e
    set status = ${sending}, attempts = e.attempts + 1, next_attempt_at = now() + $5 * interval '1 millisecond'
    from unnest((select array_agg(campaign_no order by seq) from due), (select array_agg(seq order by seq) from due))
      d (campaign_no, seq)
    where ${inAnyPart("e.campaign_no", "d.campaign_no")} and e.seq = d.seq
    returning e.*)
  select ${RECIPIENT} from taken e
  ${OF_SUBSCRIBER}
  order by e.seq`;

/** Extends the leases of claimed retries; those that were taken from us are missing from the answer. */
export const RENEW = `
  with ${places("seq, attempts", "$3::int[], $4::int[]")}
  update sent_emails e set next_attempt_at = now() + $5 * interval '1 millisecond'
  from r where e.campaign_no = r.campaign_no and e.seq = r.seq
    and e.status = ${sending} and e.attempts = r.attempts
  returning e.seq`;

/** Why the campaign was stopped before its end, where it was. An error that came when all was over has stopped nothing. */
const STOPPED_BY = `(select error from campaigns where id = $1 and company_id = $2 and status <> 'completed')`;

/** The same for copies: a row for each, with the recipient that it is a copy for. */
export const CLAIM_DUE_COPIES = `
  with due as (
    select campaign_id, ${campaignNo("$1", "$2")} as campaign_no, seq, no from sent_email_copies
    where next_attempt_at <= now() and status = ${queued} and campaign_id = $1 and ${sameCompany("company_id", "$2")}
      and ${isOnTimeline("$5")}
    order by next_attempt_at limit $3 for update skip locked),
  taken as (
    update sent_email_copies c
    set status = ${sending}, attempts = c.attempts + 1, next_attempt_at = now() + $4 * interval '1 millisecond'
    from due where c.campaign_id = due.campaign_id and c.seq = due.seq and c.no = due.no
      and ${sameCompany("c.company_id", "$2")}
    returning due.campaign_no, c.seq, c.no, c.email, c.attempts)
  select ${MAIL}, t.attempts, t.no as copy_no, t.email as copy_email,
    blocked_by($2, t.email) as blocked, null::json as blocked_copies, ${STOPPED_BY} as stopped_by
  from taken t
  cross join lateral (select * from sent_emails where campaign_no = t.campaign_no and seq = t.seq limit 1) e
  ${OF_SUBSCRIBER}
  order by t.seq, t.no`;

/** Whether these copies may still go out. */
export const RECHECK_COPIES = `
  with ${places("seq, no", "$3::int[], $4::int[]")}
  select c.seq, c.no as copy_no, blocked_by(c.company_id, c.email) as blocked, ${STOPPED_BY} as stopped_by
  from r join sent_email_copies c on c.campaign_id = r.campaign_id and c.seq = r.seq and c.no = r.no
    and ${sameCompany("c.company_id", "$2")}`;

export const RENEW_COPIES = `
  with ${places("seq, attempts, no", "$3::int[], $4::int[], $6::int[]")}
  update sent_email_copies c set next_attempt_at = now() + $5 * interval '1 millisecond'
  from r where c.campaign_id = r.campaign_id and ${sameCompany("c.company_id", "$2")} and c.seq = r.seq and c.no = r.no
    and c.status is not distinct from ${sending} and c.attempts = r.attempts
  returning c.seq, c.no as copy_no`;
