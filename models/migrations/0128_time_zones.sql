-- One source of time zones: those of PostgreSQL (models/statements/time-zones.ts). `Factory` means that none was set, and the
-- other two are the server's own.
create function time_zone_names() returns setof text
language sql stable parallel safe as $$
  select name from pg_timezone_names
  where name !~ '^(posix|right)/' and name not in ('Factory', 'localtime', 'posixrules')
$$;

-- `at time zone` reads four names as abbreviations without summer time: these stand for their zones.
create function zone_rule(zone text) returns text
language sql immutable parallel safe as $$
  select case zone when 'CET' then 'Europe/Brussels' when 'MET' then 'Europe/Brussels'
    when 'EET' then 'Europe/Athens' when 'WET' then 'Europe/Lisbon' else zone end
$$;

create function local_time(at timestamptz, zone text) returns timestamp
language sql stable parallel safe as $$
  select at at time zone zone_rule(zone)
$$;

-- The first instant of a day: of a midnight that comes twice the first one.
create function day_start(day date, zone text) returns timestamptz
language sql stable parallel safe as $$
  select case when local_time(m.at - interval '1 hour', zone)::date = day then m.at - interval '1 hour' else m.at end
  from (select day::timestamp at time zone zone_rule(zone) as at) m
$$;

create or replace function zone_instants(clock timestamp) returns table (zone text, instant timestamptz)
language sql stable parallel safe as $$
  select lower(n), clock at time zone zone_rule(n) from time_zone_names() n
$$;
