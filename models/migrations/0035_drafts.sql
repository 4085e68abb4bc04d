-- Sends that are not asked for yet: what the request would say, complete or not.
create table drafts (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  name text not null,
  kind text not null check (kind in ('to-list', 'to-receivers', 'custom')),
  body jsonb not null default '{}',
  -- Of the body as JSON: a list shows no large ones, and must not read them to know.
  bytes integer not null default 2,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

-- What a send said beside what campaigns and their contents have columns for, so that a duplicate has all of it.
alter table campaign_contents add column further jsonb;

-- A campaign to those recipients of another one that got it and did not open it.
alter table campaigns add column resend_of uuid;
