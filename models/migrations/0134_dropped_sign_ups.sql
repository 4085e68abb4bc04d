-- Sign-ups that a public form's hidden field dropped.
create table dropped_sign_ups (
  company_id uuid primary key references companies (id) on delete cascade,
  count bigint not null default 1,
  last_at timestamptz not null default now());
