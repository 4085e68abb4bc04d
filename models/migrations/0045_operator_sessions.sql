-- Operators' sessions of the console. A row begins as a link that is good once and for minutes, and stays as the record of who
-- came in, when, from where and until when.
create table operator_sessions (
  id uuid primary key,
  -- SHA-256 of what the link carries; null once it was used.
  link_hash bytea unique,
  link_until timestamptz not null,
  -- For whom the link was made, in the words of who made it.
  name text not null,
  made_at timestamptz not null default now(),
  began_at timestamptz,
  expires_at timestamptz,
  ended_at timestamptz,
  last_used_at timestamptz,
  ip text,
  user_agent text,
  check ((began_at is null) = (expires_at is null))
);
create index operator_sessions_age on operator_sessions (made_at);
