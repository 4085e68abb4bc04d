-- What happened to mails: opened, clicked, bounced, unsubscribed (delivered goes to webhooks only).
create table email_events (
  id uuid primary key default uuid_v7(),
  company_id uuid not null,
  campaign_id uuid,
  sent_email_id uuid,
  type text not null check (type in ('delivered', 'opened', 'clicked', 'bounced', 'unsubscribed')),
  recipient text not null,
  machine boolean not null default false,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index email_events_of_company on email_events (company_id, id);
create index email_events_of_mail on email_events (sent_email_id);
create trigger email_events_added after insert on email_events
  referencing new table as changed for each statement execute function count_rows('events');
create trigger email_events_removed after delete on email_events
  referencing old table as changed for each statement execute function count_rows('events');

create table webhook_endpoints (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  url text not null,
  events text[] not null,
  secret_sealed bytea not null,
  old_secret_sealed bytea,
  old_secret_until timestamptz,
  failing_since timestamptz,
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

-- Outbox: written in the transaction of the event it tells of, delivered later by any webhooks node.
create table webhook_deliveries (
  id uuid primary key default uuid_v7(),
  company_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  payload jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'dead')),
  attempts integer not null default 0,
  response_status integer,
  last_error text,
  next_attempt_at timestamptz default now(),
  created_at timestamptz not null default now(),
  foreign key (company_id, endpoint_id) references webhook_endpoints (company_id, id) on delete cascade
) with (fillfactor = 70);
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at) where status = 'pending';
