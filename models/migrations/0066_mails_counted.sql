-- steps
-- A company may have a million campaigns of one mail each: its list of mails is counted and filtered without a look at all of them.
-- step index
-- Which campaigns may have recipients that were not sent to, beside those under way (campaigns_alive). None of these columns
-- changes while mail leaves, so that counting a result stays an update within its page.
create index concurrently campaigns_not_all_sent on campaigns (company_id, no)
  where status in ('partial', 'failed', 'cancelled', 'scheduled') or suppressed_count > 0;
-- step quick
-- Nobody writes between what the functions before have counted and what these count from here on.
lock table campaigns in share row exclusive mode;
-- Mails that a company may still read: recipients with a number, and those who were left out when a request began.
create or replace function count_campaigns() returns trigger language plpgsql as $$
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
  select company_id, (now() at time zone 'UTC')::date, pg_backend_pid() % 32, sum(sent_count)
  from now_rows group by company_id having sum(sent_count) <> 0 order by company_id
  on conflict (company_id, day, slot) do update set sent = d.sent + excluded.sent;
  return null;
end
$$;
create or replace function recount_campaigns() returns trigger language plpgsql as $$
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
  select company_id, (now() at time zone 'UTC')::date, pg_backend_pid() % 32, sum(n)
  from (select company_id, sent_count as n from now_rows union all select company_id, -sent_count from old_rows) x
  group by company_id having sum(n) <> 0 order by company_id
  on conflict (company_id, day, slot) do update set sent = d.sent + excluded.sent;
  return null;
end
$$;
create or replace function count_gone_campaigns() returns trigger language plpgsql as $$
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
$$;
insert into counters (company_id, name, ref, slot, n)
select company_id, name, company_id, 0, sum(n)
from (
  select company_id, 'mails' as name, next_seq - 1 + case when campaign_type <> 'to_list' then suppressed_count else 0 end as n
  from campaigns where recipients_state = 'kept'
  union all
  select company_id, 'mails:sent', sent_count from campaigns where recipients_state = 'kept') x
group by company_id, name having sum(n) <> 0
on conflict (company_id, name, ref, slot) do update set n = counters.n + excluded.n;
