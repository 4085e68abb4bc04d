-- steps
-- step quick
-- Who was erased: the address as a keyed hash, so that it is neither mailed nor imported again. While the work goes on the
-- row also says how far it has come; the address is sealed meanwhile, and gone when all is done.
create table erased_addresses (
  id uuid not null default uuid_v7(),
  company_id uuid not null references companies (id) on delete cascade,
  address_hash bytea not null,
  erased_at timestamptz not null default now(),
  address_sealed bytea,
  place smallint not null default 0,
  -- Where the walk through the place goes on.
  cursor text,
  -- The second pass finds what was under way during the first.
  pass smallint not null default 1,
  counts jsonb not null default '{}',
  -- When the work goes on; null: done.
  due_at timestamptz,
  primary key (company_id, address_hash),
  unique (id)
);
create index erased_addresses_due on erased_addresses (due_at) where due_at is not null;

-- Deleted events of an erased person stay in the campaign's numbers, and go from the number of rows alone.
create function uncount_erased_events() returns trigger
language plpgsql
as $$
begin
  insert into counters as c (company_id, name, ref, slot, n)
  select company_id, coalesce('events:' || type, 'events') as name, company_id, pg_backend_pid() % 32, -count(*)
  from gone group by grouping sets ((company_id), (company_id, type)) order by 1, 2
  on conflict (company_id, name, ref, slot) do update set n = c.n + excluded.n;
  return null;
end
$$;
drop trigger email_events_uncounted on email_events;
create trigger email_events_uncounted after delete on email_events
  referencing old table as gone for each statement
  when (current_setting('flockmail.erasing', true) is distinct from 'on') execute function count_events();
create trigger email_events_erased after delete on email_events
  referencing old table as gone for each statement
  when (current_setting('flockmail.erasing', true) = 'on') execute function uncount_erased_events();

-- step quick
-- Set when the company's deletion was asked for; its rows go in the background, this one last.
alter table companies add column deleted_at timestamptz;
create index companies_deleted on companies (deleted_at) where deleted_at is not null;

-- Entries go with their company, and by age where the statement says which; never those of the last 30 days. An erased
-- person's address is taken out of what was done to whom; who did what, when and from where stays.
create or replace function audit_log_is_append_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if pg_trigger_depth() > 1 or exists (select from companies where id = old.company_id and deleted_at is not null)
      or (current_setting('flockmail.audit_log', true) = 'expire' and old.at < now() - interval '30 days') then
      return old;
    end if;
  elsif tg_op = 'UPDATE' and current_setting('flockmail.audit_log', true) = 'erase'
    and (new.id, new.company_id, new.actor_type, new.actor_id, new.actor_name, new.action, new.ip, new.at)
      is not distinct from (old.id, old.company_id, old.actor_type, old.actor_id, old.actor_name, old.action, old.ip, old.at) then
    return new;
  end if;
  raise exception 'The audit log is append-only';
end
$$;

-- step index
create index concurrently audit_log_age on audit_log (at);
