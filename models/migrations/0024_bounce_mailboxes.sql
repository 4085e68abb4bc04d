-- Mailboxes in which bounces arrive, read by IMAP. Each belongs to an SMTP configuration and has its id.
create table bounce_mailboxes (
  id uuid primary key,
  company_id uuid not null,
  host text not null,
  port integer not null check (port between 1 and 65535),
  username text not null,
  password_sealed bytea not null,
  use_tls boolean not null,
  folder text not null,
  processed_folder text not null,
  -- The same for all configurations that name the same folder: one of them is read for all.
  origin uuid not null,
  -- Another one after each edit: what was opened with the one before is closed.
  revision integer not null default 1,
  -- The node that reads it, alone until the lease ends.
  reader text,
  lease_until timestamptz,
  next_attempt_at timestamptz not null default now(),
  failures integer not null default 0,
  last_error text,
  last_error_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (company_id, id) references smtp_configs (company_id, id) on delete cascade
);
create index bounce_mailboxes_due on bounce_mailboxes (next_attempt_at);
create index bounce_mailboxes_of_origin on bounce_mailboxes (origin, id);
create index bounce_mailboxes_of_company on bounce_mailboxes (company_id);
