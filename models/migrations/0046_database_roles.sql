-- What the running service needs of the owner's rights: functions that run with them (security definer), so that its own role
-- needs none (models/database-roles.sql). Names in them are those of this schema, and of temporary tables last: any role may
-- make a temporary table of any name. Only those may call them who are granted it; the owner always may.

-- The table of a past month goes once nothing of it is kept; what else there is cannot be named here.
create function drop_recipient_part(part integer) returns boolean
language plpgsql
-- Whoever reads or writes recipients waits behind this lock while it is waited for.
set lock_timeout = '500ms'
as $$
begin
  if not exists (
    select from recipient_parts p, campaign_no drawn
    where p.no = part and p.month < date_trunc('month', now() at time zone 'UTC') and drawn.last_value >> 20 > part)
  then
    return false;
  end if;
  -- From here on nobody writes to the part, and campaigns of whoever did are committed. The parent first, as every statement does.
  lock table only sent_emails in access exclusive mode;
  if exists (
    select from campaigns c
    where c.no >= part::bigint << 20 and c.no < (part + 1)::bigint << 20 and c.recipients_state <> 'removed')
  then
    return false;
  end if;
  -- Also where an older version was cut off while it detached the table.
  execute format('drop table if exists %I', 'sent_emails_' || part);
  delete from recipient_parts where no = part;
  return true;
end
$$;

-- After a large import, for the planner: only the owner may analyse a table, before PostgreSQL 17 nobody else can be granted it.
create function analyze_subscribers() returns void
language plpgsql
as $$
begin
  analyze (skip_locked) subscribers, list_members;
end
$$;

do $$
declare
  name regprocedure;
begin
  foreach name in array array[
    'prepare_recipient_parts()', 'next_campaign_no()', 'drop_recipient_part(integer)', 'analyze_subscribers()']::regprocedure[]
  loop
    execute format('alter function %s security definer set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %s from public', name);
  end loop;
end
$$;
