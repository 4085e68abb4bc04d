-- steps
-- Which database senders worked on last, and when: one that was restored from a backup shows by it, and what it would send
-- again is stopped (models/statements/restored-database.ts). Null: no sender has been there yet.
-- step quick
alter table installation
  add column worked_on text,
  add column worked_on_timeline text,
  add column worked_at timestamptz;

-- step quick
-- Stopped because of that: recipients that were not tried, as far as the backup knows, end as unknown and not as failed.
alter table campaigns add column restored boolean not null default false;
