-- How long rows are kept. Events and recipients go in small steps; counters and suppressions stay.
alter table companies
  add column retention_days jsonb not null default '{}',
  -- When everything was last found to be young enough. Null: not since the days were changed.
  add column retention_done_at timestamptz;

-- `removing`: its recipients are no longer shown, and go step by step; then it is `removed`.
alter table campaigns
  add column recipients_state text not null default 'kept' check (recipients_state in ('kept', 'removing', 'removed'));

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
  -- What is too old to be kept has happened all the same: campaigns go on counting it.
  if tg_op in ('DELETE', 'UPDATE') and current_setting('flockmail.keep_campaign_counts', true) is distinct from 'on' then
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
