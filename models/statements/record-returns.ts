/**
 * Applies later bounces and complaints in one transaction: emails, copies, events with their webhooks, suppressions,
 * subscribers, and the inbound list. services/bounces decides; these are the statements.
 *
 * An email is locked before its events are read (LOCK_MAILS, then EARLIER), so that concurrent reports see each other's
 * writes without a unique index on events.
 */
import { subscriberAt, subscriberOf } from "../database/row-at.ts";
import { sameCompany } from "../database/same-company.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";
import { SOFT_BOUNCES_SUPPRESS_AT } from "./record-outcomes.ts";
import { outboxInsert } from "./webhook-outbox.ts";

const { sent, bounced, unknown } = SENT_EMAIL_STATUS;

/** Days within which a report without a token or Message-ID is matched to an email. */
const DAYS = 14;

const SENT_AT = `(case when s.status in (${sent}, ${bounced}) then s.sent_at
  when s.status = ${unknown} then coalesce(c.expansion_began_at, c.created_at) end)`;
const RECENT = `${SENT_AT} > now() - interval '${DAYS} days'`;
const CAMPAIGN = "join campaigns c on c.no = s.campaign_no and c.company_id = a.company_id";

/** Finds the newest mail to an address within these days: by subscriber, by its own address, or as a copy. */
export const FIND_BY_ADDRESS = `
  select a.n, m.campaign_no, m.seq, m.copy
  from unnest($1::int[], $2::uuid[], $3::text[]) a (n, company_id, address)
  cross join lateral (
    select * from (
      select s.campaign_no, s.seq, false as copy, ${SENT_AT} as went
      from subscribers p join sent_emails s on s.subscriber_id = p.id ${CAMPAIGN}
      where p.company_id = a.company_id and p.email_key = address_key(a.address) and ${RECENT}
        and (s.email is null or address_key(s.email) = address_key(a.address))
      union all
      select s.campaign_no, s.seq, false, ${SENT_AT} from sent_emails s ${CAMPAIGN}
      where s.email is not null and lower(s.email) = lower(a.address) and ${RECENT}
      union all
      select c.no, x.seq, true, x.sent_at
      from sent_email_copies x join campaigns c on c.id = x.campaign_id and c.company_id = x.company_id
      where x.company_id = a.company_id and lower(x.email) = lower(a.address)
        and x.sent_at > now() - interval '${DAYS} days') found
    order by went desc limit 1) m`;

/**
 * Locks emails of the given company in key order, like everywhere. Materialized: in a direct join with campaigns the
 * planner may look emails up by campaign alone and read all of it for each.
 */
export const LOCK_MAILS = `
  with m as materialized (
    select m.*, c.id as campaign_id
    from unnest($1::uuid[], $2::int[], $3::int[]) m (company_id, campaign_no, seq)
    join campaigns c on c.no = m.campaign_no and c.company_id = m.company_id)
  select m.company_id, m.campaign_id, s.campaign_no, s.seq, s.status, s.sent_at,
    coalesce(s.email, (${subscriberAt("m.company_id", "s.subscriber_id", "r.email")})) as email
  from m join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq
  where s.email is distinct from ''
  order by s.campaign_no, s.seq for no key update of s`;

export const LOCK_COPIES = `
  select x.campaign_id, x.seq, x.no, x.email, x.status
  from unnest($1::uuid[], $2::uuid[], $3::int[]) m (company_id, campaign_id, seq)
  join sent_email_copies x on x.campaign_id = m.campaign_id and x.seq = m.seq
    and ${sameCompany("x.company_id", "m.company_id")}
  order by x.campaign_id, x.seq, x.no for no key update of x`;

export const EARLIER = `
  select e.sent_email_id, e.type, e.recipient, e.metadata->>'bounce_type' as kind, e.created_at
  from unnest($1::uuid[], $2::uuid[]) m (company_id, id)
  join email_events e on e.sent_email_id = m.id and ${sameCompany("e.company_id", "m.company_id")}
  where e.type in ('bounced', 'complained')`;

/**
 * Marks emails $1 to $4 as bounced and subtracts them from their day's deliveries. `bounced_at` is the time of the
 * report.
 */
export const WRITE_MAILS = `
  with m as materialized (
    select m.* from unnest($1::uuid[], $2::int[], $3::int[], $4::text[]) m (company_id, campaign_no, seq, error)
    join campaigns c on c.no = m.campaign_no and c.company_id = m.company_id),
  written as (
    update sent_emails s set status = ${bounced}, error = m.error, bounced_at = now()
    from m where s.campaign_no = m.campaign_no and s.seq = m.seq
    returning m.company_id, company_day(m.company_id, s.sent_at) as day)
  insert into company_days as d (company_id, day, slot, returned)
  select company_id, day, pg_backend_pid() % 32, count(*) from written where day is not null group by 1, 2 order by 1, 2
  on conflict (company_id, day, slot) do update set returned = d.returned + excluded.returned`;

export const WRITE_COPIES = `
  update sent_email_copies x set status = ${bounced}, error = m.error
  from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::text[]) m (company_id, campaign_id, seq, no, error)
  where x.campaign_id = m.campaign_id and x.seq = m.seq and x.no = m.no and ${sameCompany("x.company_id", "m.company_id")}`;

export const WRITE_EVENTS = `
  with event as (
    insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, is_first, metadata)
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::bool[], $7::jsonb[])
    returning *),
  queued as (${outboxInsert("event")})
  select distinct company_id from queued`;

/** Serializes concurrent bounces of one address, so that the second counts the first. */
export const LOCK_SOFT = `
  select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended('soft bounces:' || a.company_id || address_key(a.address), 0) as key
    from unnest($1::uuid[], $2::text[]) a (company_id, address) order by 1) k`;

/** Counts soft bounces whose events are written; an address without a subscriber is counted by its events. */
export const COUNT_SOFT = `
  with given as (
    select company_id, address_key(address) as email_key, min(address) as address, count(*)::int as n
    from unnest($1::uuid[], $2::text[]) a (company_id, address) group by 1, 2),
  counted as (
    select g.company_id, g.email_key, g.address,
      soft_bounces_in_a_row(g.company_id, g.address) + case when p.id is null then 0 else g.n end as in_a_row
    from given g left join lateral (${subscriberOf("g.company_id", "g.email_key", "r.id")}) p on true),
  written as (
    update subscribers s set soft_bounces = c.in_a_row, soft_bounced_at = now()
    from counted c where s.company_id = c.company_id and s.email_key = c.email_key)
  select company_id, address from counted where in_a_row >= ${SOFT_BOUNCES_SUPPRESS_AT}`;

/**
 * Keeps a stronger block: a complaint is stronger than a bounce, a bounce than an unsubscribe, the company's own than
 * all.
 */
export const SUPPRESS = `
  with wanted as (
    select distinct on (company_id, address_key(email)) * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
      w (company_id, email, kind, reason)
    order by company_id, address_key(email), kind desc),
  blocked as (
    insert into suppressions (company_id, email, kind, reason) select * from wanted order by company_id, address_key(email)
    on conflict (company_id, email_key) where email_key is not null
    do update set kind = excluded.kind, reason = excluded.reason
      where suppressions.kind = 'unsubscribed' or (suppressions.kind = 'bounced' and excluded.kind = 'complained'))
  update subscribers s set status = w.kind, updated_at = now()
  from wanted w
  where s.company_id = w.company_id and s.email_key = address_key(w.email)
    and s.status <> w.kind and s.status <> 'complained'`;

export const WRITE_RAWS = `
  insert into inbound_raws (id, company_id, raw) select * from unnest($1::uuid[], $2::uuid[], $3::bytea[])`;

export const WRITE_INBOUND = `
  insert into inbound_messages (id, company_id, via, smtp_config_id, sent_email_id, recipient, result, bounce_type, reason,
    dialect, diagnostic, raw_id)
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::uuid[])`;
