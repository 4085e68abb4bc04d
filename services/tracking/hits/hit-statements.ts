/** The statements that store opens and clicks. Run by name: each connection plans them once. */
import { subscriberAt } from "../../../models/database/row-at.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";

// Recent ones each by itself, of those before only the first by a person on each link: a mail may have thousands.
const EARLIER_CLICKS = `
  with clicked as materialized (
    select e.id, e.link, e.created_at, e.machine from email_events e
    where e.sent_email_id = m.id and ${sameCompany("e.company_id", "c.company_id")} and e.type = 'clicked')
  select json_agg(json_build_array(c.id, c.link, extract(epoch from c.created_at) * 1000, c.machine)) from (
    select id, link, created_at, machine from clicked where created_at >= $3
    union all
    select null, link, min(created_at), false from clicked where created_at < $3 and not machine group by link) c`;

/**
 * Mails (by number $4 and $5, with their ids $1) and, of those that were clicked now ($2), the clicks before: recent are
 * those since $3. `version` changes with each hit that is stored, and with whatever else is written to the row. Materialized,
 * so that the campaign is joined to the mails and never its mails to the campaign.
 */
export const READ = `
  with m as materialized (
    select m.id, s.campaign_no, s.seq, s.status, s.sent_at, s.opened_at, s.clicked_at,
      s.email is not distinct from '' as erased, s.xmin::text as version
    from unnest($1::uuid[], $4::int[], $5::int[]) m (id, campaign_no, seq)
    join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq)
  select m.*, c.company_id, c.id as campaign_id, c.individual_tracking, c.deleted_at is not null as is_deleted,
    case when m.id = any ($2::uuid[]) then (${EARLIER_CLICKS}) end as earlier_clicks
  from m join campaigns c on c.no = m.campaign_no
  order by m.campaign_no, m.seq`;

/** Before READ, not within it: a statement that has waited for a lock still sees the clicks of when it began. */
export const LOCK = `
  select from unnest($1::int[], $2::int[]) m (campaign_no, seq)
  join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq
  order by s.campaign_no, s.seq for update of s`;

export const VERSIONS = `
  select s.campaign_no, s.seq, s.xmin::text as version
  from unnest($1::int[], $2::int[]) m (campaign_no, seq)
  join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq`;

// What an event and its mail have in common is taken from the mail's row, which is read for its own change anyway.
export const WRITE = `
  with mail as (
    update sent_emails s set opens = coalesce(s.opens, 0) + m.opens, clicks = coalesce(s.clicks, 0) + m.clicks,
      opened_at = to_timestamp(m.opened_ms / 1000), clicked_at = to_timestamp(m.clicked_ms / 1000)
    from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::int[], $6::float8[], $7::float8[], $8::xid[], $19::int[],
        $20::uuid[])
      m (company_id, campaign_id, seq, opens, clicks, opened_ms, clicked_ms, version, campaign_no, id)
    where s.campaign_no = m.campaign_no and s.seq = m.seq and s.xmin = m.version
    returning m.id, m.company_id, m.campaign_id, s.subscriber_id, s.email, s.variant),
  event as (
    insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, machine, link, is_first,
      is_first_of_link, metadata, created_at, variant)
    select e.id, m.company_id, m.campaign_id, m.id, case when e.link is null then 'opened' else 'clicked' end, coalesce(m.email, p.email),
      e.machine, e.link, e.is_first, e.is_first_of_link,
      jsonb_build_object('user_agent', e.user_agent, 'ip', e.ip, 'machine', e.machine)
        || case when e.url is null then '{}' else jsonb_build_object('url', e.url) end,
      to_timestamp(e.at_ms / 1000), m.variant
    from unnest($9::uuid[], $10::uuid[], $11::smallint[], $12::bool[], $13::bool[], $14::bool[], $15::text[],
      $16::text[], $17::text[], $18::float8[])
      e (id, sent_email_id, link, machine, is_first, is_first_of_link, user_agent, ip, url, at_ms)
    join mail m on m.id = e.sent_email_id
    left join lateral (${subscriberAt("m.company_id", "m.subscriber_id", "r.email")}) p on true
    returning *),
  queued as (${outboxInsert("event")})
  select distinct company_id from queued
  union all
  select null where not unchanged((select count(*) from mail) = cardinality($1::uuid[]))`;

export const MARK = `
  update email_events set machine = true, is_first = false, is_first_of_link = false,
    metadata = metadata || '{"machine": true}'
  where id = any ($1::uuid[]) and company_id = any ($2::uuid[])`;
