-- What the last deliverability report of a configuration found failing, and when: [{"name": "dkim", "help": "…"}]. Null: it was
-- changed since, or never looked at.
alter table smtp_configs
  add column checked_at timestamptz,
  add column check_failures jsonb not null default '[]';

-- Sends are refused while SPF, DKIM, DMARC or alignment of their configuration fails.
alter table companies add column require_authentication boolean not null default false;
