-- Days of statistics, and dates without a time in conditions, are days of the company's time zone. What was counted before by
-- UTC stays as it is.
create function company_day(company uuid, at timestamptz) returns date
language sql stable parallel safe as $$
  select local_time(at, coalesce((select timezone from companies where id = company), 'UTC'))::date
$$;

-- A text as a time: of a date without a time the midnight at which it begins in the zone. Nodes of the version before call the
-- one with a single argument.
create function time_of(x text, zone text) returns timestamptz
language sql stable parallel safe as $$
  select case
    when x ~* '^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([t ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(z|[+-](0\d|1[0-4]):?[0-5]\d)?)?$'
    then case
      when substr(x, 9, 2)::int <= extract(day from (substr(x, 1, 8) || '01')::date + interval '1 month - 1 day')
      then case when x ~* '(z|:\d\d(\.\d+)?[+-]\d\d:?\d\d)$' then x::timestamptz
        else x::timestamp at time zone case when length(x) = 10 then zone_rule(zone) else 'UTC' end end
    end
  end
$$;

create or replace function count_campaigns()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, name, company_id, pg_backend_pid() % 32, sum(n)
  from (
    select company_id, 'campaigns:' || status as name, 1 as n from now_rows where not is_internal and deleted_at is null
    union all
    select company_id, 'mails', next_seq - 1 + case when campaign_type <> 'to_list' then suppressed_count else 0 end
    from now_rows where recipients_state = 'kept'
    union all
    select company_id, 'mails:sent', sent_count from now_rows where recipients_state = 'kept') x
  group by company_id, name having sum(n) <> 0 order by company_id, name
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  insert into company_days as d (company_id, day, slot, sent)
  select company_id, company_day(company_id, now()), pg_backend_pid() % 32, sum(sent_count)
  from now_rows group by company_id having sum(sent_count) <> 0 order by company_id
  on conflict (company_id, day, slot) do update set sent = d.sent + excluded.sent;
  return null;
end
$function$;

create or replace function count_event_days()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into company_days as d (company_id, day, slot, bounced, complained, opens, clicks)
  select company_id, local_time(a.created_at, o.timezone)::date, pg_backend_pid() % 32,
    count(*) filter (where type = 'bounced'), count(*) filter (where type = 'complained'),
    count(*) filter (where type = 'opened'), count(*) filter (where type = 'clicked')
  from added a join companies o on o.id = a.company_id where type in ('bounced', 'complained') or (type in ('opened', 'clicked') and is_first)
  group by 1, 2 order by 1, 2
  on conflict (company_id, day, slot) do update set bounced = d.bounced + excluded.bounced,
    complained = d.complained + excluded.complained, opens = d.opens + excluded.opens, clicks = d.clicks + excluded.clicks;
  return null;
end
$function$;

create or replace function count_hits()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  sign integer := tg_argv[0];
begin
  if current_setting('flockmail.moving', true) = 'on' then return null; end if;
  if sign > 0 or tg_op = 'UPDATE' or current_setting('flockmail.erasing', true) is distinct from 'on' then
    insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
    select o.company_id, o.id, m.metric, m.bucket, pg_backend_pid() % 8, sign * sum(k.n)
    from (
        select campaign_no, link, flags, (hit_ms(id) / 3600000)::integer as hour, count(*) as n
        from changed group by 1, 2, 3, 4) k
      -- One look-up for each, whatever the planner believes of the table.
      cross join lateral (select company_id, id from campaigns where no = k.campaign_no limit 1) o
      cross join lateral (
        select case k.link when 0 then 'opened' else 'clicked' end as type, k.flags & 1 = 1 as machine,
          k.flags & 2 = 2 as is_first, (k.flags >> 3) - 1 as variant) f
      cross join lateral (
        select metric, bucket
        from metrics_of(f.type, f.machine, f.is_first, nullif(k.link, 0::smallint), k.flags & 4 = 4, k.hour, null)
        union all
        select f.type || '_of_variant', f.variant where f.variant >= 0 and not f.machine
        union all
        select f.type || '_unique_of_variant', f.variant where f.variant >= 0 and not f.machine and f.is_first) m
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n;
  end if;
  if tg_op = 'UPDATE' then return null; end if;
  insert into counters as c (company_id, name, ref, slot, n)
  select o.id, coalesce('events:' || k.type, 'events') as name, o.id, pg_backend_pid() % 32, sign * sum(k.n)
  from (select company_no, case link when 0 then 'opened' else 'clicked' end as type, count(*) as n
      from changed group by grouping sets ((1), (1, 2))) k
    cross join lateral (select id from companies where no = k.company_no limit 1) o
  group by 1, 2 order by 1, 2
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  -- Hits that are removed have happened all the same.
  if tg_op = 'INSERT' then
    insert into company_days as d (company_id, day, slot, opens, clicks)
    select o.id, local_time(hit_at(h.id), o.timezone)::date, pg_backend_pid() % 32,
      count(*) filter (where h.link = 0), count(*) filter (where h.link > 0)
    from (select distinct company_no from changed where flags & 2 = 2) k
      cross join lateral (select id, no, timezone from companies where no = k.company_no limit 1) o
      join changed h on h.company_no = o.no and h.flags & 2 = 2
    group by 1, 2 order by 1, 2
    on conflict (company_id, day, slot) do update set opens = d.opens + excluded.opens, clicks = d.clicks + excluded.clicks;
  end if;
  return null;
end
$function$;

create or replace function count_new_people()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  with added as materialized (
    select company_id, status, count(*) as n from now_rows group by company_id, status),
  days as (
    insert into company_days as d (company_id, day, slot, people_subscribed)
    select company_id, company_day(company_id, now()), 32 + counter_slot(), n
    from added where status = 'active' order by company_id
    on conflict (company_id, day, slot) do update set people_subscribed = d.people_subscribed + excluded.people_subscribed)
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, name, company_id, counter_slot(), n
  from (
    select company_id, 'subscribers' as name, sum(n) as n from added group by company_id
    union all
    select company_id, 'subscribers:' || status, n from added) x
  order by company_id, name
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  return null;
end
$function$;

create or replace function count_people()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, 'subscribers:' || status, company_id, counter_slot(), sum(n)
  from (
    select company_id, status, count(*) as n from now_rows group by 1, 2
    union all
    select company_id, status, -count(*) from old_rows group by 1, 2) d
  group by company_id, status having sum(n) <> 0 order by company_id, status
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  insert into company_days as d (company_id, day, slot, people_subscribed, people_unsubscribed, people_bounced)
  select company_id, company_day(company_id, now()), 32 + counter_slot(),
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
$function$;

create or replace function recount_campaigns()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, name, company_id, pg_backend_pid() % 32, sum(n)
  from (
    select company_id, 'campaigns:' || status as name, 1 as n from now_rows where not is_internal and deleted_at is null
    union all
    select company_id, 'campaigns:' || status, -1 from old_rows where not is_internal and deleted_at is null
    union all
    select company_id, 'mails', next_seq - 1 + case when campaign_type <> 'to_list' then suppressed_count else 0 end
    from now_rows where recipients_state = 'kept'
    union all
    select company_id, 'mails', -(next_seq - 1 + case when campaign_type <> 'to_list' then suppressed_count else 0 end)
    from old_rows where recipients_state = 'kept'
    union all
    select company_id, 'mails:sent', sent_count from now_rows where recipients_state = 'kept'
    union all
    select company_id, 'mails:sent', -sent_count from old_rows where recipients_state = 'kept') x
  group by company_id, name having sum(n) <> 0 order by company_id, name
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  insert into company_days as d (company_id, day, slot, sent)
  select company_id, company_day(company_id, now()), pg_backend_pid() % 32, sum(n)
  from (select company_id, sent_count as n from now_rows union all select company_id, -sent_count from old_rows) x
  group by company_id having sum(n) <> 0 order by company_id
  on conflict (company_id, day, slot) do update set sent = d.sent + excluded.sent;
  return null;
end
$function$;
