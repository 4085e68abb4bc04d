create table subscribers (
  id uuid primary key default uuid_v7(),
  company_id uuid not null references companies (id) on delete cascade,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  first_name text not null default '',
  last_name text not null default '',
  status text not null default 'active' check (status in ('active', 'unconfirmed', 'unsubscribed', 'bounced')),
  attributes jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, email_key),
  unique (company_id, id)
);

create trigger subscribers_added after insert on subscribers
  referencing new table as changed for each statement execute function count_rows('subscribers');
create trigger subscribers_removed after delete on subscribers
  referencing old table as changed for each statement execute function count_rows('subscribers');

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
create table list_members (
  company_id uuid not null,
  list_id uuid not null,
  subscriber_id uuid not null,
  left_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (list_id, subscriber_id),
  foreign key (company_id, list_id) references lists (company_id, id) on delete cascade,
  foreign key (company_id, subscriber_id) references subscribers (company_id, id) on delete cascade
);
create index list_members_of_subscriber on list_members (subscriber_id);

create function count_list_members() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    perform add_count(company_id, 'list_members', list_id, count(*)) from changed
      group by company_id, list_id order by list_id;
  else
    perform add_count(company_id, 'list_members', list_id, -count(*)) from changed
      group by company_id, list_id order by list_id;
  end if;
  return null;
end
$$;
create trigger list_members_added after insert on list_members
  referencing new table as changed for each statement execute function count_list_members();
create trigger list_members_removed after delete on list_members
  referencing old table as changed for each statement execute function count_list_members();

-- Exactly one of email and domain. A transactional send passes kind 'unsubscribed' only.
create table suppressions (
  id uuid primary key default uuid_v7(),
  company_id uuid not null references companies (id) on delete cascade,
  email text,
  email_key text generated always as (lower(email)) stored,
  domain text,
  kind text not null default 'manual' check (kind in ('manual', 'unsubscribed', 'bounced', 'complained')),
  reason text not null default '',
  created_at timestamptz not null default now(),
  check (num_nonnulls(email, domain) = 1)
);
create unique index suppressions_email on suppressions (company_id, email_key) where email_key is not null;
create unique index suppressions_domain on suppressions (company_id, domain) where domain is not null;
create index suppressions_of_company on suppressions (company_id, id);
create trigger suppressions_added after insert on suppressions
  referencing new table as changed for each statement execute function count_rows('suppressions');
create trigger suppressions_removed after delete on suppressions
  referencing old table as changed for each statement execute function count_rows('suppressions');

-- The kind that blocks this address, or null: the address itself first, then its domain and the domains above it.
-- least() of the kinds is no order of weight: a block other than 'unsubscribed' must win, for transactional mail.
create function blocked_by(company uuid, address text) returns text
language sql stable
as $$
  select kind from suppressions
  where company_id = company
    and (email_key = lower(address)
      or domain in (
        select array_to_string(labels[i:], '.')
        from (select string_to_array(lower(split_part(address, '@', -1)), '.') as labels) d,
             generate_series(1, cardinality(labels)) i))
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
