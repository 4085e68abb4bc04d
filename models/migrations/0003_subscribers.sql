-- No foreign key per row here and in list_members: with them an import of subscribers with membership runs at 44 thousand
-- rows/s, without at 130. Statement-level triggers do what the keys' cascades did, and whoever adds a membership
-- holds the list's and the subscriber's row (for key share) while doing so.
-- email_key is compared byte by byte: equality is all that is asked of it, and comparing by a language's rules is slow.
create table subscribers (
  id uuid not null default uuid_v7(),
  company_id uuid not null,
  email text not null,
  email_key text collate "C" generated always as (lower(email)) stored,
  first_name text not null default '',
  last_name text not null default '',
  status text not null default 'active' check (status in ('active', 'unconfirmed', 'unsubscribed', 'bounced')),
  attributes jsonb not null default '{}',
  -- When the last double opt-in mail was asked for: one a minute at most, whoever asks.
  confirm_mailed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (company_id, id),
  unique (company_id, email_key)
);

create table lists (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  name text not null,
  description text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

-- left_at: the subscriber left this list by the preferences page; the row stays so that the page can offer it again.
-- It is in the key's index, so that a page deep in a list is found without reading the table.
create table list_members (
  company_id uuid not null,
  list_id uuid not null,
  subscriber_id uuid not null,
  left_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (company_id, list_id, subscriber_id) include (left_at)
);
-- Which lists is somebody on? A hash index, because it has no order: over a b-tree the planner likes to walk through the
-- members of all lists when it is asked for the next of one.
create index list_members_of_subscriber on list_members using hash (subscriber_id);

-- Counts who is on a list: a row with left_at does not count.
create function count_list_members() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    perform add_count(company_id, 'list_members', list_id, count(*)) from changed
      where left_at is null group by company_id, list_id order by list_id;
  else
    perform add_count(company_id, 'list_members', list_id, -count(*)) from changed
      where left_at is null group by company_id, list_id order by list_id;
  end if;
  return null;
end
$$;
create trigger list_members_added after insert on list_members
  referencing new table as changed for each statement execute function count_list_members();
create trigger list_members_removed after delete on list_members
  referencing old table as changed for each statement execute function count_list_members();

create function count_list_leavers() returns trigger
language plpgsql
as $$
begin
  perform add_count(company_id, 'list_members', list_id, sum(n))
  from (select company_id, list_id, 1 n from now_rows where left_at is null
        union all select company_id, list_id, -1 from old_rows where left_at is null) d
  group by company_id, list_id having sum(n) <> 0 order by list_id;
  return null;
end
$$;
create trigger list_members_left after update on list_members
  referencing old table as old_rows new table as now_rows for each statement execute function count_list_leavers();

-- Counts first, then memberships: the same order as when they are added, so that two writers never wait for each other.
create function subscribers_removed() returns trigger
language plpgsql
as $$
begin
  perform add_count(company_id, 'subscribers', company_id, -count(*)) from changed group by company_id order by company_id;
  delete from list_members m using changed c where m.company_id = c.company_id and m.subscriber_id = c.id;
  return null;
end
$$;
create trigger subscribers_added after insert on subscribers
  referencing new table as changed for each statement execute function count_rows('subscribers');
create trigger subscribers_removed after delete on subscribers
  referencing old table as changed for each statement execute function subscribers_removed();

create function lists_removed() returns trigger
language plpgsql
as $$
begin
  delete from list_members m using changed c where m.company_id = c.company_id and m.list_id = c.id;
  delete from counters n using changed c where n.company_id = c.company_id and n.name = 'list_members' and n.ref = c.id;
  return null;
end
$$;
create trigger lists_removed after delete on lists
  referencing old table as changed for each statement execute function lists_removed();

create function companies_removed() returns trigger
language plpgsql
as $$
begin
  delete from subscribers s using changed c where s.company_id = c.id;
  return null;
end
$$;
create trigger companies_removed after delete on companies
  referencing old table as changed for each statement execute function companies_removed();

-- Exactly one of email and domain. A transactional send passes kind 'unsubscribed' only.
create table suppressions (
  id uuid primary key default uuid_v7(),
  company_id uuid not null references companies (id) on delete cascade,
  email text,
  email_key text collate "C" generated always as (lower(email)) stored,
  -- As it goes over the wire (punycode); domain_unicode is the same one in letters where they differ, because
  -- addresses are kept as they were given.
  domain text,
  domain_unicode text,
  kind text not null default 'manual' check (kind in ('manual', 'unsubscribed', 'bounced', 'complained')),
  reason text not null default '',
  created_at timestamptz not null default now(),
  check (num_nonnulls(email, domain) = 1)
);
create unique index suppressions_email on suppressions (company_id, email_key) where email_key is not null;
create unique index suppressions_domain on suppressions (company_id, domain) where domain is not null;
create index suppressions_domain_unicode on suppressions (company_id, domain_unicode) where domain_unicode is not null;
create index suppressions_of_company on suppressions (company_id, id);
create trigger suppressions_added after insert on suppressions
  referencing new table as changed for each statement execute function count_rows('suppressions');
create trigger suppressions_removed after delete on suppressions
  referencing old table as changed for each statement execute function count_rows('suppressions');

-- "mail.example.org" and "org" themselves: the domain of an address and every domain above it.
create function domains_of(address text) returns text[]
language sql immutable parallel safe
as $$
  select array_agg(array_to_string(labels[i:], '.'))
  from (select string_to_array(lower(split_part(address, '@', -1)), '.') as labels) d,
       generate_series(1, cardinality(labels)) i
$$;

-- The kind that blocks this address, or null. A block other than 'unsubscribed' wins, for transactional mail.
-- Each branch is a probe of its own index, however many suppressions there are. For sets of addresses see
-- services/subscribers/suppressed.ts.
create function blocked_by(company uuid, address text) returns text
language sql stable
as $$
  select kind from (
    select kind from suppressions where company_id = company and email_key = lower(address)
    union all
    select x.kind from unnest(domains_of(address)) d join suppressions x on x.company_id = company and x.domain = d
    union all
    select x.kind from unnest(domains_of(address)) d
      join suppressions x on x.company_id = company and x.domain_unicode = d) b
  order by kind = 'unsubscribed'
  limit 1
$$;

create table segments (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  name text not null,
  description text not null default '',
  rules jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

-- An attribute is free text: what is no date is null, never an error. Without a time zone it is UTC. Written without an
-- exception handler, which would keep PostgreSQL from asking in parallel.
create function time_of(x text) returns timestamptz
language sql stable parallel safe
as $$
  select case
    when x ~* '^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([t ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(z|[+-](0\d|1[0-4]):?[0-5]\d)?)?$'
    then case
      when substr(x, 9, 2)::int <= extract(day from (substr(x, 1, 8) || '01')::date + interval '1 month - 1 day')
      then case when x ~* '(z|:\d\d(\.\d+)?[+-]\d\d:?\d\d)$' then x::timestamptz else x::timestamp at time zone 'UTC' end
    end
  end
$$;
