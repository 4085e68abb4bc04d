-- A new address that a subscriber asked for, until its mailbox confirms it. One row for a mailbox: it gets one mail in 24 hours,
-- whoever asks.
create table address_changes (
  company_id uuid not null,
  -- address_key() of the new address.
  email_key text not null,
  email text not null,
  subscriber_id uuid not null,
  -- What the mailed link names; null once it leads nowhere, because the subscriber has another address since.
  id uuid,
  asked_at timestamptz not null default now(),
  accept_language text not null,
  -- Its mail is still to be written.
  is_unsent boolean not null default true,
  primary key (company_id, email_key),
  foreign key (company_id, subscriber_id) references subscribers (company_id, id) on delete cascade
);
create index address_changes_of_subscriber on address_changes (company_id, subscriber_id);
create index address_changes_unsent on address_changes (asked_at) where is_unsent;

-- Addresses that subscribers had before: mails that went there are still theirs.
create table former_addresses (
  company_id uuid not null,
  subscriber_id uuid not null,
  email_key text not null,
  email text not null,
  changed_at timestamptz not null default now(),
  primary key (company_id, subscriber_id, email_key),
  foreign key (company_id, subscriber_id) references subscribers (company_id, id) on delete cascade
);
create index former_addresses_of_mailbox on former_addresses (company_id, email_key);
