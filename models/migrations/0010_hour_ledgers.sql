-- How many mails of a company with a limit by the hour may have left, and until when: what is left of the count when Redis
-- loses it. `taken`: milliseconds of the clock -> mails that may leave until then. Written for a block of mails at a time.
create table hour_ledgers (
  company_id uuid primary key references companies (id) on delete cascade,
  -- The counter that may go on; one that began before it finds another name here and counts anew.
  epoch text not null,
  taken jsonb not null default '{}'
) with (fillfactor = 50);
