-- A campaign's status moves only through services/campaigns/lifecycle.ts.
create table campaigns (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  name text not null,
  campaign_type text not null check (campaign_type in ('to_list', 'to_receivers', 'custom')),
  status text not null check (status in ('pending', 'sending', 'completed', 'partial', 'failed', 'scheduled', 'cancelled')),
  total_emails integer not null default 0,
  sent_count integer not null default 0,
  failed_count integer not null default 0,
  scheduled_for timestamptz,
  -- Why it stopped by itself, a sentence for the user; null while nothing is wrong.
  error text,
  template_id uuid,
  smtp_config_id uuid not null,
  list_id uuid,
  segment_id uuid,
  is_transactional boolean not null default false,
  worker_task_id uuid not null,
  -- Expansion: rows up to (not including) next_seq exist; the cursor is the last subscriber (or receiver number) taken.
  expand_cursor text,
  next_seq integer not null default 1,
  expanded_at timestamptz,
  -- Resume: chunks from this number on still have to be looked through for recipients to try again.
  requeue_from integer,
  -- The service's own mail (double opt-in), which the list of campaigns does not show.
  is_internal boolean not null default false,
  -- Policy refusals since the last accepted mail; 20 stop the campaign.
  blocks_in_a_row integer not null default 0,
  -- When a sender last took work of it: whose turn is next (fairness), not a fact about the campaign.
  last_turn_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
) with (fillfactor = 50);
create index campaigns_of_company on campaigns (company_id, id) include (status) where not is_internal;
create index campaigns_alive on campaigns (status, scheduled_for) where status in ('pending', 'sending', 'scheduled');
create index campaigns_unexpanded on campaigns (id) where expanded_at is null and status in ('pending', 'sending');

-- What every mail of the campaign is made from, as it was at the request: later edits elsewhere change nothing here.
create table campaign_contents (
  campaign_id uuid primary key,
  company_id uuid not null,
  subject text not null,
  body text not null,
  sender_name text not null,
  sender_email text not null,
  reply_to_email text,
  -- List-Id (RFC 2919): the list's or the company's name and id.
  list_id_name text not null,
  list_id_ref uuid not null,
  company_name text not null,
  footer_text text not null default '',
  tracking_enabled boolean not null,
  media_ids uuid[] not null default '{}',
  -- The tracked links in order of appearance, once compiled: link number n is links[n].
  links text[],
  foreign key (company_id, campaign_id) references campaigns (company_id, id) on delete cascade
);

-- Is a file still attached? Few campaigns attach any.
create index campaign_contents_media on campaign_contents using gin (media_ids) where media_ids <> '{}';

-- Inline receivers wait here from the request's transaction until expansion.
create table campaign_receivers (
  campaign_id uuid not null,
  company_id uuid not null,
  no integer not null,
  email text not null,
  cc text[],
  bcc text[],
  variables jsonb not null default '{}',
  primary key (campaign_id, no),
  foreign key (company_id, campaign_id) references campaigns (company_id, id) on delete cascade
);

-- One row per recipient; the truth about every mail. Hot: no foreign key, no index on status, and room on the
-- page so that a result is a HOT update (measured: 266 thousand rows/s at fillfactor 45, 0 bytes of growth).
-- status: 0 queued, 1 sending, 2 sent, 3 failed, 4 bounced, 5 suppressed, 6 unknown.
create table sent_emails (
  id uuid not null default uuid_v7(),
  company_id uuid not null,
  campaign_id uuid not null,
  seq integer not null,
  subscriber_id uuid,
  email text not null,
  cc text[],
  bcc text[],
  variables jsonb,
  status smallint not null default 0,
  attempts smallint not null default 0,
  -- Set while the recipient waits for another try (4xx); the lease's end while that try runs.
  next_attempt_at timestamptz,
  error text,
  smtp_response text,
  sent_at timestamptz,
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  opens integer not null default 0,
  clicks integer not null default 0,
  created_at timestamptz not null default now(),
  primary key (campaign_id, seq)
) with (fillfactor = 45);
create unique index sent_emails_id on sent_emails (id);
create index sent_emails_of_company on sent_emails (company_id, id);
-- Subscriber ids come in order within a slice, so this index is written page by page, unlike one on the address.
create index sent_emails_of_subscriber on sent_emails (subscriber_id) where subscriber_id is not null;
create index sent_emails_without_subscriber on sent_emails (company_id, lower(email)) where subscriber_id is null;
-- By campaign: those that are alive are few, and each is asked for its own.
create index sent_emails_due on sent_emails (campaign_id, next_attempt_at) where next_attempt_at is not null;

-- A lease on a run of recipients (lo..hi of one campaign), taken whole by one sender.
-- state: 0 ready, 1 leased, 2 done. Recipients up to marked_to may have been handed to SMTP: those still queued when
-- the lease runs out are in doubt. The fence grows with each lease; whoever holds an older one can write nothing.
create table send_chunks (
  campaign_id uuid not null,
  no integer not null,
  company_id uuid not null,
  smtp_config_id uuid not null,
  is_transactional boolean not null,
  lo integer not null,
  hi integer not null,
  marked_to integer not null,
  state smallint not null default 0,
  owner text,
  fence integer not null default 0,
  lease_until timestamptz,
  primary key (campaign_id, no)
) with (fillfactor = 50);
create index send_chunks_ready on send_chunks (campaign_id, no) where state = 0;
-- Not by lease_until: a lease that is renewed with every result must stay a HOT update.
create index send_chunks_leased on send_chunks (company_id) where state = 1;

-- One key, one campaign: written in the transaction of the campaign it answers for.
create table idempotency_keys (
  company_id uuid not null references companies (id) on delete cascade,
  key text not null,
  request_hash bytea not null,
  response jsonb,
  created_at timestamptz not null default now(),
  primary key (company_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
