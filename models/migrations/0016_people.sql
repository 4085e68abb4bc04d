alter table users
  add column email_verified_at timestamptz,
  add column totp_secret_sealed bytea,
  add column totp_confirmed_at timestamptz,
  -- Of the last code that was used (RFC 6238): each is good once.
  add column totp_last_step bigint not null default 0;

create table recovery_codes (
  user_id uuid not null references users (id) on delete cascade,
  code_hash bytea not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);

-- What the list of sessions shows; copied from one token of a family to the next.
alter table refresh_tokens
  add column began_at timestamptz not null default now(),
  add column ip text,
  add column user_agent text;
create index refresh_tokens_of_user on refresh_tokens (user_id);

-- The links of mails that verify an address or reset a password. The link holds the id, signed; no credential is stored.
create table account_tokens (
  id uuid primary key,
  kind text not null check (kind in ('verify', 'reset')),
  user_id uuid not null references users (id) on delete cascade,
  expires_at timestamptz not null,
  spent_at timestamptz,
  created_at timestamptz not null default now()
);
create index account_tokens_of_user on account_tokens (user_id, kind);
create index account_tokens_expiry on account_tokens (expires_at);

-- `proves_address`: the link went to the mailbox alone (or through an operator), so whoever has it reads that mailbox.
create table invitations (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  invited_by uuid references users (id) on delete set null,
  proves_address boolean not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  withdrawn_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index invitations_open on invitations (company_id, email_key)
  where accepted_at is null and withdrawn_at is null;

-- Mail of the service itself: written with what it is about, in one transaction; sent by whichever node comes first.
create table system_mails (
  id uuid primary key,
  kind text not null,
  recipient text not null,
  data jsonb not null,
  attempts integer not null default 0,
  -- Null once it is sent or given up; the lease's end while it is being sent.
  next_attempt_at timestamptz default now(),
  error text,
  sent_at timestamptz,
  created_at timestamptz not null default now()
);
create index system_mails_due on system_mails (next_attempt_at) where next_attempt_at is not null;
