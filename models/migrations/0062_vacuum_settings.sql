-- Vacuum comes by share of a table (0.2 by default): of 50 million rows it would come after ten million changes, and then take
-- long. The large tables are visited after a twentieth, and rows that have not changed for a million transactions are frozen
-- on the way, so that the vacuum which PostgreSQL forces against wraparound finds little to do.
alter table subscribers set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05);
alter table list_members set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_freeze_min_age = 1000000);
alter table email_events set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_freeze_min_age = 1000000);
alter table webhook_deliveries set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05);
alter table sent_emails_full set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_freeze_min_age = 1000000);

create function set_recipient_part_vacuum(part integer) returns void
language plpgsql
as $$
begin
  execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_freeze_min_age = 1000000)', 'sent_emails_' || part);
end
$$;

create or replace function add_recipient_part(part integer) returns void
language plpgsql
as $$
declare
  name text := 'sent_emails_' || part;
begin
  perform pg_advisory_xact_lock(hashtextextended('recipient part', part));
  if exists (select from recipient_parts where no = part) then return; end if;
  execute format('create table %I (like sent_emails) with (fillfactor = 43)', name);
  perform set_recipient_part_vacuum(part);
  execute format('alter table %I add primary key (campaign_no, seq)', name);
  execute format('create index on %I (campaign_no, next_attempt_at) where next_attempt_at is not null', name);
  execute format('create index on %I (subscriber_id) where subscriber_id is not null', name);
  execute format('create index on %I (lower(email)) where email is not null', name);
  execute format('create index %I on %I (campaign_no, seq) where error is not null', name || '_unsent', name);
  execute format('alter table sent_emails attach partition %I for values from (%s) to (%s)',
    name, greatest(part::bigint << 20, 0), (part + 1)::bigint << 20);
  insert into recipient_parts (no) values (part);
end
$$;

select set_recipient_part_vacuum(no) from recipient_parts;
