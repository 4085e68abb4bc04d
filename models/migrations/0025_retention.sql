-- How long rows are kept. Events and recipients go in small steps; counters and suppressions stay.
alter table companies
  add column retention_days jsonb not null default '{}',
  -- When everything was last found to be young enough. Null: not since the days were changed.
  add column retention_done_at timestamptz;

-- `removing`: its recipients are no longer shown, and go step by step; then it is `removed`.
alter table campaigns
  add column recipients_state text not null default 'kept' check (recipients_state in ('kept', 'removing', 'removed'));
