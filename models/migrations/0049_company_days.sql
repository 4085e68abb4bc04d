-- steps
-- What a company's overview shows: people and campaigns by status, and what happened on each day (UTC), counted as it
-- happens, so that reading costs the same at ten mails and at ten million.
-- step quick
-- The slots let writers of one day pass each other: those below 32 are of mail, those above of people, so that an import
-- that takes long holds up no sender.
create table company_days (
  company_id uuid not null,
  day date not null,
  slot smallint not null,
  sent bigint not null default 0,
  -- Of the mails that were sent on that day: those that came back later.
  returned bigint not null default 0,
  bounced bigint not null default 0,
  complained bigint not null default 0,
  opens bigint not null default 0,
  clicks bigint not null default 0,
  people_subscribed bigint not null default 0,
  people_unsubscribed bigint not null default 0,
  people_bounced bigint not null default 0,
  primary key (company_id, day, slot)
) with (fillfactor = 50);

-- Grouped and not joined: a transition table has no statistics, and the plan that is kept may be one for a single row.
create function count_people() returns trigger language plpgsql as $$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, 'subscribers:' || status, company_id, pg_backend_pid() % 32, sum(n)
  from (
    select company_id, status, count(*) as n from now_rows group by 1, 2
    union all
    select company_id, status, -count(*) from old_rows group by 1, 2) d
  group by company_id, status having sum(n) <> 0 order by company_id, status
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  insert into company_days as d (company_id, day, slot, people_subscribed, people_unsubscribed, people_bounced)
  select company_id, (now() at time zone 'UTC')::date, 32 + pg_backend_pid() % 32,
    count(*) filter (where is_now = 'active'), count(*) filter (where is_now in ('unsubscribed', 'complained')),
    count(*) filter (where is_now = 'bounced')
  from (
    select company_id, max(was) as was, max(is_now) as is_now
    from (
      select company_id, id, status as was, null as is_now from old_rows
      union all
      select company_id, id, null, status from now_rows) x
    group by company_id, id) changed
  -- Whoever had left before does not leave again.
  where was <> is_now and (is_now = 'active' or was in ('active', 'unconfirmed'))
  group by company_id order by company_id
  on conflict (company_id, day, slot) do update set people_subscribed = d.people_subscribed + excluded.people_subscribed,
    people_unsubscribed = d.people_unsubscribed + excluded.people_unsubscribed,
    people_bounced = d.people_bounced + excluded.people_bounced;
  return null;
end
$$;

create function count_new_people() returns trigger language plpgsql as $$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, 'subscribers:' || status, company_id, pg_backend_pid() % 32, count(*)
  from now_rows group by company_id, status order by company_id, status
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  insert into company_days as d (company_id, day, slot, people_subscribed)
  select company_id, (now() at time zone 'UTC')::date, 32 + pg_backend_pid() % 32, count(*)
  from now_rows where status = 'active' group by company_id order by company_id
  on conflict (company_id, day, slot) do update set people_subscribed = d.people_subscribed + excluded.people_subscribed;
  return null;
end
$$;

create function count_gone_people() returns trigger language plpgsql as $$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, 'subscribers:' || status, company_id, pg_backend_pid() % 32, -count(*)
  from old_rows group by company_id, status order by company_id, status
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  return null;
end
$$;

create function count_campaigns() returns trigger language plpgsql as $$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, 'campaigns:' || status, company_id, pg_backend_pid() % 32, count(*)
  from now_rows where not is_internal and deleted_at is null
  group by company_id, status order by company_id, status
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  insert into company_days as d (company_id, day, slot, sent)
  select company_id, (now() at time zone 'UTC')::date, pg_backend_pid() % 32, sum(sent_count)
  from now_rows group by company_id having sum(sent_count) <> 0 order by company_id
  on conflict (company_id, day, slot) do update set sent = d.sent + excluded.sent;
  return null;
end
$$;

create function recount_campaigns() returns trigger language plpgsql as $$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, 'campaigns:' || status, company_id, pg_backend_pid() % 32, sum(n)
  from (
    select company_id, status, 1 as n from now_rows where not is_internal and deleted_at is null
    union all
    select company_id, status, -1 from old_rows where not is_internal and deleted_at is null) d
  group by company_id, status having sum(n) <> 0 order by company_id, status
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  insert into company_days as d (company_id, day, slot, sent)
  select company_id, (now() at time zone 'UTC')::date, pg_backend_pid() % 32, sum(n)
  from (select company_id, sent_count as n from now_rows union all select company_id, -sent_count from old_rows) x
  group by company_id having sum(n) <> 0 order by company_id
  on conflict (company_id, day, slot) do update set sent = d.sent + excluded.sent;
  return null;
end
$$;

create function count_gone_campaigns() returns trigger language plpgsql as $$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, 'campaigns:' || status, company_id, pg_backend_pid() % 32, -count(*)
  from old_rows where not is_internal and deleted_at is null
  group by company_id, status order by company_id, status
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  return null;
end
$$;

-- Events that are removed for their age, or with a person, have happened all the same.
create function count_event_days() returns trigger language plpgsql as $$
begin
  insert into company_days as d (company_id, day, slot, bounced, complained, opens, clicks)
  select company_id, (created_at at time zone 'UTC')::date, pg_backend_pid() % 32,
    count(*) filter (where type = 'bounced'), count(*) filter (where type = 'complained'),
    count(*) filter (where type = 'opened'), count(*) filter (where type = 'clicked')
  from added where type in ('bounced', 'complained') or (type in ('opened', 'clicked') and is_first)
  group by 1, 2 order by 1, 2
  on conflict (company_id, day, slot) do update set bounced = d.bounced + excluded.bounced,
    complained = d.complained + excluded.complained, opens = d.opens + excluded.opens, clicks = d.clicks + excluded.clicks;
  return null;
end
$$;
-- step quick
create trigger subscribers_counted after insert on subscribers referencing new table as now_rows
  for each statement execute function count_new_people();
create trigger subscribers_recounted after update on subscribers referencing old table as old_rows new table as now_rows
  for each statement execute function count_people();
create trigger subscribers_uncounted after delete on subscribers referencing old table as old_rows
  for each statement execute function count_gone_people();
insert into counters (company_id, name, ref, slot, n)
select company_id, 'subscribers:' || status, company_id, 0, count(*) from subscribers group by company_id, status;
insert into company_days (company_id, day, slot, people_subscribed)
select company_id, (created_at at time zone 'UTC')::date, 32, count(*) from subscribers
where status = 'active' and created_at > now() - interval '365 days' group by 1, 2;
-- step quick
create trigger campaigns_counted after insert on campaigns referencing new table as now_rows
  for each statement execute function count_campaigns();
create trigger campaigns_recounted after update on campaigns referencing old table as old_rows new table as now_rows
  for each statement execute function recount_campaigns();
create trigger campaigns_uncounted after delete on campaigns referencing old table as old_rows
  for each statement execute function count_gone_campaigns();
insert into counters (company_id, name, ref, slot, n)
select company_id, 'campaigns:' || status, company_id, 0, count(*) from campaigns
where not is_internal and deleted_at is null group by company_id, status;
-- What was sent before is counted on the day when its campaign began.
insert into company_days (company_id, day, slot, sent)
select company_id, (coalesce(started_at, created_at) at time zone 'UTC')::date, 0, sum(sent_count) from campaigns
where sent_count > 0 and created_at > now() - interval '365 days' group by 1, 2;
-- step quick
create trigger email_events_of_day after insert on email_events referencing new table as added
  for each statement execute function count_event_days();
insert into company_days as d (company_id, day, slot, bounced, complained, opens, clicks, returned)
select k.company_id, (coalesce(c.started_at, c.created_at) at time zone 'UTC')::date, 0,
  coalesce(sum(k.n) filter (where k.metric = 'bounced'), 0), coalesce(sum(k.n) filter (where k.metric = 'complained'), 0),
  coalesce(sum(k.n) filter (where k.metric = 'opened_unique'), 0),
  coalesce(sum(k.n) filter (where k.metric = 'clicked_unique'), 0),
  coalesce(sum(k.n) filter (where k.metric = 'bounced_unique'), 0)
from campaign_counts k join campaigns c on c.company_id = k.company_id and c.id = k.campaign_id
where c.created_at > now() - interval '365 days'
  and k.metric in ('bounced', 'complained', 'opened_unique', 'clicked_unique', 'bounced_unique')
group by 1, 2
on conflict (company_id, day, slot) do update set bounced = excluded.bounced, complained = excluded.complained,
  opens = excluded.opens, clicks = excluded.clicks, returned = excluded.returned;
