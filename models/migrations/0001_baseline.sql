-- The schema of the first release. Later migrations only add to it.

set local check_function_bodies = off;

create extension btree_gin;
create extension pg_trgm;

create sequence campaign_no as integer;
create sequence company_no as integer;

create function add_count(company uuid, counter text, of uuid, delta bigint)
 returns void
 language sql
as $function$
  insert into counters (company_id, name, ref, slot, n)
  values (company, counter, of, counter_slot(), delta)
  on conflict (company_id, name, ref, slot) do update set n = counters.n + excluded.n
$function$;

create function add_hit_part(part date)
 returns void
 language plpgsql
as $function$
declare
  name text := 'hits_' || to_char(part, 'YYYY_MM');
begin
  perform pg_advisory_xact_lock(hashtextextended('hit parts', 0));
  if exists (select from hit_parts where month = part) then return; end if;
  execute format('create table %I (like hits including indexes) with (autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_freeze_min_age = 1000000)', name);
  -- The table has no primary key, so a publication of all tables identifies its rows by all columns.
  execute format('alter table %I replica identity full', name);
  execute format('alter table hits attach partition %I for values from (%L) to (%L)', name,
    first_hit_id(part::timestamp at time zone 'UTC'),
    first_hit_id((part + interval '1 month')::timestamp at time zone 'UTC'));
  insert into hit_parts (month) values (part);
end
$function$;

create function add_recipient_part(part integer)
 returns void
 language plpgsql
as $function$
declare
  name text := 'sent_emails_' || part;
begin
  perform pg_advisory_xact_lock(hashtextextended('recipient part', part));
  if exists (select from recipient_parts where no = part) then return; end if;
  execute format('create table %I (like sent_emails) with (fillfactor = 36)', name);
  perform set_recipient_part_vacuum(part);
  execute format('alter table %I add primary key (campaign_no, seq)', name);
  execute format('create index on %I (campaign_no, next_attempt_at) where next_attempt_at is not null', name);
  execute format('create index on %I (subscriber_id) where subscriber_id is not null', name);
  execute format('create index on %I (lower(email)) where email is not null', name);
  execute format('create index %I on %I (campaign_no, seq) where error is not null', name || '_unsent', name);
  execute format('create index %I on %I (campaign_no, seq) where bounced_at is not null', name || '_bounced', name);
  execute format('create index %I on %I (campaign_no, seq) where error is not null and bounced_at is null and next_attempt_at is null',
    name || '_failed', name);
  execute format('alter table sent_emails attach partition %I for values from (%s) to (%s)',
    name, part::bigint << 20, (part + 1)::bigint << 20);
  insert into recipient_parts (no) values (part);
end
$function$;

create function address_key(address text)
 returns text
 language sql
 immutable parallel safe
as $function$
  select case when octet_length(address) = length(address) then lower(address collate "C")
    else address_key_of_unicode(address) end
$function$;

create function address_key_of_unicode(address text)
 returns text
 language plpgsql
 immutable parallel safe strict
as $function$
declare
  whole text := normalize(lower_case(normalize(address)));
  domain text := split_part(whole, '@', -1);
  label text;
  out text := '';
begin
  if octet_length(domain) = length(domain) then return whole; end if;
  foreach label in array string_to_array(domain, '.') loop
    if octet_length(label) > length(label) then label := 'xn--' || punycode(label); end if;
    out := out || '.' || label;
  end loop;
  return left(whole, length(whole) - length(domain)) || substr(out, 2);
end
$function$;

create function analyze_subscribers()
 returns void
 language plpgsql
as $function$
begin
  analyze (skip_locked) subscribers, list_members, suppressions;
end
$function$;

create function audit_log_is_append_only()
 returns trigger
 language plpgsql
as $function$
begin
  if tg_op = 'DELETE' then
    if pg_trigger_depth() > 1 or exists (select from companies where id = old.company_id and deleted_at is not null)
      or (current_setting('flockmail.audit_log', true) = 'expire' and old.at < now() - interval '30 days') then
      return old;
    end if;
  elsif tg_op = 'UPDATE' and current_setting('flockmail.audit_log', true) = 'erase'
    and (new.id, new.company_id, new.actor_type, new.actor_id, new.actor_name, new.action, new.ip, new.at)
      is not distinct from (old.id, old.company_id, old.actor_type, old.actor_id, old.actor_name, old.action, old.ip, old.at) then
    return new;
  end if;
  raise exception 'The audit log is append-only';
end
$function$;

create function blocked_by(company uuid, address text)
 returns text
 language sql
 stable
as $function$
  select kind from (
    select kind from suppressions where company_id = company and email_key = address_key(address)
    union all
    select x.kind from unnest(domains_of(address_key(address))) d
      join suppressions x on x.company_id = company and x.domain = d) b
  order by kind = 'unsubscribed'
  limit 1
$function$;

create function campaigns_removed()
 returns trigger
 language plpgsql
as $function$
begin
  delete from campaign_receivers r using changed c where r.campaign_id = c.id and r.company_id = c.company_id;
  return null;
end
$function$;

create function companies_removed()
 returns trigger
 language plpgsql
as $function$
begin
  delete from subscribers s using changed c where s.company_id = c.id;
  return null;
end
$function$;

create function company_day(company uuid, at timestamp with time zone)
 returns date
 language sql
 stable parallel safe
as $$
  select local_time(at, coalesce((select timezone from companies where id = company), 'UTC'))::date
$$;

create function copies_of(cc text[], bcc text[])
 returns integer
 language sql
 immutable parallel safe
as $function$
  select case when cc is null and bcc is null then 0
    else (select count(distinct address)::integer from unnest(cc || bcc) address) end
$function$;

create function count_campaigns()
 returns trigger
 language plpgsql
as $function$
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

create function count_deliveries()
 returns trigger
 language plpgsql
as $function$
begin
  perform add_count(company_id, 'webhook_deliveries', endpoint_id, case tg_op when 'INSERT' then 1 else -1 end * count(*))
    from changed group by company_id, endpoint_id order by endpoint_id;
  return null;
end
$function$;

create function count_event_days()
 returns trigger
 language plpgsql
as $function$
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

create function count_events()
 returns trigger
 language plpgsql
as $function$
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
  -- Counts the company's rows, in total and by type.
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
$function$;

create function count_gone_campaigns()
 returns trigger
 language plpgsql
as $function$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, name, company_id, pg_backend_pid() % 32, -sum(n)
  from (
    select company_id, 'campaigns:' || status as name, 1 as n from old_rows where not is_internal and deleted_at is null
    union all
    select company_id, 'mails', next_seq - 1 + case when campaign_type <> 'to_list' then suppressed_count else 0 end
    from old_rows where recipients_state = 'kept'
    union all
    select company_id, 'mails:sent', sent_count from old_rows where recipients_state = 'kept') x
  group by company_id, name having sum(n) <> 0 order by company_id, name
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  return null;
end
$function$;

create function count_gone_people()
 returns trigger
 language plpgsql
as $function$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, 'subscribers:' || status, company_id, pg_backend_pid() % 32, -count(*)
  from old_rows group by company_id, status order by company_id, status
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  return null;
end
$function$;

create function count_hits()
 returns trigger
 language plpgsql
as $function$
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
      -- Looks up each row by key, whatever the planner assumes about the table.
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
  -- Removed hits stay counted.
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

create function count_list_leavers()
 returns trigger
 language plpgsql
as $function$
begin
  perform add_count(company_id, 'list_members', list_id, sum(n))
  from (select company_id, list_id, 1 n from now_rows where left_at is null
        union all select company_id, list_id, -1 from old_rows where left_at is null) d
  group by company_id, list_id having sum(n) <> 0 order by list_id;
  return null;
end
$function$;

create function count_list_members()
 returns trigger
 language plpgsql
as $function$
begin
  perform add_count(company_id, 'list_members', list_id, case when tg_op = 'INSERT' then n else -n end)
  from (
    select company_id, list_id, count(*) filter (where left_at is null) as n
    from changed group by company_id, list_id order by list_id) x
  where n > 0;
  return null;
end
$function$;

create function count_new_people()
 returns trigger
 language plpgsql
as $function$
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

create function count_of(company uuid, counter text, of uuid)
 returns bigint
 language sql
 stable
as $function$
  select coalesce(sum(n), 0)::bigint from counters
  where company_id = company and name = counter and ref = of
$function$;

create function count_people()
 returns trigger
 language plpgsql
as $function$
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
  -- Members who had left before do not count again.
  where was <> is_now and (is_now = 'active' or was in ('active', 'unconfirmed'))
  group by company_id order by company_id
  on conflict (company_id, day, slot) do update set people_subscribed = d.people_subscribed + excluded.people_subscribed,
    people_unsubscribed = d.people_unsubscribed + excluded.people_unsubscribed,
    people_bounced = d.people_bounced + excluded.people_bounced;
  return null;
end
$function$;

create function count_rows()
 returns trigger
 language plpgsql
as $function$
begin
  if tg_op = 'INSERT' then
    perform add_count(company_id, tg_argv[0], company_id, count(*)) from changed group by company_id order by company_id;
  else
    perform add_count(company_id, tg_argv[0], company_id, -count(*)) from changed group by company_id order by company_id;
  end if;
  return null;
end
$function$;

create function count_variant_events()
 returns trigger
 language plpgsql
as $function$
begin
  if tg_op in ('INSERT', 'UPDATE') then
    insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
    select k.company_id, k.campaign_id, m.metric, k.variant, pg_backend_pid() % 8, sum(k.n)
    from (
      select company_id, campaign_id, type, variant, is_first, count(*) as n from added
      where variant is not null and not machine group by 1, 2, 3, 4, 5) k,
      lateral (values (k.type || '_of_variant', true), (k.type || '_unique_of_variant', k.is_first)) m (metric, counts)
    where m.counts
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n;
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
    select k.company_id, k.campaign_id, m.metric, k.variant, pg_backend_pid() % 8, -sum(k.n)
    from (
      select company_id, campaign_id, type, variant, is_first, count(*) as n from gone
      where variant is not null and not machine group by 1, 2, 3, 4, 5) k,
      lateral (values (k.type || '_of_variant', true), (k.type || '_unique_of_variant', k.is_first)) m (metric, counts)
    where m.counts
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n;
  end if;
  return null;
end
$function$;

create function counter_slot()
 returns integer
 language sql
 stable parallel RESTRICTED
as $function$
  select coalesce(nullif(current_setting('flockmail.slot', true), '')::integer, pg_backend_pid() % 32)
$function$;

create function day_start(day date, zone text)
 returns timestamp with time zone
 language sql
 stable parallel safe
as $function$
  select case when local_time(m.at - interval '1 hour', zone)::date = day then m.at - interval '1 hour' else m.at end
  from (select day::timestamp at time zone zone_rule(zone) as at) m
$function$;

create function detach_hit_part(part date, default_days integer)
 returns boolean
 language plpgsql
 SET lock_timeout TO '500ms'
as $function$
begin
  if part >= date_trunc('month', now() at time zone 'UTC')::date
    or not exists (select from hit_parts where month = part and detached_at is null)
    or not is_hit_part_over(part, default_days)
  then
    return false;
  end if;
  -- Locks the parent first, as every statement does. From here on nothing writes to the partition.
  lock table only hits in access exclusive mode;
  if not exists (select from hit_parts where month = part and detached_at is null)
    or not is_hit_part_over(part, default_days)
  then
    return false;
  end if;
  execute format('alter table hits detach partition %I', 'hits_' || to_char(part, 'YYYY_MM'));
  update hit_parts set detached_at = now() where month = part;
  return true;
end
$function$;

create function domains_of(address text)
 returns text[]
 language sql
 immutable parallel safe
as $function$
  select array_agg(array_to_string(labels[i:], '.'))
  from (select string_to_array(lower(split_part(address, '@', -1)), '.') as labels) d,
       generate_series(1, cardinality(labels)) i
$function$;

create function drop_hit_part(part date)
 returns boolean
 language plpgsql
as $function$
declare
  name text := 'hits_' || to_char(part, 'YYYY_MM');
  after_no integer;
  next_no integer;
begin
  select uncounted_to into after_no from hit_parts where month = part and detached_at is not null for update;
  if not found then return false; end if;
  execute format('select min(company_no) from %I where company_no > $1', name) into next_no using after_no;
  if next_no is null then
    execute format('drop table %I', name);
    delete from hit_parts where month = part;
    return false;
  end if;
  execute format(
    'insert into counters as c (company_id, name, ref, slot, n)
     select o.id, coalesce(''events:'' || k.type, ''events''), o.id, pg_backend_pid() %% 32, -k.n
     from (select case link when 0 then ''opened'' else ''clicked'' end as type, count(*) as n from %I
         where company_no = $1 group by grouping sets ((), (1))) k
       join companies o on o.no = $1
     order by 1, 2
     on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n', name) using next_no;
  update hit_parts set uncounted_to = next_no where month = part;
  return true;
end
$function$;

create function drop_recipient_part(part integer)
 returns boolean
 language plpgsql
 SET lock_timeout TO '500ms'
as $function$
begin
  if not exists (
    select from recipient_parts p, campaign_no drawn
    where p.no = part and p.month < date_trunc('month', now() at time zone 'UTC') and drawn.last_value >> 20 > part)
  then
    return false;
  end if;
  -- From here on nothing writes to the partition, and the campaigns of earlier writers are committed. The parent is locked
  -- first, as in every statement.
  lock table only sent_emails in access exclusive mode;
  if exists (
    select from campaigns c
    where c.no >= part::bigint << 20 and c.no < (part + 1)::bigint << 20 and c.recipients_state <> 'removed')
  then
    return false;
  end if;
  execute format('drop table %I', 'sent_emails_' || part);
  delete from recipient_parts where no = part;
  return true;
end
$function$;

create function first_hit_id(at timestamp with time zone)
 returns uuid
 language sql
 stable parallel safe
as $function$ select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid $function$;

create function hit_at(id uuid)
 returns timestamp with time zone
 language sql
 immutable parallel safe
as $function$ select to_timestamp(('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint::float8 / 1000) $function$;

create function hit_mail(campaign_no integer, seq integer)
 returns bigint
 language sql
 immutable parallel safe
as $function$ select (campaign_no::bigint << 32) + seq $function$;

create function hit_ms(id uuid)
 returns bigint
 language sql
 immutable parallel safe
as $function$ select ('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint $function$;

create function hit_stretch(id uuid)
 returns integer
 language sql
 immutable parallel safe
as $function$ select ('x' || left(id::text, 8))::bit(32)::integer >> 2 $function$;

create function is_hit_part_over(part date, default_days integer)
 returns boolean
 language plpgsql
as $function$
declare
  next_no integer := 0;
  days integer;
begin
  loop
    execute format('select min(company_no) from %I where company_no > $1', 'hits_' || to_char(part, 'YYYY_MM'))
      into next_no using next_no;
    if next_no is null then return true; end if;
    select coalesce((retention_days->>'events')::integer, default_days) into days from companies where no = next_no;
    if found and (days is null
        or (part + interval '1 month')::timestamp at time zone 'UTC' > now() - days * interval '1 day') then
      return false;
    end if;
  end loop;
end
$function$;

create function keep_address()
 returns trigger
 language plpgsql
as $function$
begin
  perform lock_addresses(old.company_id);
  update sent_emails set email = old.email where subscriber_id = old.id and email is null;
  return new;
end
$function$;

create function lists_removed()
 returns trigger
 language plpgsql
as $function$
begin
  delete from list_members m using changed c where m.company_id = c.company_id and m.list_id = c.id;
  delete from counters n using changed c where n.company_id = c.company_id and n.name = 'list_members' and n.ref = c.id;
  return null;
end
$function$;

create function local_time(at timestamp with time zone, zone text)
 returns timestamp without time zone
 language sql
 stable parallel safe
as $function$
  select at at time zone zone_rule(zone)
$function$;

create function lock_addresses(company uuid)
 returns void
 language sql
as $function$
  select pg_advisory_xact_lock(hashtextextended('addresses:' || company, 0))
$function$;

create function lower_case(given text)
 returns text
 language sql
 immutable parallel safe
as $function$ select lower(given collate "und-x-icu") $function$;

create function metrics_of(type text, machine boolean, is_first boolean, link smallint, is_first_of_link boolean, hour integer, kind text)
 returns table(metric text, bucket integer)
 language sql
 immutable
as $function$
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
$function$;

create function next_campaign_no()
 returns integer
 language plpgsql
as $function$
declare
  drawn integer := nextval('campaign_no');
begin
  if not exists (select from recipient_parts where no = drawn >> 20) then
    perform add_recipient_part(drawn >> 20);
    update recipient_parts set month = date_trunc('month', now() at time zone 'UTC')::date where no = drawn >> 20;
  end if;
  return drawn;
end
$function$;

create function prepare_hit_parts()
 returns void
 language plpgsql
as $function$
declare
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
begin
  for ahead in 0..2 loop
    perform add_hit_part((this_month + ahead * interval '1 month')::date);
  end loop;
end
$function$;

create function prepare_recipient_parts()
 returns void
 language plpgsql
as $function$
declare
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
  drawn record;
  part integer;
  of_month date;
begin
  perform pg_advisory_xact_lock(hashtextextended('recipient parts', 0));
  select last_value as no, is_called as used into drawn from campaign_no;
  part := drawn.no >> 20;
  perform add_recipient_part(part);
  perform add_recipient_part(part + 1);
  select month into of_month from recipient_parts where no = part;
  if of_month < this_month and drawn.used then
    part := part + 1;
    perform setval('campaign_no', part::bigint << 20, false);
    perform add_recipient_part(part + 1);
  end if;
  update recipient_parts set month = this_month where no = part and month is distinct from this_month;
end
$function$;

create function punycode(label text)
 returns text
 language plpgsql
 immutable parallel safe strict
as $function$
declare
  digits constant text := 'abcdefghijklmnopqrstuvwxyz0123456789';
  points int[] := '{}';
  out text := '';
  basic int;
  handled int;
  n int := 128;
  delta int := 0;
  bias int := 72;
  point int;
  next int;
  q int;
  k int;
  t int;
begin
  for i in 1 .. length(label) loop
    point := ascii(substr(label, i, 1));
    points := points || point;
    if point < 128 then out := out || chr(point); end if;
  end loop;
  basic := length(out);
  handled := basic;
  if basic > 0 then out := out || '-'; end if;
  while handled < cardinality(points) loop
    next := 2147483647;
    foreach point in array points loop
      if point >= n and point < next then next := point; end if;
    end loop;
    delta := delta + (next - n) * (handled + 1);
    n := next;
    foreach point in array points loop
      if point < n then delta := delta + 1; end if;
      continue when point <> n;
      q := delta;
      k := 36;
      loop
        t := greatest(1, least(26, k - bias));
        exit when q < t;
        out := out || substr(digits, t + (q - t) % (36 - t) + 1, 1);
        q := (q - t) / (36 - t);
        k := k + 36;
      end loop;
      out := out || substr(digits, q + 1, 1);
      delta := delta / case when handled = basic then 700 else 2 end;
      delta := delta + delta / (handled + 1);
      k := 0;
      while delta > 455 loop
        delta := delta / 35;
        k := k + 36;
      end loop;
      bias := k + 36 * delta / (delta + 38);
      delta := 0;
      handled := handled + 1;
    end loop;
    delta := delta + 1;
    n := n + 1;
  end loop;
  return out;
end
$function$;

create function recount_campaigns()
 returns trigger
 language plpgsql
as $function$
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

create function set_address_key()
 returns trigger
 language plpgsql
as $function$
begin
  new.email_key := address_key(new.email);
  return new;
end
$function$;

create function set_recipient_part_vacuum(part integer)
 returns void
 language plpgsql
as $function$
begin
  execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_freeze_min_age = 1000000)', 'sent_emails_' || part);
end
$function$;

create function soft_bounces_in_a_row(company uuid, address text)
 returns integer
 language sql
 stable
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
as $function$
  with person as (
    select p.id, p.soft_bounces, p.soft_bounced_at from subscribers p
    where p.company_id = company and p.email_key = address_key(address)),
  -- An address without a subscriber has only events.
  soft as (
    select e.created_at from email_events e
    where not exists (select from person) and e.company_id = company and lower(e.recipient) = lower(address)
      and e.type = 'bounced' and e.metadata->>'bounce_type' = 'soft'),
  since as (
    select coalesce((select soft_bounced_at from person where soft_bounces > 0), (select min(created_at) from soft)) as at),
  delivered as (
    select s.sent_at from person p join sent_emails s on s.subscriber_id = p.id
    where s.status = 2 and s.sent_at > (select at from since)
    union all
    select s.sent_at from sent_emails s join campaigns c on c.no = s.campaign_no and c.company_id = company
    where s.email is not null and lower(s.email) = lower(address)
      and s.status = 2 and s.sent_at > (select at from since))
  select coalesce(
    (select case when exists (select from delivered) then 0 else soft_bounces end from person),
    (select count(*)::integer from soft where created_at > coalesce((select max(sent_at) from delivered), '-infinity')))
$function$;

create function subscribers_removed()
 returns trigger
 language plpgsql
as $function$
begin
  perform lock_addresses(company_id) from (select distinct company_id from changed order by company_id) c;
  -- Sent mail stays, without the link.
  update sent_emails e set email = coalesce(e.email, c.email), subscriber_id = null
    from changed c where e.subscriber_id = c.id;
  perform add_count(company_id, 'subscribers', company_id, -count(*)) from changed group by company_id order by company_id;
  delete from list_members m using changed c where m.company_id = c.company_id and m.subscriber_id = c.id;
  return null;
end
$function$;

-- Converts text to a time. A date without a time is midnight in the zone.
create function time_of(x text, zone text)
 returns timestamp with time zone
 language sql
 stable parallel safe
as $$
  select case
    when x ~* '^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([t ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(z|[+-](0\d|1[0-4]):?[0-5]\d)?)?$'
    then case
      when substr(x, 9, 2)::int <= extract(day from (substr(x, 1, 8) || '01')::date + interval '1 month - 1 day')
      then case when x ~* '(z|:\d\d(\.\d+)?[+-]\d\d:?\d\d)$' then x::timestamptz
        else x::timestamp at time zone case when length(x) = 10 then zone_rule(zone) else 'UTC' end end
    end
  end
$$;

create function time_zone_names()
 returns setof text
 language sql
 stable parallel safe
as $function$
  select name from pg_timezone_names
  where name !~ '^(posix|right)/' and name not in ('Factory', 'localtime', 'posixrules')
$function$;

create function uncount_erased_events()
 returns trigger
 language plpgsql
as $function$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, coalesce('events:' || type, 'events') as name, company_id, pg_backend_pid() % 32, -count(*)
  from gone group by grouping sets ((company_id), (company_id, type)) order by 1, 2
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  return null;
end
$function$;

create function uuid_v7()
 returns uuid
 language sql
 parallel safe
as $function$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$function$;

create function zone_instants(clock timestamp without time zone)
 returns table(zone text, instant timestamp with time zone)
 language sql
 stable parallel safe
as $function$
  select lower(n), clock at time zone zone_rule(n) from time_zone_names() n
$function$;

create function zone_rule(zone text)
 returns text
 language sql
 immutable parallel safe
as $function$
  select case zone when 'CET' then 'Europe/Brussels' when 'MET' then 'Europe/Brussels'
    when 'EET' then 'Europe/Athens' when 'WET' then 'Europe/Lisbon' else zone end
$function$;

create table account_tokens (
  id uuid not null,
  kind text not null,
  user_id uuid not null,
  expires_at timestamp with time zone not null,
  spent_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint account_tokens_pkey primary key (id),
  constraint account_tokens_kind_check check ((kind = ANY (ARRAY['verify'::text, 'reset'::text, 'sign_in'::text])))
);
create index account_tokens_expiry on account_tokens (expires_at);
create index account_tokens_of_user on account_tokens (user_id, kind);

-- A subscriber's new address that is not confirmed yet. SQL only (statements/change-address.ts).
create table address_changes (
  company_id uuid not null,
  email_key text not null,
  email text not null,
  subscriber_id uuid not null,
  id uuid,
  asked_at timestamp with time zone default now() not null,
  accept_language text not null,
  is_unsent boolean default true not null,
  constraint address_changes_pkey primary key (company_id, email_key)
);
create index address_changes_of_subscriber on address_changes (company_id, subscriber_id);
create index address_changes_unsent on address_changes (asked_at) where is_unsent;

create table api_keys (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  prefix text not null,
  key_hash bytea not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  scopes text[] default '{full}'::text[] not null,
  allowed_ips text[] default '{}'::text[] not null,
  created_by uuid,
  constraint api_keys_pkey primary key (id),
  constraint api_keys_key_hash_key unique (key_hash)
);
create index api_keys_of_company on api_keys (company_id, id);

-- An entry of a company's audit log. The database refuses changes.
create table audit_log (
  id uuid not null,
  company_id uuid not null,
  actor_type text not null,
  actor_id uuid,
  actor_name text not null,
  action text not null,
  target text,
  ip text,
  detail jsonb default '{}'::jsonb not null,
  at timestamp with time zone default now() not null,
  constraint audit_log_pkey primary key (id),
  constraint audit_log_actor_type_check check ((actor_type = ANY (ARRAY['user'::text, 'api_key'::text, 'operator'::text, 'system'::text])))
);
create index audit_log_age on audit_log (at);
create index audit_log_of_action on audit_log (company_id, action);
create index audit_log_of_actor on audit_log (company_id, actor_id);
create index audit_log_of_company on audit_log (company_id, id);
create index audit_log_of_name on audit_log (company_id, lower(actor_name));
create trigger audit_log_append_only BEFORE DELETE OR UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_is_append_only();
create trigger audit_log_no_truncate BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_append_only();

create table bounce_mailboxes (
  id uuid not null,
  company_id uuid not null,
  host text not null,
  port integer not null,
  username text not null,
  password_sealed bytea not null,
  use_tls boolean not null,
  folder text not null,
  processed_folder text not null,
  origin uuid not null,
  revision integer default 1 not null,
  reader text,
  lease_until timestamp with time zone,
  next_attempt_at timestamp with time zone default now() not null,
  failures integer default 0 not null,
  last_error text,
  last_error_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint bounce_mailboxes_pkey primary key (id),
  constraint bounce_mailboxes_port_check check (((port >= 1) AND (port <= 65535)))
);
create index bounce_mailboxes_due on bounce_mailboxes (next_attempt_at);
create index bounce_mailboxes_of_company on bounce_mailboxes (company_id);
create index bounce_mailboxes_of_origin on bounce_mailboxes (origin, id);

-- Content of a campaign's mails, copied at the request, so that later edits of the template, the list or the company have no
-- effect. The renderer reads it once per campaign, with SQL that joins other tables.
create table campaign_contents (
  campaign_id uuid not null,
  company_id uuid not null,
  subject text not null,
  body text not null,
  sender_name text not null,
  sender_email text not null,
  reply_to_email text,
  list_id_name text not null,
  list_id_ref uuid not null,
  company_name text not null,
  footer_text text default ''::text not null,
  tracking_enabled boolean not null,
  media_ids uuid[] default '{}'::uuid[] not null,
  links text[],
  further jsonb,
  preheader text,
  text_body text,
  inline_css boolean default false not null,
  utm jsonb,
  traceparent text,
  design jsonb,
  design_text text,
  overrides_template boolean default false not null,
  constraint campaign_contents_pkey primary key (campaign_id)
);
create index campaign_contents_media on campaign_contents using gin (media_ids) where (media_ids <> '{}'::uuid[]);

-- Counters for analytics, updated by a trigger on email_events, so that a read costs the same at ten events and at ten
-- million. A value is the sum over slots, which let writers of one campaign work concurrently.
create table campaign_counts (
  company_id uuid not null,
  campaign_id uuid not null,
  metric text not null,
  bucket integer not null,
  slot smallint not null,
  n bigint not null,
  constraint campaign_counts_pkey primary key (company_id, campaign_id, metric, bucket, slot)
) with (fillfactor=50);
create index campaign_counts_bounced on campaign_counts (company_id, campaign_id) where ((metric = 'bounced_unique'::text) AND (bucket = 0));
create index campaign_counts_unrecorded on campaign_counts (bucket) where metric in ('opened_unrecorded', 'clicked_unrecorded');

-- A recipient given with the request itself: stored in the request's transaction, and here until expansion turns it into
-- a row of sent_emails. Written and read in slices by SQL.
create table campaign_receivers (
  campaign_id uuid not null,
  company_id uuid not null,
  no integer not null,
  email text not null,
  cc text[],
  bcc text[],
  variables jsonb default '{}'::jsonb not null,
  constraint campaign_receivers_pkey primary key (campaign_id, no)
);

-- A variant of a campaign (A/B test). Until the campaign begins, `content` has the fields in which the variant differs; from
-- then on all of VARIED_CONTENTS, which recipients of the test get, whatever wins. The other recipients get
-- campaign_contents, which has the first variant's content at first and the winner's once that is decided. Code that reads a
-- campaign's contents therefore need not know about variants.
-- 
-- Each recipient's row has its variant (`sent_emails.variant`).
create table campaign_variants (
  company_id uuid not null,
  campaign_id uuid not null,
  index smallint not null,
  percent double precision not null,
  subject text,
  template_id uuid,
  content jsonb default '{}'::jsonb not null,
  recipients integer default 0 not null,
  constraint campaign_variants_pkey primary key (campaign_id, index)
);
create index campaign_variants_of_company on campaign_variants (company_id, campaign_id);

-- A campaign whose other recipients wait for the winner of its variants. `dueAt` is set when all recipients of the test have
-- been tried; the winner is then decided once (statements/decide-winner.ts).
create table campaign_winners (
  company_id uuid not null,
  campaign_id uuid not null,
  metric text not null,
  after_minutes double precision not null,
  due_at timestamp with time zone,
  winner smallint,
  decided_at timestamp with time zone,
  constraint campaign_winners_pkey primary key (campaign_id),
  constraint campaign_winners_metric_check check ((metric = ANY (ARRAY['opens'::text, 'clicks'::text])))
);
create index campaign_winners_of_company on campaign_winners (company_id, campaign_id);
create index campaign_winners_open on campaign_winners (campaign_id) where (winner IS NULL);

create table campaigns (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  campaign_type text not null,
  status text not null,
  total_emails integer default 0 not null,
  sent_count integer default 0 not null,
  failed_count integer default 0 not null,
  scheduled_for timestamp with time zone,
  error text,
  template_id uuid,
  smtp_config_id uuid not null,
  list_id uuid,
  segment_id uuid,
  is_transactional boolean default false not null,
  worker_task_id uuid not null,
  expand_cursor text,
  next_seq integer default 1 not null,
  expanded_at timestamp with time zone,
  requeue_from integer,
  is_internal boolean default false not null,
  blocks_in_a_row integer default 0 not null,
  last_turn_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  repeated_refusal text,
  api_key_id uuid,
  no integer,
  expansion_began_at timestamp with time zone,
  copies_asked integer default 0 not null,
  unwritten integer default 0 not null,
  unwritten_cursor text,
  recipients_state text default 'kept'::text not null,
  stopped_at timestamp with time zone,
  hard_bounces integer default 0 not null,
  complaints integer default 0 not null,
  tried_unsent integer default 0 not null,
  guard_from integer default 0 not null,
  guard_since timestamp with time zone,
  guard_stopped boolean default false not null,
  suppressed_count integer default 0 not null,
  deleted_at timestamp with time zone,
  emptied_at timestamp with time zone,
  resend_of uuid,
  timezone text,
  starts_at timestamp with time zone,
  individual_tracking boolean default true not null,
  restored boolean default false not null,
  constraint campaigns_pkey primary key (id),
  constraint campaigns_company_id_id_key unique (company_id, id),
  constraint campaigns_campaign_type_check check ((campaign_type = ANY (ARRAY['to_list'::text, 'to_receivers'::text, 'custom'::text]))),
  constraint campaigns_recipients_state_check check ((recipients_state = ANY (ARRAY['kept'::text, 'hidden'::text, 'removing'::text, 'removed'::text]))),
  constraint campaigns_status_check check ((status = ANY (ARRAY['pending'::text, 'sending'::text, 'completed'::text, 'partial'::text, 'failed'::text, 'scheduled'::text, 'cancelled'::text]))),
  constraint campaigns_timezone_check check ((timezone = 'recipient'::text))
) with (fillfactor=50);
create index campaigns_alive on campaigns (status, scheduled_for) where (status = ANY (ARRAY['pending'::text, 'sending'::text, 'scheduled'::text]));
create index campaigns_by_no on campaigns (company_id, no);
create index campaigns_by_zone on campaigns (starts_at) where ((status = 'scheduled'::text) AND (starts_at IS NOT NULL));
create index campaigns_deleted on campaigns (company_id, id) where (deleted_at IS NOT NULL);
create index campaigns_large on campaigns (company_id, no) where (total_emails > 100);
create unique index campaigns_no on campaigns (no);
create index campaigns_not_all_sent on campaigns (company_id, no) where ((status = ANY (ARRAY['partial'::text, 'failed'::text, 'cancelled'::text, 'scheduled'::text])) OR (suppressed_count > 0));
create index campaigns_of_company on campaigns (company_id, id) include (status) where (NOT is_internal);
create index campaigns_of_status on campaigns (company_id, status, id) where (status = ANY (ARRAY['partial'::text, 'failed'::text, 'cancelled'::text, 'scheduled'::text]));
create index campaigns_of_type on campaigns (company_id, campaign_type, id) where (NOT is_internal);
create index campaigns_to_lists on campaigns (company_id, list_id, COALESCE(started_at, created_at), id) where ((campaign_type = 'to_list'::text) AND (list_id IS NOT NULL));
create index campaigns_unexpanded on campaigns (id) where ((expanded_at IS NULL) AND (status = ANY (ARRAY['pending'::text, 'sending'::text])));
create trigger campaigns_counted AFTER INSERT ON campaigns REFERENCING NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_campaigns();
create trigger campaigns_recounted AFTER UPDATE ON campaigns REFERENCING OLD TABLE AS old_rows NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION recount_campaigns();
create trigger campaigns_removed AFTER DELETE ON campaigns REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION campaigns_removed();
create trigger campaigns_uncounted AFTER DELETE ON campaigns REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_gone_campaigns();

create table companies (
  id uuid not null,
  name text not null,
  plan text not null,
  reply_to_email text,
  website text,
  footer_text text default ''::text not null,
  double_opt_in boolean default false not null,
  default_smtp_config_id uuid,
  tracking_enabled boolean default true not null,
  sending_paused_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  confirmation_warned_at timestamp with time zone,
  deleted_at timestamp with time zone,
  retention_days jsonb default '{}'::jsonb not null,
  retention_done_at timestamp with time zone,
  require_authentication boolean default false not null,
  guard jsonb default '{}'::jsonb not null,
  timezone text default 'UTC'::text not null,
  form_attributes text[] default '{}'::text[] not null,
  form_hosts text[] default '{}'::text[] not null,
  branding jsonb default '{}'::jsonb not null,
  individual_tracking boolean default true not null,
  no integer default nextval('company_no'::regclass) not null,
  constraint companies_pkey primary key (id)
);
create index companies_deleted on companies (deleted_at) where (deleted_at IS NOT NULL);
create unique index companies_no on companies (no);
create index companies_retention_turn on companies (((retention_days <> '{}'::jsonb)), COALESCE(retention_done_at, '-infinity'::timestamp with time zone));
create trigger companies_removed AFTER DELETE ON companies REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION companies_removed();

-- Daily counts of a company's subscribers and mail, in its time zone: updated by triggers; a value is the sum over slots.
create table company_days (
  company_id uuid not null,
  day date not null,
  slot smallint not null,
  sent bigint default 0 not null,
  returned bigint default 0 not null,
  bounced bigint default 0 not null,
  complained bigint default 0 not null,
  opens bigint default 0 not null,
  clicks bigint default 0 not null,
  people_subscribed bigint default 0 not null,
  people_unsubscribed bigint default 0 not null,
  people_bounced bigint default 0 not null,
  constraint company_days_pkey primary key (company_id, day, slot)
) with (fillfactor=50);

-- Exact row counts at a constant cost, updated by triggers. A writer adds to the slot of its connection, so that two writers
-- rarely wait for the same row; a reader sums at most 32 slots (`count_of`).
create table counters (
  company_id uuid not null,
  name text not null,
  ref uuid not null,
  slot smallint not null,
  n bigint not null,
  constraint counters_pkey primary key (company_id, name, ref, slot)
) with (fillfactor=50);

create table dkim_keys (
  id uuid not null,
  company_id uuid not null,
  smtp_config_id uuid not null,
  domain text not null,
  selector text not null,
  algorithm text not null,
  key_sealed bytea not null,
  record text,
  active boolean not null,
  next_look_at timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  constraint dkim_keys_pkey primary key (id),
  constraint dkim_keys_smtp_config_id_algorithm_active_key unique (smtp_config_id, algorithm, active),
  constraint dkim_keys_algorithm_check check ((algorithm = ANY (ARRAY['rsa'::text, 'ed25519'::text])))
);
create index dkim_keys_of_company on dkim_keys (company_id);
create index dkim_keys_waiting on dkim_keys (next_look_at) where (NOT active);

create table drafts (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  kind text not null,
  body jsonb default '{}'::jsonb not null,
  bytes integer default 2 not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint drafts_pkey primary key (id),
  constraint drafts_company_id_id_key unique (company_id, id),
  constraint drafts_kind_check check ((kind = ANY (ARRAY['to-list'::text, 'to-receivers'::text, 'custom'::text])))
);

-- Sign-ups that a public form's hidden field dropped.
create table dropped_sign_ups (
  company_id uuid not null,
  count bigint default 1 not null,
  last_at timestamp with time zone default now() not null,
  constraint dropped_sign_ups_pkey primary key (company_id)
);

create table email_events (
  id uuid default uuid_v7() not null,
  company_id uuid not null,
  campaign_id uuid,
  sent_email_id uuid,
  type text not null,
  recipient text not null,
  machine boolean default false not null,
  link smallint,
  is_first boolean default false not null,
  is_first_of_link boolean default false not null,
  metadata jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone default now() not null,
  variant smallint,
  constraint email_events_pkey primary key (company_id, id),
  constraint email_events_type_check check ((type = ANY (ARRAY['delivered'::text, 'opened'::text, 'clicked'::text, 'bounced'::text, 'unsubscribed'::text, 'complained'::text])))
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.05, autovacuum_freeze_min_age=1000000);
create index email_events_of_campaign on email_events (campaign_id, id);
create index email_events_of_mail on email_events (sent_email_id, company_id);
create index email_events_of_recipient on email_events (company_id, lower(recipient), id);
create index email_events_rare_of_company on email_events (company_id, type, id) include (campaign_id, created_at) where (type = ANY (ARRAY['bounced'::text, 'unsubscribed'::text, 'complained'::text]));
create index email_events_returned on email_events (campaign_id, type, id) where (type = ANY (ARRAY['bounced'::text, 'unsubscribed'::text, 'complained'::text]));
create trigger email_events_counted AFTER INSERT ON email_events REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((current_setting('flockmail.moving'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION count_events();
create trigger email_events_erased AFTER DELETE ON email_events REFERENCING OLD TABLE AS gone FOR EACH STATEMENT WHEN ((current_setting('flockmail.erasing'::text, true) = 'on'::text)) EXECUTE FUNCTION uncount_erased_events();
create trigger email_events_of_day AFTER INSERT ON email_events REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((current_setting('flockmail.moving'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION count_event_days();
create trigger email_events_of_variants_counted AFTER INSERT ON email_events REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((current_setting('flockmail.moving'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION count_variant_events();
create trigger email_events_of_variants_recounted AFTER UPDATE ON email_events REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_variant_events();
create trigger email_events_of_variants_uncounted AFTER DELETE ON email_events REFERENCING OLD TABLE AS gone FOR EACH STATEMENT WHEN ((current_setting('flockmail.erasing'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION count_variant_events();
create trigger email_events_recounted AFTER UPDATE ON email_events REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_events();
create trigger email_events_uncounted AFTER DELETE ON email_events REFERENCING OLD TABLE AS gone FOR EACH STATEMENT WHEN ((current_setting('flockmail.erasing'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION count_events();

-- An erased person, as a keyed hash of the address, with the progress of the erasure until it is done
-- (statements/erase-person.ts). SQL only.
create table erased_addresses (
  id uuid default uuid_v7() not null,
  company_id uuid not null,
  address_hash bytea not null,
  erased_at timestamp with time zone default now() not null,
  address_sealed bytea,
  place smallint default 0 not null,
  cursor text,
  pass smallint default 1 not null,
  counts jsonb default '{}'::jsonb not null,
  due_at timestamp with time zone,
  constraint erased_addresses_pkey primary key (company_id, address_hash),
  constraint erased_addresses_id_key unique (id)
);
create index erased_addresses_due on erased_addresses (due_at) where (due_at IS NOT NULL);

-- A former address of a subscriber.
create table former_addresses (
  company_id uuid not null,
  subscriber_id uuid not null,
  email_key text not null,
  email text not null,
  changed_at timestamp with time zone default now() not null,
  constraint former_addresses_pkey primary key (company_id, subscriber_id, email_key)
);
create index former_addresses_of_mailbox on former_addresses (company_id, email_key);

create table hit_parts (
  month date not null,
  detached_at timestamp with time zone,
  uncounted_to integer default 0 not null,
  constraint hit_parts_pkey primary key (month)
);

create table hits (
  id uuid not null,
  company_no integer not null,
  campaign_no integer not null,
  seq integer not null,
  link smallint not null,
  flags smallint not null,
  ip inet,
  agent text not null
) partition by range (id);
create index hits_of_campaign on hits (campaign_no, hit_stretch(id));
create index hits_of_company on hits (company_no, hit_stretch(id));
create index hits_of_mail on hits (hit_mail(campaign_no, seq));
create trigger hits_counted AFTER INSERT ON hits REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_hits('1');
create trigger hits_recounted AFTER UPDATE ON hits REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_hits('1');
create trigger hits_uncounted AFTER DELETE ON hits REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_hits('-1');
create trigger hits_unrecounted AFTER UPDATE ON hits REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_hits('-1');

-- Mails that a company with an hourly limit may have sent, and until when they count: restores the count if Redis loses it.
-- `epoch` identifies the valid count. SQL only (services/smtp-sender/limits/hour-ledger.ts).
create table hour_ledgers (
  company_id uuid not null,
  taken jsonb default '{}'::jsonb not null,
  epoch bigint default 0 not null,
  constraint hour_ledgers_pkey primary key (company_id)
) with (fillfactor=50);

-- An idempotency key and its campaign: written in the campaign's transaction and kept for 24 hours.
create table idempotency_keys (
  company_id uuid not null,
  key text not null,
  request_hash bytea not null,
  response json,
  created_at timestamp with time zone default now() not null,
  constraint idempotency_keys_pkey primary key (company_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Errors of some rows, as lines of CSV.
create table import_errors (
  id uuid not null,
  company_id uuid not null,
  import_id uuid not null,
  attempts integer default 0 not null,
  lines text not null,
  constraint import_errors_pkey primary key (id)
);
create index import_errors_of_import on import_errors (company_id, import_id, id);

-- A part of the file of a background import.
create table import_parts (
  import_id uuid not null,
  no integer not null,
  company_id uuid not null,
  data bytea not null,
  constraint import_parts_pkey primary key (import_id, no)
);
create index import_parts_of_company on import_parts (company_id);

create table imports (
  id uuid not null,
  company_id uuid not null,
  status text default 'running'::text not null,
  form jsonb,
  caller jsonb,
  bytes bigint default 0 not null,
  bytes_read bigint default 0 not null,
  report jsonb,
  error text,
  attempts integer default 0 not null,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  held boolean default false not null,
  started_at timestamp with time zone,
  constraint imports_pkey primary key (id),
  constraint imports_company_id_id_key unique (company_id, id),
  constraint imports_status_check check ((status = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text])))
);
create index imports_age on imports (created_at);
create index imports_due on imports (next_attempt_at) where (next_attempt_at IS NOT NULL);
create index imports_of_company on imports (company_id, created_at);

create table inbound_messages (
  id uuid not null,
  company_id uuid not null,
  received_at timestamp with time zone default now() not null,
  via text not null,
  smtp_config_id uuid,
  sent_email_id uuid,
  recipient text,
  result text not null,
  bounce_type text,
  reason text,
  dialect text,
  diagnostic text,
  raw_id uuid,
  constraint inbound_messages_pkey primary key (id),
  constraint inbound_messages_bounce_type_check check ((bounce_type = ANY (ARRAY['hard'::text, 'soft'::text, 'block'::text]))),
  constraint inbound_messages_result_check check ((result = ANY (ARRAY['bounced'::text, 'complained'::text, 'ignored'::text, 'unmatched'::text])))
);
create index inbound_messages_of_company on inbound_messages (company_id, id);
create index inbound_messages_of_recipient on inbound_messages (company_id, lower(recipient), id);
create index inbound_messages_of_result on inbound_messages (company_id, result, id);
create index inbound_messages_of_way on inbound_messages (company_id, via, id);
create trigger inbound_messages_added AFTER INSERT ON inbound_messages REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('inbound_messages');
create trigger inbound_messages_removed AFTER DELETE ON inbound_messages REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('inbound_messages');

create table inbound_raws (
  id uuid not null,
  company_id uuid not null,
  raw bytea not null,
  constraint inbound_raws_pkey primary key (id)
);

-- A provider's request that waits to be processed. Written and claimed by bounces/provider-report-queue.ts.
create table inbound_reports (
  id uuid not null,
  company_id uuid not null,
  source_id uuid not null,
  body text not null,
  attempts integer default 0 not null,
  next_attempt_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  constraint inbound_reports_pkey primary key (id)
);
create index inbound_reports_due on inbound_reports (next_attempt_at);

-- Messages of a source or mailbox that were processed, so that they are not processed again.
create table inbound_seen (
  company_id uuid not null,
  origin uuid not null,
  key text not null,
  seen_at timestamp with time zone default now() not null,
  constraint inbound_seen_pkey primary key (origin, key)
);
create index inbound_seen_at on inbound_seen (seen_at);
create index inbound_seen_of_company on inbound_seen (company_id);

create table inbound_sources (
  id uuid not null,
  company_id uuid not null,
  provider text not null,
  smtp_config_id uuid,
  token_hash bytea not null,
  token_sealed bytea not null,
  secret_sealed bytea,
  topic text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint inbound_sources_pkey primary key (id),
  constraint inbound_sources_company_id_id_key unique (company_id, id),
  constraint inbound_sources_token_hash_key unique (token_hash),
  constraint inbound_sources_provider_check check ((provider = ANY (ARRAY['ses'::text, 'sendgrid'::text, 'mailgun'::text, 'postmark'::text, 'sparkpost'::text, 'brevo'::text])))
);
create trigger inbound_sources_added AFTER INSERT ON inbound_sources REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('inbound_sources');
create trigger inbound_sources_removed AFTER DELETE ON inbound_sources REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('inbound_sources');

-- State of the installation: one row, created by the migration.
create table installation (
  id uuid default '00000000-0000-0000-0000-000000000001'::uuid not null,
  mail_key_sealed bytea,
  worked_on text,
  worked_on_timeline text,
  constraint installation_pkey primary key (id),
  constraint installation_id_check check ((id = '00000000-0000-0000-0000-000000000001'::uuid))
);

create table invitations (
  id uuid not null,
  company_id uuid not null,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  role text not null,
  invited_by uuid,
  proves_address boolean not null,
  expires_at timestamp with time zone not null,
  accepted_at timestamp with time zone,
  withdrawn_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint invitations_pkey primary key (id),
  constraint invitations_role_check check ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);
create unique index invitations_open on invitations (company_id, email_key) where ((accepted_at IS NULL) AND (withdrawn_at IS NULL));

-- A membership of a list. `leftAt`: the subscriber left on the preferences page; the row stays so that the page can offer the
-- list again. Written by set-based SQL, without a foreign key, which makes imports three times slower.
create table list_members (
  company_id uuid not null,
  list_id uuid not null,
  subscriber_id uuid not null,
  left_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint list_members_pkey primary key (company_id, list_id, subscriber_id) include (left_at)
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_freeze_min_age=1000000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=1000);
create index list_members_by_subscriber on list_members (subscriber_id);
create trigger list_members_added AFTER INSERT ON list_members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_list_members();
create trigger list_members_left AFTER UPDATE ON list_members REFERENCING OLD TABLE AS old_rows NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_list_leavers();
create trigger list_members_removed AFTER DELETE ON list_members REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_list_members();

-- A list that a subscriber joins with the next confirmation. SQL only (models/statements/ask-to-confirm.ts).
create table list_wishes (
  company_id uuid not null,
  subscriber_id uuid not null,
  list_id uuid not null,
  asked_at timestamp with time zone default now() not null,
  constraint list_wishes_pkey primary key (company_id, subscriber_id, list_id)
);
create index list_wishes_of_list on list_wishes (company_id, list_id);

create table lists (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  description text default ''::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  visibility text default 'private'::text not null,
  public_name text default ''::text not null,
  public_description text default ''::text not null,
  archive boolean default false not null,
  double_opt_in boolean,
  constraint lists_pkey primary key (id),
  constraint lists_company_id_id_key unique (company_id, id),
  constraint lists_visibility_check check ((visibility = ANY (ARRAY['private'::text, 'public'::text])))
);
create trigger lists_removed AFTER DELETE ON lists REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lists_removed();

create table media (
  id uuid not null,
  company_id uuid not null,
  filename text not null,
  content_type text not null,
  size bigint not null,
  sha256 bytea not null,
  created_at timestamp with time zone default now() not null,
  deleted_at timestamp with time zone,
  folder text default ''::text not null,
  alt text default ''::text not null,
  copy_of uuid,
  copy_key text,
  constraint media_pkey primary key (id),
  constraint media_company_id_id_key unique (company_id, id)
);
create unique index media_copies on media (company_id, copy_of, copy_key) where ((copy_of IS NOT NULL) AND (deleted_at IS NULL));
create index media_deleted on media (deleted_at) where (deleted_at IS NOT NULL);

-- A part of a file: neither an upload nor a download holds the whole file in memory.
create table media_parts (
  media_id uuid not null,
  no integer not null,
  data bytea not null,
  constraint media_parts_pkey primary key (media_id, no)
);

create table memberships (
  company_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamp with time zone default now() not null,
  constraint memberships_pkey primary key (company_id, user_id),
  constraint memberships_role_check check ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);
create index memberships_of_user on memberships (user_id);

-- An operator's session of the console or, before it begins, the link that starts it once. Belongs to no company.
create table operator_sessions (
  id uuid not null,
  link_hash bytea,
  link_until timestamp with time zone not null,
  name text not null,
  made_at timestamp with time zone default now() not null,
  began_at timestamp with time zone,
  expires_at timestamp with time zone,
  ended_at timestamp with time zone,
  last_used_at timestamp with time zone,
  ip text,
  user_agent text,
  constraint operator_sessions_pkey primary key (id),
  constraint operator_sessions_link_hash_key unique (link_hash),
  constraint operator_sessions_check check (((began_at IS NULL) = (expires_at IS NULL)))
);
create index operator_sessions_age on operator_sessions (made_at);

create table plans (
  name text not null,
  api_calls_per_day integer,
  subscribers integer,
  emails_per_month integer,
  smtp_per_hour integer,
  features text[] default '{}'::text[] not null,
  media_bytes bigint,
  constraint plans_pkey primary key (name),
  constraint plans_api_calls_per_day_check check ((api_calls_per_day >= 0)),
  constraint plans_emails_per_month_check check ((emails_per_month >= 0)),
  constraint plans_media_bytes_check check ((media_bytes >= 0)),
  constraint plans_smtp_per_hour_check check ((smtp_per_hour >= 0)),
  constraint plans_subscribers_check check ((subscribers >= 0))
);

create table recipient_parts (
  no integer not null,
  month date,
  constraint recipient_parts_pkey primary key (no)
);

create table recovery_codes (
  user_id uuid not null,
  code_hash bytea not null,
  used_at timestamp with time zone,
  constraint recovery_codes_pkey primary key (user_id, code_hash)
);

create table refresh_tokens (
  token_hash bytea not null,
  family_id uuid not null,
  user_id uuid not null,
  expires_at timestamp with time zone not null,
  spent_at timestamp with time zone,
  revoked_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  began_at timestamp with time zone default now() not null,
  ip text,
  user_agent text,
  constraint refresh_tokens_pkey primary key (token_hash)
);
create index refresh_tokens_expiry on refresh_tokens (expires_at);
create index refresh_tokens_family on refresh_tokens (family_id);
create index refresh_tokens_of_user on refresh_tokens (user_id);

-- Objects of a company's sample data, without its people. SQL only (services/accounts/sample-data.ts).
create table sample_data (
  company_id uuid not null,
  list_id uuid not null,
  template_id uuid not null,
  campaign_id uuid not null,
  created_at timestamp with time zone default now() not null,
  constraint sample_data_pkey primary key (company_id)
);

create table saved_blocks (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  blocks jsonb not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint saved_blocks_pkey primary key (id),
  constraint saved_blocks_company_id_id_key unique (company_id, id)
);

create table segments (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  description text default ''::text not null,
  rules jsonb not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint segments_pkey primary key (id),
  constraint segments_company_id_id_key unique (company_id, id)
);

create table send_chunks (
  campaign_id uuid not null,
  no integer not null,
  company_id uuid not null,
  smtp_config_id uuid not null,
  is_transactional boolean not null,
  lo integer not null,
  hi integer not null,
  marked_to integer not null,
  state smallint default 0 not null,
  owner text,
  fence integer default 0 not null,
  lease_until timestamp with time zone,
  due_at timestamp with time zone,
  constraint send_chunks_pkey primary key (campaign_id, no)
) with (fillfactor=50);
create index send_chunks_due on send_chunks (due_at) where (state = 3);
create index send_chunks_leased on send_chunks (company_id) where (state = 1);
create index send_chunks_ready on send_chunks (campaign_id, no) where (state = 0);
create index send_chunks_waiting on send_chunks (campaign_id, due_at) where (state = 3);

-- A copy (cc, bcc) of a sent email, with its result. The recorder writes the rows together with the mail's result, so an
-- unsent mail has none. Its status does not count in the campaign. Senders write it by set-based SQL.
create table sent_email_copies (
  campaign_id uuid not null,
  seq integer not null,
  no integer not null,
  company_id uuid not null,
  email text not null,
  kind text not null,
  status smallint default 0 not null,
  attempts smallint default 0 not null,
  next_attempt_at timestamp with time zone,
  error text,
  smtp_response text,
  sent_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint sent_email_copies_pkey primary key (campaign_id, seq, no),
  constraint sent_email_copies_kind_check check ((kind = ANY (ARRAY['cc'::text, 'bcc'::text])))
) with (fillfactor=70);
create index sent_email_copies_due on sent_email_copies (campaign_id, next_attempt_at) where (next_attempt_at IS NOT NULL);
create index sent_email_copies_leased on sent_email_copies (next_attempt_at) where (status = 1);
create index sent_email_copies_of_address on sent_email_copies (company_id, lower(email));

create table sent_emails (
  campaign_no integer not null,
  seq integer not null,
  subscriber_id uuid,
  email text,
  cc text[],
  bcc text[],
  variables jsonb,
  status smallint default 0 not null,
  attempts smallint default 0 not null,
  next_attempt_at timestamp with time zone,
  error text,
  smtp_response text,
  sent_at timestamp with time zone,
  opened_at timestamp with time zone,
  clicked_at timestamp with time zone,
  bounced_at timestamp with time zone,
  opens integer,
  clicks integer,
  variant smallint
) partition by range (campaign_no);

create table smtp_configs (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  host text not null,
  port integer not null,
  username text default ''::text not null,
  password_sealed bytea,
  use_tls boolean default true not null,
  sender_name text default ''::text not null,
  sender_email text not null,
  reply_to_email text,
  dkim_domain text,
  dkim_selector text,
  dkim_key_sealed bytea,
  max_connections integer default 10 not null,
  max_per_second integer,
  is_default boolean default false not null,
  failing_since timestamp with time zone,
  backoff_until timestamp with time zone,
  last_error text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  tls_mode text default 'auto'::text not null,
  worked_at timestamp with time zone,
  last_error_at timestamp with time zone,
  backoff_count integer default 0 not null,
  bounce_address text,
  checked_at timestamp with time zone,
  check_failures jsonb default '[]'::jsonb not null,
  dkim_record text,
  warmup jsonb,
  domain_limits jsonb default '[]'::jsonb not null,
  limits_unknown_until timestamp with time zone,
  constraint smtp_configs_pkey primary key (id),
  constraint smtp_configs_company_id_id_key unique (company_id, id),
  constraint smtp_configs_max_connections_check check (((max_connections >= 1) AND (max_connections <= 1000))),
  constraint smtp_configs_max_per_second_check check ((max_per_second >= 1)),
  constraint smtp_configs_port_check check (((port >= 1) AND (port <= 65535))),
  constraint smtp_configs_tls_mode_check check ((tls_mode = ANY (ARRAY['auto'::text, 'implicit'::text, 'starttls'::text, 'none'::text])))
);
create index smtp_configs_bounce_address on smtp_configs (lower(bounce_address)) where (bounce_address IS NOT NULL);
create unique index smtp_configs_one_default on smtp_configs (company_id) where is_default;

create table subscribers (
  id uuid default uuid_v7() not null,
  company_id uuid not null,
  email text not null,
  email_key text collate "C",
  first_name text default ''::text not null,
  last_name text default ''::text not null,
  status text default 'active'::text not null,
  attributes jsonb default '{}'::jsonb not null,
  confirm_mailed_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  import_id uuid,
  form_values jsonb,
  soft_bounces integer default 0 not null,
  soft_bounced_at timestamp with time zone,
  constraint subscribers_pkey primary key (company_id, id),
  constraint subscribers_company_id_email_key_key unique (company_id, email_key),
  constraint subscribers_status_check check ((status = ANY (ARRAY['active'::text, 'unconfirmed'::text, 'unsubscribed'::text, 'bounced'::text, 'complained'::text])))
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=1000);
create index subscribers_of_status on subscribers (company_id, status, id) where (status <> 'active'::text);
create index subscribers_search on subscribers using gin (company_id, (((((email || ' '::text) || first_name) || ' '::text) || last_name)) gin_trgm_ops) WITH (gin_pending_list_limit='4096');
create trigger subscribers_address BEFORE UPDATE OF email ON subscribers FOR EACH ROW WHEN ((old.email IS DISTINCT FROM new.email)) EXECUTE FUNCTION keep_address();
create trigger subscribers_counted AFTER INSERT ON subscribers REFERENCING NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_new_people();
create trigger subscribers_key BEFORE INSERT ON subscribers FOR EACH ROW WHEN ((new.email_key IS NULL)) EXECUTE FUNCTION set_address_key();
create trigger subscribers_new_key BEFORE UPDATE OF email ON subscribers FOR EACH ROW WHEN ((old.email IS DISTINCT FROM new.email)) EXECUTE FUNCTION set_address_key();
create trigger subscribers_recounted AFTER UPDATE ON subscribers REFERENCING OLD TABLE AS old_rows NEW TABLE AS now_rows FOR EACH STATEMENT EXECUTE FUNCTION count_people();
create trigger subscribers_removed AFTER DELETE ON subscribers REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION subscribers_removed();
create trigger subscribers_uncounted AFTER DELETE ON subscribers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_gone_people();

create table suppressions (
  id uuid default uuid_v7() not null,
  company_id uuid not null,
  email text,
  email_key text collate "C",
  domain text,
  domain_unicode text,
  kind text default 'manual'::text not null,
  reason text default ''::text not null,
  created_at timestamp with time zone default now() not null,
  constraint suppressions_pkey primary key (id),
  constraint suppressions_check check ((num_nonnulls(email, domain) = 1)),
  constraint suppressions_kind_check check ((kind = ANY (ARRAY['manual'::text, 'unsubscribed'::text, 'bounced'::text, 'complained'::text])))
) with (autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=1000);
create unique index suppressions_domain on suppressions (company_id, domain) where (domain IS NOT NULL);
create index suppressions_domain_unicode on suppressions (company_id, domain_unicode) where (domain_unicode IS NOT NULL);
create unique index suppressions_email on suppressions (company_id, email_key) where (email_key IS NOT NULL);
create index suppressions_of_company on suppressions (company_id, id);
create index suppressions_of_kind on suppressions (company_id, kind, id);
create index suppressions_search_of_company on suppressions using gin (company_id, (((COALESCE(email, domain) || ' '::text) || COALESCE(domain_unicode, ''::text))) gin_trgm_ops) WITH (gin_pending_list_limit='1024');
create trigger suppressions_added AFTER INSERT ON suppressions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('suppressions');
create trigger suppressions_key BEFORE INSERT ON suppressions FOR EACH ROW WHEN (((new.email_key IS NULL) AND (new.email IS NOT NULL))) EXECUTE FUNCTION set_address_key();
create trigger suppressions_removed AFTER DELETE ON suppressions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('suppressions');

create table system_mails (
  id uuid not null,
  kind text not null,
  recipient text not null,
  data jsonb not null,
  attempts integer default 0 not null,
  next_attempt_at timestamp with time zone default now(),
  error text,
  sent_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint system_mails_pkey primary key (id)
);
create index system_mails_due on system_mails (next_attempt_at) where (next_attempt_at IS NOT NULL);

-- A version of a template: written and read by statements/template-versions.ts.
create table template_versions (
  company_id uuid not null,
  template_id uuid not null,
  version integer not null,
  content jsonb not null,
  saved_by_user uuid,
  saved_by_key uuid,
  created_at timestamp with time zone default now() not null,
  constraint template_versions_pkey primary key (company_id, template_id, version)
);

create table templates (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  subject text not null,
  body text default ''::text not null,
  template_mode text default 'basic'::text not null,
  template_type text default 'marketing'::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  preheader text,
  text_body text,
  inline_css boolean default false not null,
  html text,
  design jsonb,
  design_text text,
  markdown text,
  constraint templates_pkey primary key (id),
  constraint templates_company_id_id_key unique (company_id, id),
  constraint templates_template_mode_check check ((template_mode = ANY (ARRAY['basic'::text, 'visual'::text, 'mjml'::text]))),
  constraint templates_template_type_check check ((template_type = ANY (ARRAY['marketing'::text, 'transactional'::text])))
);

create table tracking_domains (
  company_id uuid not null,
  domain text not null,
  token text not null,
  claimed_at timestamp with time zone default now() not null,
  checked_at timestamp with time zone,
  proved_at timestamp with time zone,
  constraint tracking_domains_pkey primary key (company_id),
  constraint tracking_domains_domain_key unique (domain)
);

create unlogged table transfer_parts (
  transfer_id uuid not null,
  no integer not null,
  company_id uuid not null,
  data bytea not null,
  constraint transfer_parts_pkey primary key (transfer_id, no)
);

-- A confirmation mail that waits to be sent. SQL only (models/statements/ask-to-confirm.ts).
create table unsent_confirmations (
  company_id uuid not null,
  subscriber_id uuid not null,
  asked_at timestamp with time zone not null,
  accept_language text not null,
  constraint unsent_confirmations_pkey primary key (company_id, subscriber_id)
);

-- Mails (with copies) whose recipients were written, by company and UTC month, for the monthly quota (statements/plan-usage.ts).
create table usage_months (
  company_id uuid not null,
  month date not null,
  emails bigint default 0 not null,
  constraint usage_months_pkey primary key (company_id, month)
);

create table users (
  id uuid not null,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  password_hash text not null,
  first_name text default ''::text not null,
  last_name text default ''::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  email_verified_at timestamp with time zone,
  totp_secret_sealed bytea,
  totp_confirmed_at timestamp with time zone,
  totp_last_step bigint default 0 not null,
  constraint users_pkey primary key (id),
  constraint users_email_key_key unique (email_key)
);

-- Mails that may have been sent through an SMTP configuration during its warm-up, on the last day with any. SQL
-- only (services/smtp-sender/limits/warmup-ledger.ts).
create table warmup_ledgers (
  smtp_config_id uuid not null,
  company_id uuid not null,
  day date not null,
  step integer not null,
  taken integer not null,
  full_until timestamp with time zone,
  constraint warmup_ledgers_pkey primary key (company_id, smtp_config_id)
) with (fillfactor=50);

create table webhook_deliveries (
  id uuid default uuid_v7() not null,
  company_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  payload jsonb not null,
  status text default 'pending'::text not null,
  attempts integer default 0 not null,
  response_status integer,
  last_error text,
  next_attempt_at timestamp with time zone default now(),
  created_at timestamp with time zone default now() not null,
  constraint webhook_deliveries_pkey primary key (id),
  constraint webhook_deliveries_status_check check ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'dead'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.05);
create index webhook_deliveries_dead on webhook_deliveries (endpoint_id, id) where (status = 'dead'::text);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at) where (status = 'pending'::text);
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_of_type on webhook_deliveries (endpoint_id, event_type, id);
create trigger webhook_deliveries_added AFTER INSERT ON webhook_deliveries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries();
create trigger webhook_deliveries_removed AFTER DELETE ON webhook_deliveries REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries();

create table webhook_endpoints (
  id uuid not null,
  company_id uuid not null,
  url text not null,
  events text[] not null,
  secret_sealed bytea not null,
  old_secret_sealed bytea,
  old_secret_until timestamp with time zone,
  failing_since timestamp with time zone,
  disabled_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint webhook_endpoints_pkey primary key (id),
  constraint webhook_endpoints_company_id_id_key unique (company_id, id)
);
create trigger webhook_endpoints_added AFTER INSERT ON webhook_endpoints REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('webhook_endpoints');
create trigger webhook_endpoints_removed AFTER DELETE ON webhook_endpoints REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('webhook_endpoints');

-- Foreign keys
alter table account_tokens add constraint account_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table address_changes add constraint address_changes_company_id_subscriber_id_fkey FOREIGN KEY (company_id, subscriber_id) REFERENCES subscribers(company_id, id) ON DELETE CASCADE;
alter table api_keys add constraint api_keys_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table api_keys add constraint api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL;
alter table audit_log add constraint audit_log_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table bounce_mailboxes add constraint bounce_mailboxes_company_id_id_fkey FOREIGN KEY (company_id, id) REFERENCES smtp_configs(company_id, id) ON DELETE CASCADE;
alter table campaign_contents add constraint campaign_contents_company_id_campaign_id_fkey FOREIGN KEY (company_id, campaign_id) REFERENCES campaigns(company_id, id) ON DELETE CASCADE;
alter table campaign_variants add constraint campaign_variants_company_id_campaign_id_fkey FOREIGN KEY (company_id, campaign_id) REFERENCES campaigns(company_id, id) ON DELETE CASCADE;
alter table campaign_winners add constraint campaign_winners_company_id_campaign_id_fkey FOREIGN KEY (company_id, campaign_id) REFERENCES campaigns(company_id, id) ON DELETE CASCADE;
alter table campaigns add constraint campaigns_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table companies add constraint companies_default_smtp_config FOREIGN KEY (id, default_smtp_config_id) REFERENCES smtp_configs(company_id, id) ON DELETE SET NULL (default_smtp_config_id);
alter table companies add constraint companies_plan_fkey FOREIGN KEY (plan) REFERENCES plans(name) ON UPDATE CASCADE;
alter table dkim_keys add constraint dkim_keys_company_id_smtp_config_id_fkey FOREIGN KEY (company_id, smtp_config_id) REFERENCES smtp_configs(company_id, id) ON DELETE CASCADE;
alter table drafts add constraint drafts_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table dropped_sign_ups add constraint dropped_sign_ups_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table erased_addresses add constraint erased_addresses_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table former_addresses add constraint former_addresses_company_id_subscriber_id_fkey FOREIGN KEY (company_id, subscriber_id) REFERENCES subscribers(company_id, id) ON DELETE CASCADE;
alter table hour_ledgers add constraint hour_ledgers_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table idempotency_keys add constraint idempotency_keys_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table import_errors add constraint import_errors_company_id_import_id_fkey FOREIGN KEY (company_id, import_id) REFERENCES imports(company_id, id) ON DELETE CASCADE;
alter table import_parts add constraint import_parts_company_id_import_id_fkey FOREIGN KEY (company_id, import_id) REFERENCES imports(company_id, id) ON DELETE CASCADE;
alter table imports add constraint imports_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table inbound_messages add constraint inbound_messages_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table inbound_raws add constraint inbound_raws_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table inbound_reports add constraint inbound_reports_company_id_source_id_fkey FOREIGN KEY (company_id, source_id) REFERENCES inbound_sources(company_id, id) ON DELETE CASCADE;
alter table inbound_seen add constraint inbound_seen_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table inbound_sources add constraint inbound_sources_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table inbound_sources add constraint inbound_sources_company_id_smtp_config_id_fkey FOREIGN KEY (company_id, smtp_config_id) REFERENCES smtp_configs(company_id, id) ON DELETE SET NULL (smtp_config_id);
alter table invitations add constraint invitations_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table invitations add constraint invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE SET NULL;
alter table list_wishes add constraint list_wishes_company_id_list_id_fkey FOREIGN KEY (company_id, list_id) REFERENCES lists(company_id, id) ON DELETE CASCADE;
alter table list_wishes add constraint list_wishes_company_id_subscriber_id_fkey FOREIGN KEY (company_id, subscriber_id) REFERENCES subscribers(company_id, id) ON DELETE CASCADE;
alter table lists add constraint lists_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table media add constraint media_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table media_parts add constraint media_parts_media_id_fkey FOREIGN KEY (media_id) REFERENCES media(id) ON DELETE CASCADE;
alter table memberships add constraint memberships_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table memberships add constraint memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table recovery_codes add constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table refresh_tokens add constraint refresh_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table sample_data add constraint sample_data_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table saved_blocks add constraint saved_blocks_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table segments add constraint segments_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table smtp_configs add constraint smtp_configs_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table suppressions add constraint suppressions_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table template_versions add constraint template_versions_company_id_template_id_fkey FOREIGN KEY (company_id, template_id) REFERENCES templates(company_id, id) ON DELETE CASCADE;
alter table templates add constraint templates_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table tracking_domains add constraint tracking_domains_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table unsent_confirmations add constraint unsent_confirmations_company_id_subscriber_id_fkey FOREIGN KEY (company_id, subscriber_id) REFERENCES subscribers(company_id, id) ON DELETE CASCADE;
alter table usage_months add constraint usage_months_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;
alter table warmup_ledgers add constraint warmup_ledgers_company_id_smtp_config_id_fkey FOREIGN KEY (company_id, smtp_config_id) REFERENCES smtp_configs(company_id, id) ON DELETE CASCADE;
alter table webhook_deliveries add constraint webhook_deliveries_company_id_endpoint_id_fkey FOREIGN KEY (company_id, endpoint_id) REFERENCES webhook_endpoints(company_id, id) ON DELETE CASCADE;
alter table webhook_endpoints add constraint webhook_endpoints_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id) ON DELETE CASCADE;

alter table media_parts alter column data set storage external;
alter table transfer_parts alter column data set storage external;

-- Functions that run with the privileges of the tables' owner, called by the application's less privileged role.
do $$
declare
  name regprocedure;
begin
  foreach name in array array[
    'analyze_subscribers()',
    'detach_hit_part(date,integer)',
    'drop_hit_part(date)',
    'drop_recipient_part(integer)',
    'next_campaign_no()',
    'prepare_hit_parts()',
    'prepare_recipient_parts()']::regprocedure[]
  loop
    execute format('alter function %s security definer set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %s from public', name);
  end loop;
end
$$;

insert into plans (name, api_calls_per_day, subscribers, emails_per_month, smtp_per_hour, features, media_bytes) values
  ('unlimited', null, null, null, null, '{scheduled_campaigns,segments,webhooks}', null),
  ('free', 1000, 500, 3000, 100, '{}', 52428800),
  ('starter', 10000, 10000, 100000, 2000, '{scheduled_campaigns}', 1073741824),
  ('pro', 100000, 250000, 2500000, 50000, '{scheduled_campaigns,segments,webhooks}', 21474836480);
insert into installation default values;

select prepare_recipient_parts();
select prepare_hit_parts();
