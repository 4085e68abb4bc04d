-- steps
-- Opens and clicks of compact recipients, in rows of some seventy bytes and in a table for each month (UTC), which is dropped as
-- a whole once no company keeps anything of it. email_events stays as it is: for what does not repeat (bounces, complaints,
-- unsubscribes), for the rows that are there, and for nodes of the version before. Which columns a row leaves out, and
-- which index finds what: models/hit.ts.

-- step quick
-- The time of a hit is that of its id, a UUIDv7: to the millisecond, and for indexes to stretches of 262,144 ms, some four minutes. Rows of
-- one stretch share an entry of the index (7 bytes for each instead of 20), and a page sorts those of its stretch.
create function hit_stretch(id uuid) returns integer
language sql immutable parallel safe
as $$ select ('x' || left(id::text, 8))::bit(32)::integer >> 2 $$;

create function hit_ms(id uuid) returns bigint
language sql immutable parallel safe
as $$ select ('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint $$;

create function hit_at(id uuid) returns timestamptz
language sql immutable parallel safe
as $$ select to_timestamp(('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint::float8 / 1000) $$;

-- Below the id of every hit at that time or later.
create function first_hit_id(at timestamptz) returns uuid
language sql stable parallel safe
as $$ select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid $$;

-- A mail in one value: no other index that begins with its campaign can look as good for the hits of one mail.
create function hit_mail(campaign_no integer, seq integer) returns bigint
language sql immutable parallel safe
as $$ select (campaign_no::bigint << 32) + seq $$;

-- Browsers say the same thing millions of times. `month`: of the last use; it goes once no hit of that month is kept.
create table hit_agents (
  company_id uuid not null references companies (id) on delete cascade,
  hash uuid not null,
  no integer not null generated always as identity,
  agent text not null,
  month date not null,
  primary key (company_id, hash),
  unique (no)
);

-- The parts of hits. `detached_at`: nobody reads it any more, and once it is no longer counted it is dropped;
-- `uncounted_to`: up to the company with this number.
create table hit_parts (
  month date primary key,
  detached_at timestamptz,
  uncounted_to integer not null default 0
);

create table hits (
  id uuid not null,
  company_no integer not null,
  campaign_no integer not null,
  seq integer not null,
  agent_no integer not null,
  link smallint not null,
  flags smallint not null,
  ip inet
) partition by range (id);
create index hits_of_company on hits (company_no, hit_stretch(id));
create index hits_of_campaign on hits (campaign_no, hit_stretch(id));
create index hits_of_mail on hits (hit_mail(campaign_no, seq));

-- What analytics shows, kept with the hits as count_events() does for events. Each hit is counted by the statement that writes it,
-- once; what moves to another table stays counted. The argument: 1 for rows that came, -1 for rows that went.
create function count_hits() returns trigger
language plpgsql
as $$
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
    select o.id, k.day, pg_backend_pid() % 32, sum(k.opens), sum(k.clicks)
    from (select company_no, (hit_at(id) at time zone 'UTC')::date as day,
          count(*) filter (where link = 0) as opens, count(*) filter (where link > 0) as clicks
        from changed where flags & 2 = 2 group by 1, 2) k
      cross join lateral (select id from companies where no = k.company_no limit 1) o
    group by 1, 2 order by 1, 2
    on conflict (company_id, day, slot) do update set opens = d.opens + excluded.opens, clicks = d.clicks + excluded.clicks;
  end if;
  return null;
end
$$;
create trigger hits_counted after insert on hits
  referencing new table as changed for each statement execute function count_hits('1');
create trigger hits_uncounted after delete on hits
  referencing old table as changed for each statement execute function count_hits('-1');
create trigger hits_recounted after update on hits
  referencing new table as changed for each statement execute function count_hits('1');
create trigger hits_unrecounted after update on hits
  referencing old table as changed for each statement execute function count_hits('-1');

-- A table by itself, then attached: that takes no lock which a hit waits for.
create function add_hit_part(part date) returns void
language plpgsql
as $$
declare
  name text := 'hits_' || to_char(part, 'YYYY_MM');
begin
  perform pg_advisory_xact_lock(hashtextextended('hit parts', 0));
  if exists (select from hit_parts where month = part) then return; end if;
  execute format('create table %I (like hits including indexes) with (autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_freeze_min_age = 1000000)', name);
  -- It has no key of its own: a publication of all tables goes by whole rows.
  execute format('alter table %I replica identity full', name);
  execute format('alter table hits attach partition %I for values from (%L) to (%L)', name,
    first_hit_id(part::timestamp at time zone 'UTC'),
    first_hit_id((part + interval '1 month')::timestamp at time zone 'UTC'));
  insert into hit_parts (month) values (part);
end
$$;

-- Of this month and of two more: one that nobody looks after for a month still has room.
create function prepare_hit_parts() returns void
language plpgsql
as $$
declare
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
begin
  for ahead in 0..2 loop
    perform add_hit_part((this_month + ahead * interval '1 month')::date);
  end loop;
end
$$;

-- Whether no company keeps anything of the month: company by company, each found by one step in the index.
create function is_hit_part_over(part date, default_days integer) returns boolean
language plpgsql
as $$
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
$$;

create function detach_hit_part(part date, default_days integer) returns boolean
language plpgsql
-- Whoever reads or writes hits waits behind this lock while it is waited for.
set lock_timeout = '500ms'
as $$
begin
  if part >= date_trunc('month', now() at time zone 'UTC')::date
    or not exists (select from hit_parts where month = part and detached_at is null)
    or not is_hit_part_over(part, default_days)
  then
    return false;
  end if;
  -- The parent first, as every statement does. From here on nobody writes to the part.
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
$$;

-- Of a part that is detached: one company's hits are no longer counted, or, after the last, the table is dropped. True while
-- there is more to do.
create function drop_hit_part(part date) returns boolean
language plpgsql
as $$
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
$$;

-- From then on hits are written compactly, which nodes of the version before do not know.
alter table installation add column compact_hits_since timestamptz;

-- step quick
-- Hits that become rows of email_events, because their recipients go, are counted already.
create or replace trigger email_events_counted after insert on email_events
  referencing new table as added for each statement
  when (current_setting('flockmail.moving', true) is distinct from 'on') execute function count_events();
create or replace trigger email_events_of_day after insert on email_events
  referencing new table as added for each statement
  when (current_setting('flockmail.moving', true) is distinct from 'on') execute function count_event_days();
create or replace trigger email_events_of_variants_counted after insert on email_events
  referencing new table as added for each statement
  when (current_setting('flockmail.moving', true) is distinct from 'on') execute function count_variant_events();

-- step quick
-- What the service calls by the owner's rights (0046_database_roles.sql).
do $$
declare
  name regprocedure;
begin
  foreach name in array array['prepare_hit_parts()', 'detach_hit_part(date, integer)', 'drop_hit_part(date)']::regprocedure[]
  loop
    execute format('alter function %s security definer set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %s from public', name);
  end loop;
end
$$;
select prepare_hit_parts();
