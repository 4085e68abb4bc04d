/** The statements that store opens and clicks. Run by name: each connection plans them once. */
import { sameCompany } from "../../../models/database/same-company.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";

// Recent ones each by itself, of those before only the first by a person on each link: a mail may have thousands.
const EARLIER_CLICKS = `
  with clicked as materialized (
    select e.id, e.link, e.created_at, e.machine from email_events e
    where e.sent_email_id = s.id and ${sameCompany("e.company_id", "s.company_id")} and e.type = 'clicked')
  select json_agg(json_build_array(c.id, c.link, extract(epoch from c.created_at) * 1000, c.machine)) from (
    select id, link, created_at, machine from clicked where created_at >= $3
    union all
    select null, link, min(created_at), false from clicked where created_at < $3 and not machine group by link) c`;

/**
 * Mails ($1) and, of those that were clicked now ($2), the clicks before: recent are those since $3. `version` changes with
 * each hit that is stored, and with whatever else is written to the row.
 */
export const READ = `
  select id, company_id, campaign_id, seq, status, sent_at, opened_at, clicked_at, xmin::text as version,
    case when id = any ($2::uuid[]) then (${EARLIER_CLICKS}) end as earlier_clicks
  from sent_emails s where id = any ($1::uuid[])
  order by campaign_id, seq`;

/** Before READ, not within it: a statement that has waited for a lock still sees the clicks of when it began. */
export const LOCK = `
  select from sent_emails where id = any ($1::uuid[])
  order by campaign_id, seq for update`;

// What an event and its mail have in common is taken from the mail's row, which is read for its own change anyway.
export const WRITE = `
  with mail as (
    update sent_emails s set opens = s.opens + m.opens, clicks = s.clicks + m.clicks,
      opened_at = to_timestamp(m.opened_ms / 1000), clicked_at = to_timestamp(m.clicked_ms / 1000)
    from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::int[], $6::float8[], $7::float8[], $8::xid[])
      m (company_id, campaign_id, seq, opens, clicks, opened_ms, clicked_ms, version)
    where ${sameCompany("s.company_id", "m.company_id")} and s.campaign_id = m.campaign_id and s.seq = m.seq and s.xmin = m.version
    returning s.id, s.company_id, s.campaign_id, s.email),
  event as (
    insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, machine, link, is_first,
      is_first_of_link, metadata, created_at)
    select e.id, m.company_id, m.campaign_id, m.id, case when e.link is null then 'opened' else 'clicked' end, m.email,
      e.machine, e.link, e.is_first, e.is_first_of_link,
      jsonb_build_object('user_agent', e.user_agent, 'ip', e.ip, 'machine', e.machine)
        || case when e.url is null then '{}' else jsonb_build_object('url', e.url) end,
      to_timestamp(e.at_ms / 1000)
    from unnest($9::uuid[], $10::uuid[], $11::smallint[], $12::bool[], $13::bool[], $14::bool[], $15::text[],
      $16::text[], $17::text[], $18::float8[])
      e (id, sent_email_id, link, machine, is_first, is_first_of_link, user_agent, ip, url, at_ms)
    join mail m on m.id = e.sent_email_id
    returning *),
  queued as (${outboxInsert("event")})
  select distinct company_id from queued
  union all
  select null where not unchanged((select count(*) from mail) = cardinality($1::uuid[]))`;

export const MARK = `
  update email_events set machine = true, is_first = false, is_first_of_link = false,
    metadata = metadata || '{"machine": true}'
  where id = any ($1::uuid[]) and company_id = any ($2::uuid[])`;
