-- steps
-- A/B tests: what the variants of a campaign say, who gets which, and which one won.

-- step quick
create table campaign_variants (
  company_id uuid not null,
  campaign_id uuid not null,
  index smallint not null,
  -- Its share of the recipients; with a winner to come, its share in the test.
  percent double precision not null,
  -- As they were asked for.
  subject text,
  template_id uuid,
  -- Columns of campaign_contents that are the variant's own; all that may differ once the campaign begins.
  content jsonb not null default '{}',
  -- Recipients that were given to it.
  recipients integer not null default 0,
  primary key (campaign_id, index),
  foreign key (company_id, campaign_id) references campaigns (company_id, id) on delete cascade
);
create index campaign_variants_of_company on campaign_variants (company_id, campaign_id);

create table campaign_winners (
  company_id uuid not null,
  campaign_id uuid not null primary key,
  metric text not null check (metric in ('opens', 'clicks')),
  after_minutes double precision not null,
  -- Set once each recipient of the test has been tried.
  due_at timestamptz,
  winner smallint,
  decided_at timestamptz,
  foreign key (company_id, campaign_id) references campaigns (company_id, id) on delete cascade
);
create index campaign_winners_of_company on campaign_winners (company_id, campaign_id);
create index campaign_winners_open on campaign_winners (campaign_id) where winner is null;

-- step quick
-- The variant that a recipient was given in the test; null is the rest, which gets what campaign_contents says.
alter table sent_emails add column variant smallint;

-- step quick
alter table email_events add column variant smallint;

-- step quick
-- Counts opens and clicks of people by variant, as count_events does for the campaign.
create function count_variant_events() returns trigger
language plpgsql
as $$
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
$$;

-- step quick
create trigger email_events_of_variants_counted after insert on email_events
  referencing new table as added for each statement execute function count_variant_events();
create trigger email_events_of_variants_recounted after update on email_events
  referencing old table as gone new table as added for each statement execute function count_variant_events();
create trigger email_events_of_variants_uncounted after delete on email_events
  referencing old table as gone for each statement
  when (current_setting('flockmail.erasing', true) is distinct from 'on')
  execute function count_variant_events();
