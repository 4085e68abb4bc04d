-- steps
-- What comes back: where bounces go, what came in, and what bounces and complaints change.

-- step quick
-- The envelope sender of mails becomes {local}+{token}@{domain} of it.
alter table smtp_configs add column bounce_address text;
create index smtp_configs_bounce_address on smtp_configs (lower(bounce_address)) where bounce_address is not null;

-- step quick
-- A message as it came, or a provider's report; kept 30 days. Found by the rows that were made of it.
create table inbound_raws (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  raw bytea not null
);

-- What came in: one row for each recipient that a message tells about.
create table inbound_messages (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  received_at timestamptz not null default now(),
  via text not null,
  smtp_config_id uuid,
  sent_email_id uuid,
  recipient text,
  result text not null check (result in ('bounced', 'complained', 'ignored', 'unmatched')),
  bounce_type text check (bounce_type in ('hard', 'soft', 'block')),
  -- The rule that decided, and who wrote the message: for figures and questions.
  reason text,
  dialect text,
  diagnostic text,
  raw_id uuid
);
create index inbound_messages_of_company on inbound_messages (company_id, id);
create index inbound_messages_of_recipient on inbound_messages (company_id, lower(recipient), id);
create trigger inbound_messages_added after insert on inbound_messages
  referencing new table as changed for each statement execute function count_rows('inbound_messages');
create trigger inbound_messages_removed after delete on inbound_messages
  referencing old table as changed for each statement execute function count_rows('inbound_messages');

-- step quick
alter table email_events
  drop constraint email_events_type_check,
  add constraint email_events_type_check
    check (type in ('delivered', 'opened', 'clicked', 'bounced', 'unsubscribed', 'complained')) not valid;

-- step alone
alter table email_events validate constraint email_events_type_check;

-- step index
create index concurrently email_events_complained on email_events (company_id, id) where type = 'complained';

-- step quick
alter table subscribers
  drop constraint subscribers_status_check,
  add constraint subscribers_status_check
    check (status in ('active', 'unconfirmed', 'unsubscribed', 'bounced', 'complained')) not valid;

-- step alone
alter table subscribers validate constraint subscribers_status_check;

-- step quick
-- `is_first` of a bounce: the mail counted as delivered until then. `kind` of a bounce: hard, soft or block.
create function metrics_of(type text, machine boolean, is_first boolean, link smallint, is_first_of_link boolean,
  hour integer, kind text)
returns table (metric text, bucket integer)
language sql immutable
as $$
  select m, b from (values
    (type, 0, type in ('bounced', 'unsubscribed', 'complained') or not machine),
    (type || '_machine', 0, machine),
    (type || '_unique', 0, is_first),
    (type || '_' || kind, 0, kind is not null),
    (type || '_by_hour', hour, type in ('opened', 'clicked') and not machine),
    ('link', link::integer, link is not null and not machine),
    ('link_unique', link::integer, is_first_of_link)
  ) v (m, b, counts)
  where counts
$$;

create or replace function count_events() returns trigger
language plpgsql
as $$
begin
  if tg_op in ('INSERT', 'UPDATE') then
    insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
    select k.company_id, k.campaign_id, m.metric, m.bucket, pg_backend_pid() % 8, sum(k.n)
    from (
      select company_id, campaign_id, type, machine, is_first, link, is_first_of_link,
        floor(date_part('epoch', created_at) / 3600)::integer as hour,
        case when type = 'bounced' then metadata->>'bounce_type' end as kind, count(*) as n
      from added where campaign_id is not null group by 1, 2, 3, 4, 5, 6, 7, 8, 9) k,
      metrics_of(k.type, k.machine, k.is_first, k.link, k.is_first_of_link, k.hour, k.kind) m
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n;
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
    select k.company_id, k.campaign_id, m.metric, m.bucket, pg_backend_pid() % 8, -sum(k.n)
    from (
      select company_id, campaign_id, type, machine, is_first, link, is_first_of_link,
        floor(date_part('epoch', created_at) / 3600)::integer as hour,
        case when type = 'bounced' then metadata->>'bounce_type' end as kind, count(*) as n
      from gone where campaign_id is not null group by 1, 2, 3, 4, 5, 6, 7, 8, 9) k,
      metrics_of(k.type, k.machine, k.is_first, k.link, k.is_first_of_link, k.hour, k.kind) m
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n;
  end if;
  -- How many rows the company has, in all and by type.
  if tg_op = 'INSERT' then
    insert into counters as c (company_id, name, ref, slot, n)
    select company_id, coalesce('events:' || type, 'events') as name, company_id, pg_backend_pid() % 32, count(*)
    from added group by grouping sets ((company_id), (company_id, type)) order by 1, 2
    on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  elsif tg_op = 'DELETE' then
    insert into counters as c (company_id, name, ref, slot, n)
    select company_id, coalesce('events:' || type, 'events') as name, company_id, pg_backend_pid() % 32, -count(*)
    from gone group by grouping sets ((company_id), (company_id, type)) order by 1, 2
    on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  end if;
  return null;
end
$$;
drop function metrics_of(text, boolean, boolean, smallint, boolean, integer);

-- The kinds of the bounces that there are. Nobody writes an event meanwhile: it would be counted twice, or not at all.
lock table email_events in share row exclusive mode;
insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
select company_id, campaign_id, 'bounced_' || (metadata->>'bounce_type'), 0, 0, count(*)
from email_events
where type = 'bounced' and campaign_id is not null and metadata->>'bounce_type' is not null
group by 1, 2, 3
on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n;

-- step quick
-- Soft bounces of an address within 30 days, since a mail to it was delivered last. An event that the calling statement
-- writes is not among them. A mail counts as delivered while it is `sent` (2): one that bounces later never was.
-- By indexes alone: planned while a part is empty, it would read all of it ever after.
create function soft_bounces_in_a_row(company uuid, address text) returns integer
language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  with soft as (
    select e.created_at from email_events e
    where e.company_id = company and lower(e.recipient) = lower(address)
      and e.type = 'bounced' and e.metadata->>'bounce_type' = 'soft' and e.created_at > now() - interval '30 days'),
  delivered as (
    select s.sent_at from subscribers p join sent_emails s on s.subscriber_id = p.id
    where p.company_id = company and p.email_key = lower(address) and s.status = 2
      and s.sent_at > (select min(created_at) from soft)
    union all
    select s.sent_at from sent_emails s
    where s.campaign_no < 0 and s.company_id = company and s.subscriber_id is null and lower(s.email) = lower(address)
      and s.status = 2 and s.sent_at > (select min(created_at) from soft)
    union all
    select s.sent_at from sent_emails s join campaigns c on c.no = s.campaign_no and c.company_id = company
    where s.campaign_no >= 0 and s.email is not null and lower(s.email) = lower(address)
      and s.status = 2 and s.sent_at > (select min(created_at) from soft))
  select count(*)::integer from soft
  where created_at > coalesce((select max(sent_at) from delivered), '-infinity')
$$;
