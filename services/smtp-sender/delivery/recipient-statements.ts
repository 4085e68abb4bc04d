/**
 * Statements that read the recipients of a batch. They run for every hundred emails on a connection that keeps its
 * plans.
 */

import { campaignNo, inAnyPart } from "../../../models/database/campaign-no.ts";
import { isOnTimeline } from "../../../models/database/history.ts";
import { subscriberAt, suppressionAt } from "../../../models/database/row-at.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";

const { queued, sending } = SENT_EMAIL_STATUS;

/** The recipients e of the campaign $1 of the company $2. */
const OF_CAMPAIGN = `e.campaign_no = ${campaignNo("$1", "$2")}`;

/**
 * Positions in the campaign to join with: rows that contain both campaign and seq are looked up by both. With a
 * constant campaign, a planner that believes the table to be small reads the whole campaign and compares each row.
 */
const places = (columns: string, values: string) => `r as materialized (
    select ${campaignNo("$1", "$2")} as campaign_no, $1::uuid as campaign_id, ${columns} from unnest(${values}) r (${columns}))`;
/** Rows contain the address only if the subscriber does not. */
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

/** Columns of every RecipientRow; alias e = sent_emails, s = subscribers. */
const MAIL = `e.campaign_no, e.seq, ${ADDRESS} as email, e.cc, e.bcc, e.subscriber_id, e.variables::text, e.variant,
  s.first_name, s.last_name, s.attributes::text, s.status as subscriber_status`;

/** Checks only suppressions: every subscriber who has unsubscribed or whose address bounced has one. */
const BLOCKED_COPIES = `case when e.cc is not null or e.bcc is not null then (
    select json_object_agg(address, kind)
    from (
      select distinct address, blocked_by($2, address) as kind
      from unnest(coalesce(e.cc, '{}') || coalesce(e.bcc, '{}')) address) a
    where kind is not null and not ($4::boolean and kind = 'unsubscribed'))
  end as blocked_copies`;

/** The columns of a recipient; $4 = is_transactional. */
const RECIPIENT = `${MAIL}, e.attempts, ${BLOCKED}, ${BLOCKED_COPIES}`;

/**
 * Maximum bytes of values per read: a campaign's receivers may have a few bytes each or 16 MB, and hundreds of batches
 * read ahead.
 */
export const BYTES_AHEAD = 256 * 1024;

/** Reads at most $6 rows, and stops after the first BYTES_AHEAD bytes. */
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

/** Reads only the given rows: others of the chunk may be in progress and still look queued. */
export const READ_AGAIN = `
  select ${RECIPIENT} from sent_emails e
  ${OF_SUBSCRIBER}
  where ${OF_CAMPAIGN} and e.seq = any ($3)
    and e.status = ${queued} and e.next_attempt_at is null
  order by e.seq`;

/** Checks whether recipients and their copies may still get their mail; in any state, because some are claimed. */
export const RECHECK = `
  select e.seq, s.status as subscriber_status, ${BLOCKED}, ${BLOCKED_COPIES}
  from sent_emails e
  left join lateral (${subscriberAt("$2", "e.subscriber_id", "r.status, r.email")}) s on true
  where ${OF_CAMPAIGN} and e.seq = any ($3)`;

/**
 * Claims due deferred recipients: each is its own lease, fenced by its number of tries. Uses arrays, for which the
 * planner expects ten rows: for a single row it may decide to read a whole partition that was empty when last analysed.
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

/** Extends the leases of claimed retries; those taken over by another node are missing from the result. */
export const RENEW = `
  with ${places("seq, attempts", "$3::int[], $4::int[]")}
  update sent_emails e set next_attempt_at = now() + $5 * interval '1 millisecond'
  from r where e.campaign_no = r.campaign_no and e.seq = r.seq
    and e.status = ${sending} and e.attempts = r.attempts
  returning e.seq`;

/** Reason why the campaign was stopped early, if it was. An error after the last email stopped nothing. */
const STOPPED_BY = `(select error from campaigns where id = $1 and company_id = $2 and status <> 'completed')`;

/** The same for copies: one row per copy, with its recipient. */
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

/** Checks whether copies may still be sent. */
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
