-- Campaigns that reach each recipient when the clock of `scheduled_for` is reached in the recipient's own timezone. Their
-- `scheduled_for` has that clock as if it were UTC.
alter table campaigns add column timezone text check (timezone = 'recipient'),
  -- While scheduled: before this nobody's hour can have come (services/campaigns/lifecycle/start-by-zone.ts).
  add column starts_at timestamptz;
create index campaigns_by_zone on campaigns (starts_at) where status = 'scheduled' and starts_at is not null;

-- When a chunk may be claimed; null: at once. State 5 until then, which nodes of the version before leave alone.
alter table send_chunks add column due_at timestamptz;
create index send_chunks_due on send_chunks (due_at) where state = 5;
create index send_chunks_waiting on send_chunks (campaign_id, due_at) where state = 5;

-- The instant at which a clock is reached in each timezone that PostgreSQL knows, by its name in lower case. A clock that a
-- zone leaves out when its summer time begins is moved on by what is left out (02:30 becomes 03:30), of one that it has
-- twice the second counts. `at time zone` reads four names as abbreviations without summer time: these stand for their zones.
create function zone_instants(clock timestamp) returns table (zone text, instant timestamptz)
language sql stable parallel safe as $$
  select lower(n.name), clock at time zone case n.name when 'CET' then 'Europe/Brussels' when 'MET' then 'Europe/Brussels'
    when 'EET' then 'Europe/Athens' when 'WET' then 'Europe/Lisbon' else n.name end
  from pg_timezone_names n where n.name !~ '^(posix|right)/'
$$;
