-- steps
-- Of the recipients that were not sent to, those that bounced and those that failed, may get no mail or are in doubt have an
-- index each: a campaign with 200,000 bounces was gone through for the one recipient that failed. An accepted mail changes none
-- of these columns, so that its update stays within its page; a mail that is none pays for one entry more.
-- step quick
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
  execute format('create index %I on %I (campaign_no, seq) where bounced_at is not null', name || '_bounced', name);
  execute format('create index %I on %I (campaign_no, seq) where error is not null and bounced_at is null and next_attempt_at is null',
    name || '_failed', name);
  execute format('alter table sent_emails attach partition %I for values from (%s) to (%s)',
    name, greatest(part::bigint << 20, 0), (part + 1)::bigint << 20);
  insert into recipient_parts (no) values (part);
end
$$;
-- step indexes
select format('create index concurrently %I on %I (campaign_no, seq) where bounced_at is not null', c.relname || '_bounced', c.relname) as sql
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'sent_emails'::regclass and not exists (
  select from pg_index x join pg_class k on k.oid = x.indexrelid
  where x.indrelid = c.oid and x.indisvalid and k.relname = c.relname || '_bounced');
-- step indexes
select format('create index concurrently %I on %I (campaign_no, seq) where error is not null and bounced_at is null and next_attempt_at is null',
  c.relname || '_failed', c.relname) as sql
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'sent_emails'::regclass and not exists (
  select from pg_index x join pg_class k on k.oid = x.indexrelid
  where x.indrelid = c.oid and x.indisvalid and k.relname = c.relname || '_failed');
