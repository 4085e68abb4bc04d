-- Plans are data: an operator may change a number or add a plan without a release. Null is unlimited.
create table plans (
  name text primary key,
  api_calls_per_day integer check (api_calls_per_day >= 0),
  subscribers integer check (subscribers >= 0),
  emails_per_month integer check (emails_per_month >= 0),
  smtp_per_hour integer check (smtp_per_hour >= 0),
  features text[] not null default '{}'
);

insert into plans (name, api_calls_per_day, subscribers, emails_per_month, smtp_per_hour, features) values
  ('free', 1000, 500, 3000, 100, '{}'),
  ('starter', 10000, 10000, 100000, 2000, '{scheduled_campaigns}'),
  ('pro', 100000, 250000, 2500000, 50000, '{scheduled_campaigns,segments,webhooks}'),
  ('unlimited', null, null, null, null, '{scheduled_campaigns,segments,webhooks}');

create table companies (
  id uuid primary key,
  name text not null,
  plan text not null references plans (name) on update cascade,
  reply_to_email text,
  website text,
  footer_text text not null default '',
  double_opt_in boolean not null default false,
  default_smtp_config_id uuid,
  tracking_enabled boolean not null default true,
  sending_paused_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table users (
  id uuid primary key,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  password_hash text not null,
  first_name text not null default '',
  last_name text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (email_key)
);

create table memberships (
  company_id uuid not null references companies (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz not null default now(),
  primary key (company_id, user_id)
);
create index memberships_of_user on memberships (user_id);

-- One row per refresh token ever handed out and not yet expired; a spent one that comes back revokes its family.
create table refresh_tokens (
  token_hash bytea primary key,
  family_id uuid not null,
  user_id uuid not null references users (id) on delete cascade,
  expires_at timestamptz not null,
  spent_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index refresh_tokens_family on refresh_tokens (family_id);
create index refresh_tokens_expiry on refresh_tokens (expires_at);

create table api_keys (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  name text not null,
  prefix text not null,
  key_hash bytea not null unique,
  expires_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create index api_keys_of_company on api_keys (company_id, id);

-- Primary recipients accepted for sending, by company and UTC month (the monthly quota).
create table usage_months (
  company_id uuid not null references companies (id) on delete cascade,
  month date not null,
  emails bigint not null default 0,
  primary key (company_id, month)
);
