-- What a company bears before a campaign stops by itself: {"hard_bounce_percent": 10, "complaint_percent": 0.3, "after": 200}. A
-- key that is missing has its default (models/company.ts).
alter table companies
  add column guard jsonb not null default '{}',
  -- An IANA name: when its days begin.
  add column timezone text not null default 'UTC';

-- What the guard counts of a campaign, since its last resume: what came back for good, complaints, and what was tried without
-- being accepted. `guard_from` is how many had been tried by then, `guard_since` when that was: what comes back of older mails
-- does not count again.
alter table campaigns
  add column hard_bounces int not null default 0,
  add column complaints int not null default 0,
  add column tried_unsent int not null default 0,
  add column guard_from int not null default 0,
  add column guard_since timestamptz,
  add column guard_stopped boolean not null default false;

-- {"start_per_day": 50, "factor": 2, "until_per_day": 10000}; null: as many mails a day as there are.
alter table smtp_configs add column warmup jsonb;

-- How far a configuration has come with its warm-up: its day, which of its days that is, how many mails may have left on it,
-- and, when more wanted to, when the next one begins.
create table warmup_ledgers (
  smtp_config_id uuid not null,
  company_id uuid not null,
  day date not null,
  step int not null,
  taken int not null,
  full_until timestamptz,
  primary key (company_id, smtp_config_id),
  foreign key (company_id, smtp_config_id) references smtp_configs (company_id, id) on delete cascade
) with (fillfactor = 50);
