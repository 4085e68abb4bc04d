create table templates (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  name text not null,
  subject text not null,
  body text not null default '',
  template_mode text not null default 'basic' check (template_mode in ('basic', 'visual')),
  template_type text not null default 'marketing' check (template_type in ('marketing', 'transactional')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

-- Secrets (password, DKIM key) are sealed envelopes: see services/secrets.ts.
create table smtp_configs (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  name text not null,
  host text not null,
  port integer not null check (port between 1 and 65535),
  username text not null default '',
  password_sealed bytea,
  use_tls boolean not null default true,
  sender_name text not null default '',
  sender_email text not null,
  reply_to_email text,
  dkim_domain text,
  dkim_selector text,
  dkim_key_sealed bytea,
  max_connections integer not null default 10 check (max_connections between 1 and 1000),
  max_per_second integer check (max_per_second >= 1),
  is_default boolean not null default false,
  -- Cannot be reached, or refuses everyone for now: since when, and until when every sender leaves it alone.
  failing_since timestamptz,
  backoff_until timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);
create unique index smtp_configs_one_default on smtp_configs (company_id) where is_default;
-- A deleted configuration is nobody's default any more; and a default is always the company's own.
alter table companies add constraint companies_default_smtp_config
  foreign key (id, default_smtp_config_id) references smtp_configs (company_id, id)
  on delete set null (default_smtp_config_id);

create table media (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  filename text not null,
  content_type text not null,
  size bigint not null,
  sha256 bytea not null,
  created_at timestamptz not null default now(),
  -- Set instead of deleting the row while a campaign still attaches the file.
  deleted_at timestamptz,
  unique (company_id, id)
);

create index media_deleted on media (deleted_at) where deleted_at is not null;

-- A file in parts, so that neither upload nor download holds it whole.
create table media_parts (
  media_id uuid not null references media (id) on delete cascade,
  no integer not null,
  data bytea not null,
  primary key (media_id, no)
);
alter table media_parts alter column data set storage external;
