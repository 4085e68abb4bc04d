-- Imports that go on behind their answer, and what was wrong with the rows of any import. Kept for 24 hours.
create table imports (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  status text not null default 'running' check (status in ('running', 'done', 'failed')),
  -- Of a background import: the request's form, and who made it.
  form jsonb,
  caller jsonb,
  bytes bigint not null default 0,
  bytes_read bigint not null default 0,
  -- The answer that a foreground import gets.
  report jsonb,
  error text,
  -- Which try has it in hand: what an earlier one still writes is refused by it.
  attempts integer not null default 0,
  -- When it may be tried (again); null: it is over, or its client waits for it.
  next_attempt_at timestamptz,
  created_at timestamptz not null default now(),
  unique (company_id, id)
);
create index imports_due on imports (next_attempt_at) where next_attempt_at is not null;
create index imports_age on imports (created_at);
create index imports_of_company on imports (company_id, created_at);

-- The file of a background import, until it is over.
create table import_parts (
  import_id uuid not null,
  no integer not null,
  company_id uuid not null,
  data bytea not null,
  primary key (import_id, no),
  foreign key (company_id, import_id) references imports (company_id, id) on delete cascade
);
create index import_parts_of_company on import_parts (company_id);

-- Errors as lines of CSV, some hundred kilobytes in a row.
create table import_errors (
  id uuid primary key,
  company_id uuid not null,
  import_id uuid not null,
  -- The try that wrote them; those of an earlier one do not count.
  attempts integer not null default 0,
  lines text not null,
  foreign key (company_id, import_id) references imports (company_id, id) on delete cascade
);
create index import_errors_of_import on import_errors (company_id, import_id, id);
