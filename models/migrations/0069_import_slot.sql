-- A large import writes its people slice by slice in one transaction, and holds the counters that it has changed until its end. It
-- counts in a slot of its own, so that no other writer of the company waits for it: a transaction may name its slot
-- (`flockmail.slot`), all others count in that of their connection, 0 to 31, as before.
create function counter_slot() returns integer language sql stable parallel restricted as $$
  select coalesce(nullif(current_setting('flockmail.slot', true), '')::integer, pg_backend_pid() % 32)
$$;
create or replace function add_count(company uuid, counter text, of uuid, delta bigint) returns void language sql as $$
  insert into counters (company_id, name, ref, slot, n)
  values (company, counter, of, counter_slot(), delta)
  on conflict (company_id, name, ref, slot) do update set n = counters.n + excluded.n
$$;
create or replace function count_new_people() returns trigger language plpgsql as $$
begin
  with added as materialized (
    select company_id, status, count(*) as n from now_rows group by company_id, status),
  days as (
    insert into company_days as d (company_id, day, slot, people_subscribed)
    select company_id, (now() at time zone 'UTC')::date, 32 + counter_slot(), n
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
$$;
create or replace function count_people() returns trigger language plpgsql as $$
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
  select company_id, (now() at time zone 'UTC')::date, 32 + counter_slot(),
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
