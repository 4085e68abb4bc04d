-- steps
-- An index for each filter and ordering of a list that may have a million rows (database/filtered-count.ts).
-- step quick
-- Recipients that were not sent to have a text that says why, those that were sent to have none, and leaving it null keeps an
-- update within its page: the index has the few alone, and costs an accepted mail nothing.
create or replace function add_recipient_part(part integer) returns void
language plpgsql
as $$
declare
  name text := 'sent_emails_' || part;
begin
  perform pg_advisory_xact_lock(hashtextextended('recipient part', part));
  if exists (select from recipient_parts where no = part) then return; end if;
  execute format('create table %I (like sent_emails) with (fillfactor = 43)', name);
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
-- step indexes
select format('create index concurrently %I on %I (campaign_no, seq) where error is not null', c.relname || '_unsent', c.relname) as sql
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'sent_emails'::regclass and not exists (
  select from pg_index x join pg_class k on k.oid = x.indexrelid
  where x.indrelid = c.oid and x.indisvalid and k.relname = c.relname || '_unsent');
-- step index
-- Of those who are in the index of searches: both orders would add half to what PostgreSQL does for a row of an import (25 µs of CPU
-- instead of 16), which comes without them, and is put into them in the background.
create index concurrently subscribers_of_first_name on subscribers (company_id, lower(first_name), id) where in_search;
-- step index
create index concurrently subscribers_of_last_name on subscribers (company_id, lower(last_name), id) where in_search;
-- step index
create index concurrently suppressions_of_kind on suppressions (company_id, kind, id);
-- step index
create index concurrently suppressions_search on suppressions
  using gin ((coalesce(email, domain) || ' ' || coalesce(domain_unicode, '')) gin_trgm_ops) with (gin_pending_list_limit = 1024);
-- step index
create index concurrently webhook_deliveries_dead on webhook_deliveries (endpoint_id, id) where status = 'dead';
-- step index
create index concurrently webhook_deliveries_of_type on webhook_deliveries (endpoint_id, event_type, id);
-- step index
create index concurrently inbound_messages_of_result on inbound_messages (company_id, result, id);
-- step index
create index concurrently inbound_messages_of_way on inbound_messages (company_id, via, id);
-- step index
-- Without the id equal keys are stored once: 10 bytes for an entry, of which each send makes one.
create index concurrently audit_log_of_action on audit_log (company_id, action);
-- step index
create index concurrently audit_log_of_actor on audit_log (company_id, actor_id);
-- step index
create index concurrently audit_log_of_name on audit_log (company_id, lower(actor_name));
-- step index
create index concurrently campaigns_of_type on campaigns (company_id, campaign_type, id) where not is_internal;
-- step index
-- The few beside those that are completed, and those under way (campaigns_alive).
create index concurrently campaigns_of_status on campaigns (company_id, status, id)
  where status in ('partial', 'failed', 'cancelled', 'scheduled');
-- step index
-- Which campaigns have mails that came back after they had been sent, and how many.
create index concurrently campaign_counts_bounced on campaign_counts (company_id, campaign_id)
  where metric = 'bounced_unique' and bucket = 0;
