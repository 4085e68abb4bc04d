/** The statements that store opens and clicks. Run by name: each connection plans them once. */
import { sameCompany } from "../../models/same-company.ts";
import { outboxInsert } from "../webhooks/outbox.ts";

/** `version` changes with each hit that is stored, and with whatever else is written to the row. */
export const READ = `
  select id, company_id, campaign_id, seq, status, sent_at, opened_at, clicked_at, xmin::text as version
  from sent_emails where id = any ($1::uuid[])
  order by campaign_id, seq`;

export const LOCK = `${READ} for update`;

// Mail by mail over the index: for a list of ids PostgreSQL may scan the table, or start parallel workers.
export const EARLIER_CLICKS = `
  with clicked as materialized (
    select e.sent_email_id, e.id, e.link, e.created_at, e.machine
    from unnest($1::uuid[], $2::uuid[]) as m (id, company_id)
    cross join lateral (
      select * from email_events
      where sent_email_id = m.id and ${sameCompany("company_id", "m.company_id")} and type = 'clicked') e)
  select * from clicked where created_at >= $3
  union all
  select sent_email_id, null, link, min(created_at), false from clicked where created_at < $3 and not machine
  group by sent_email_id, link`;

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
