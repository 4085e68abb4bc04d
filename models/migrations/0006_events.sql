-- What happened to mails: opened, clicked, bounced, unsubscribed (delivered goes to webhooks only).
create table email_events (
  id uuid not null default uuid_v7(),
  company_id uuid not null,
  campaign_id uuid,
  sent_email_id uuid,
  type text not null check (type in ('delivered', 'opened', 'clicked', 'bounced', 'unsubscribed')),
  recipient text not null,
  machine boolean not null default false,
  -- The tracked link's number; the first open or click by a person of this mail, and of this link of this mail.
  link smallint,
  is_first boolean not null default false,
  is_first_of_link boolean not null default false,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- Nobody asks for an event without its company: the one index serves as key and for a company's list.
  primary key (company_id, id)
);
create index email_events_of_campaign on email_events (campaign_id, id);
-- With the company in it, no index that begins with the company can look as good for the events of one mail.
create index email_events_of_mail on email_events (sent_email_id, company_id);
create index email_events_of_recipient on email_events (company_id, lower(recipient), id);
-- Few among many opens: without it a page of bounces would read past all of those.
create index email_events_rare on email_events (company_id, type, id) where type in ('bounced', 'unsubscribed');

-- Ends a statement that found what it was told changed by another: all of it is undone, and done again. Else true.
create function unchanged(is_so boolean) returns boolean
language plpgsql
as $$
begin
  if is_so then return true; end if;
  raise exception 'changed by another transaction' using errcode = 'serialization_failure';
end
$$;

-- What analytics shows, kept by delta with the events themselves, so that it costs the same at ten events and at ten
-- million. Eight slots by backend: writers of a hot campaign do not wait for one row.
create table campaign_counts (
  company_id uuid not null,
  campaign_id uuid not null,
  metric text not null,
  -- The link's number, or the hour since 1970; 0 for the campaign as a whole.
  bucket integer not null,
  slot smallint not null,
  n bigint not null,
  primary key (company_id, campaign_id, metric, bucket, slot)
) with (fillfactor = 50);

create function metrics_of(type text, machine boolean, is_first boolean, link smallint, is_first_of_link boolean,
  hour integer)
returns table (metric text, bucket integer)
language sql immutable
as $$
  select m, b from (values
    (type, 0, type in ('bounced', 'unsubscribed') or not machine),
    (type || '_machine', 0, machine),
    (type || '_unique', 0, is_first),
    (type || '_by_hour', hour, type in ('opened', 'clicked') and not machine),
    ('link', link::integer, link is not null and not machine),
    ('link_unique', link::integer, is_first_of_link)
  ) v (m, b, counts)
  where counts
$$;

-- A batch has hundreds of events and a handful of kinds: those are counted first, and metrics made of them.
create function count_events() returns trigger
language plpgsql
as $$
begin
  if tg_op in ('INSERT', 'UPDATE') then
    insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
    select k.company_id, k.campaign_id, m.metric, m.bucket, pg_backend_pid() % 8, sum(k.n)
    from (
      select company_id, campaign_id, type, machine, is_first, link, is_first_of_link,
        floor(date_part('epoch', created_at) / 3600)::integer as hour, count(*) as n
      from added where campaign_id is not null group by 1, 2, 3, 4, 5, 6, 7, 8) k,
      metrics_of(k.type, k.machine, k.is_first, k.link, k.is_first_of_link, k.hour) m
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n;
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
    select k.company_id, k.campaign_id, m.metric, m.bucket, pg_backend_pid() % 8, -sum(k.n)
    from (
      select company_id, campaign_id, type, machine, is_first, link, is_first_of_link,
        floor(date_part('epoch', created_at) / 3600)::integer as hour, count(*) as n
      from gone where campaign_id is not null group by 1, 2, 3, 4, 5, 6, 7, 8) k,
      metrics_of(k.type, k.machine, k.is_first, k.link, k.is_first_of_link, k.hour) m
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
create trigger email_events_counted after insert on email_events
  referencing new table as added for each statement execute function count_events();
create trigger email_events_recounted after update on email_events
  referencing old table as gone new table as added for each statement execute function count_events();
create trigger email_events_uncounted after delete on email_events
  referencing old table as gone for each statement execute function count_events();

create table webhook_endpoints (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  url text not null,
  events text[] not null,
  secret_sealed bytea not null,
  old_secret_sealed bytea,
  old_secret_until timestamptz,
  -- Since when nothing has been acknowledged; null after a success. Three days of it disable the endpoint.
  failing_since timestamptz,
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

-- Outbox: written in the transaction of the event it tells of, delivered later by any webhooks node.
create table webhook_deliveries (
  id uuid primary key default uuid_v7(),
  company_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  payload jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'dead')),
  attempts integer not null default 0,
  response_status integer,
  last_error text,
  next_attempt_at timestamptz default now(),
  created_at timestamptz not null default now(),
  foreign key (company_id, endpoint_id) references webhook_endpoints (company_id, id) on delete cascade
) with (fillfactor = 70);
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at) where status = 'pending';

create function count_deliveries() returns trigger
language plpgsql
as $$
begin
  perform add_count(company_id, 'webhook_deliveries', endpoint_id, case tg_op when 'INSERT' then 1 else -1 end * count(*))
    from changed group by company_id, endpoint_id order by endpoint_id;
  return null;
end
$$;
create trigger webhook_deliveries_added after insert on webhook_deliveries
  referencing new table as changed for each statement execute function count_deliveries();
create trigger webhook_deliveries_removed after delete on webhook_deliveries
  referencing old table as changed for each statement execute function count_deliveries();

create trigger webhook_endpoints_added after insert on webhook_endpoints
  referencing new table as changed for each statement execute function count_rows('webhook_endpoints');
create trigger webhook_endpoints_removed after delete on webhook_endpoints
  referencing old table as changed for each statement execute function count_rows('webhook_endpoints');
