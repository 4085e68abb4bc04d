-- Reports of providers, and what was read already of those and of mailboxes.

create table inbound_sources (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  provider text not null check (provider in ('ses', 'sendgrid', 'mailgun', 'postmark', 'sparkpost', 'brevo')),
  smtp_config_id uuid,
  -- The token in its address: found by its hash, shown again from the sealed one.
  token_hash bytea not null unique,
  token_sealed bytea not null,
  secret_sealed bytea,
  -- Of SES: the SNS topic that was confirmed first. No other one counts.
  topic text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  foreign key (company_id, smtp_config_id) references smtp_configs (company_id, id) on delete set null (smtp_config_id)
);
create trigger inbound_sources_added after insert on inbound_sources
  referencing new table as changed for each statement execute function count_rows('inbound_sources');
create trigger inbound_sources_removed after delete on inbound_sources
  referencing old table as changed for each statement execute function count_rows('inbound_sources');

-- Requests of providers that were answered with 200 and are not worked off yet; a row lives some milliseconds.
create table inbound_reports (
  id uuid primary key,
  company_id uuid not null,
  source_id uuid not null,
  body text not null,
  attempts integer not null default 0,
  -- The lease's end while it is being worked on.
  next_attempt_at timestamptz not null,
  created_at timestamptz not null default now(),
  foreign key (company_id, source_id) references inbound_sources (company_id, id) on delete cascade
);
create index inbound_reports_due on inbound_reports (next_attempt_at);

-- What was taken in, written together with its effect: a report that comes again, a mail that could not be moved.
-- `origin`: the source or the mailbox that it came by.
create table inbound_seen (
  company_id uuid not null references companies (id) on delete cascade,
  origin uuid not null,
  key text not null,
  seen_at timestamptz not null default now(),
  primary key (origin, key)
);
create index inbound_seen_at on inbound_seen (seen_at);
create index inbound_seen_of_company on inbound_seen (company_id);
