/**
 * SQL that counts a company's messages by recipient domain: a sample of every `$4`th message, every `$5`th bounce and every
 * `$6`th complaint, scaled up; with 1 the counts are exact. $1 is the company, $2 the start time, and $3 an id that is not
 * younger than it. $7 is the campaign, or else the time before which small campaigns are too old.
 */
import { subscriberAt } from "../../../models/database/row-at.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { campaignsOf, HAS_FAILED } from "./mails-by-status.ts";

export const MAX_DOMAINS = 100;

/** Consecutive messages of a campaign are adjacent on disk, and so are people who joined a list together. */
const RUN_LENGTH = 100;
/**
 * Maximum number of other people between the first and the last of a run; with more, people are looked up individually.
 */
const MAX_OTHERS_IN_RUN = 25;
/** Number of evenly spaced ranges in which small campaigns are sampled. */
const SAMPLED_RANGES = 100;
/** Newest campaigns whose refusals are read; limits per campaign for failed and for waiting messages; and the total. */
const MAX_REFUSING = 100;
const REFUSALS = 100;
const ALL_REFUSALS = 400;
/** Newest bounces whose texts are read, beside the counted ones. */
const MAX_TEXTS = 250;

const { queued, sent, failed } = SENT_EMAIL_STATUS;

/** Normalises internationalised domains (punycode), once per domain instead of per message. */
const CANONICAL = `case when d.domain ~ '^[ -~]*$' then d.domain else split_part(address_key('a@' || d.domain), '@', 2) end`;

/** Erased persons have no address; their messages are removed at the end. */
const domainOf = (known = "null") => `split_part(coalesce(lower(s.email collate "C"), ${known},
  (${subscriberAt("$1", "s.subscriber_id", "r.email_key")})), '@', 2)`;

const KEPT = "c.recipients_state = 'kept' and (c.finished_at is null or c.finished_at >= $2)";

const COUNTS = `count(*) as sent, count(*) filter (where s.status = ${sent}) as delivered,
  count(*) filter (where s.opened_at is not null) as opens`;

/** Evenly spaced runs of one campaign; the first depends on its number only, so that results are repeatable. */
const runsOf = (campaigns: string) => `
  select c.no, run.lo, run.lo + ${RUN_LENGTH - 1} as hi
  from ${campaigns}
  cross join generate_series(1 + ${RUN_LENGTH} * mod(hashint4extended(c.no, 0) & ${2 ** 31 - 1}, $4::int)::int, c.next_seq - 1, ${RUN_LENGTH} * $4::int) run (lo)
  where c.company_id = $1 and ${KEPT}`;

const LAST =
  "(select no from campaigns where company_id = $1 and no is not null order by company_id desc, no desc limit 1)";

/**
 * First campaign number expanded since $7, because numbers are assigned at expansion. Uses a binary search with one
 * look-up per step, because no index has the time.
 */
const FIRST = `(
  with recursive search (lo, hi) as (
    select 0::bigint, ${LAST} + 1::bigint
    union all
    select case when k.is_since then s.lo else k.no + 1 end, case when k.is_since then (s.lo + s.hi) / 2 else s.hi end
    from search s
    cross join lateral (
      select max(no)::bigint as no, coalesce(bool_and(began_at >= $7::timestamptz), true) as is_since
      from (
        select no, coalesce(expansion_began_at, created_at) as began_at from campaigns
        where company_id = $1 and no >= (s.lo + s.hi) / 2 order by company_id, no limit 1) one) k
    where s.lo < s.hi)
  select lo from search where (lo < hi) is not true)`;

/**
 * There may be a million campaigns of one message, so not even their numbers are all read: the company's range of
 * numbers is divided, and each $4th part is read. Comparing and sorting by the full key prevents the use of other
 * indexes, which would read all campaigns for each part.
 */
const MAILS_OF_SMALL = `
  select ${domainOf()} as domain, ${COUNTS}
  from (
    select ${FIRST} as lo, ${LAST} as hi) numbers
  cross join lateral (select ceil((numbers.hi - numbers.lo + 1) / (${SAMPLED_RANGES}::float8 * $4::int))::bigint as width) piece
  cross join lateral generate_series(numbers.lo + piece.width * ($4::int / 2), numbers.hi::bigint, piece.width * $4::int) place (lo)
  cross join lateral (
    select * from campaigns
    where (company_id, no) >= ($1, place.lo) and (company_id, no) < ($1, place.lo + piece.width) and total_emails <= ${RUN_LENGTH}
    order by company_id, no limit piece.width) c
  cross join lateral (select * from sent_emails where campaign_no = c.no offset 0) s
  where ${KEPT} and s.sent_at >= $2
  group by 1`;

const LARGE = runsOf(`(select * from campaigns where company_id = $1 and total_emails > ${RUN_LENGTH} offset 0) c`);

/**
 * People of a run mostly follow its first one; others are looked up by key. Limits force this plan: by its own estimate
 * the planner would read everybody.
 */
const mailsOf = (runs: string) => `
  select ${domainOf("s.email_key")} as domain, ${COUNTS}
  from (${runs}) run
  cross join lateral (
    with mail as materialized (
      select subscriber_id, email, status, sent_at, opened_at from sent_emails
      where campaign_no = run.no and seq between run.lo and run.hi),
    person as materialized (
      select id, email_key from (
        select company_id, id, email_key from subscribers
        where (company_id, id) >= ($1, (select subscriber_id from mail where email is null limit 1))
        order by company_id, id limit ${RUN_LENGTH + MAX_OTHERS_IN_RUN}) next
      where company_id = $1)
    select mail.*, person.email_key from mail left join person on person.id = mail.subscriber_id
    where mail.sent_at >= $2 offset 0) s
  group by 1`;

/** Samples messages of campaign c: the first failed ones, because those never attempted come after them. */
const someOf = (which: string, order: string) =>
  `select * from sent_emails s where s.campaign_no = c.no and ${which} order by ${order} limit ${REFUSALS}`;

/**
 * A refusal that is not a bounce is stored without a time: for a waiting message its next attempt is the latest
 * possible time, for a failed one its campaign's end.
 */
const refusalsOf = (campaign: string) => `
  select ${domainOf()} as domain, max(s.refused) as refused
  from (
    select array[extract(epoch from case s.status when ${queued} then least(s.next_attempt_at, now())
      else coalesce(c.finished_at, now()) end)::float8, s.campaign_no, s.seq] as refused, s.email, s.subscriber_id
    from (
      select c.no, c.finished_at from ${campaignsOf(["failed"])}
      where c.company_id = $1 and ${KEPT}${campaign && ` and c.id = ${campaign}`}
      order by c.id desc limit ${MAX_REFUSING}) c
    cross join lateral (
      (select * from (${someOf(HAS_FAILED, "s.seq")}) s where s.status = ${failed} and s.smtp_response is not null)
      union all
      (select * from (${someOf("s.next_attempt_at is not null", "s.next_attempt_at desc")}) s
       where s.status = ${queued} and s.smtp_response is not null)) s
    order by 1 desc limit ${ALL_REFUSALS}) s
  group by 1`;

/** Reads ids from an index only; samples by a hash if not all are counted. */
const idsOf = (type: "bounced" | "complained", campaign: string, every?: string) => `
  select id from email_events
  where company_id = $1 and type = '${type}' and id >= $3 and created_at >= $2${campaign && ` and campaign_id = ${campaign}`}
    ${every ? `and mod(uuid_hash(id), ${every}::int) = 0` : `order by id desc limit ${MAX_TEXTS}`}`;

const eventsOf = (campaign: string) => `
  select split_part(lower(e.recipient collate "C"), '@', 2) as domain,
    count(*) filter (where e.metadata->>'bounce_type' = 'hard') * $5::bigint as hard,
    count(*) filter (where e.metadata->>'bounce_type' = 'soft') * $5::bigint as soft,
    count(*) filter (where e.metadata->>'bounce_type' = 'block') * $5::bigint as block,
    count(*) filter (where e.type = 'complained') * $6::bigint as complaints,
    max(e.id::text) filter (where e.type = 'bounced' and e.metadata->>'diagnostic' is not null) as bounce
  from email_events e
  where e.company_id = $1
    and e.id = any (array(${idsOf("bounced", campaign, "$5")} union all ${idsOf("complained", campaign, "$6")}))
  group by 1
  union all
  select split_part(lower(e.recipient collate "C"), '@', 2), 0, 0, 0, 0, max(e.id::text)
  from email_events e
  where e.company_id = $1 and e.metadata->>'diagnostic' is not null and e.id = any (array(${idsOf("bounced", campaign)}))
  group by 1`;

const statement = (mails: string, campaign = "") => `
  with d as (
    select domain, sent, delivered, opens, null::float8[] as refused, 0 as hard, 0 as soft, 0 as block, 0 as complaints, null as bounce
    from (${mails}) m
    union all
    select domain, 0, 0, 0, refused, 0, 0, 0, 0, null from (${refusalsOf(campaign)}) r
    union all
    select domain, 0, 0, 0, null, hard, soft, block, complaints, bounce from (${eventsOf(campaign)}) e)
  select ${CANONICAL} as domain, sum(d.sent)::bigint * $4::int as sent, sum(d.delivered)::bigint * $4::int as delivered,
    sum(d.hard)::bigint as hard, sum(d.soft)::bigint as soft, sum(d.block)::bigint as block,
    sum(d.complaints)::bigint as complaints, sum(d.opens)::bigint * $4::int as opens, max(d.refused) as refused, max(d.bounce) as bounce
  from d
  group by 1
  having sum(d.sent + d.hard + d.soft + d.block + d.complaints) > 0 or max(d.refused) is not null
  order by 2 desc, sum(d.hard + d.soft + d.block) desc, 1
  limit ${MAX_DOMAINS + 1}`;

export const DOMAINS_OF_DAYS = statement(`${mailsOf(LARGE)} union all ${MAILS_OF_SMALL}`);
export const DOMAINS_OF_CAMPAIGN = statement(
  mailsOf(runsOf("(select * from campaigns where company_id = $1 and id = $7::uuid) c")),
  "$7::uuid",
);
