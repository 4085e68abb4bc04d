-- Who did what, in a company. Rows are added and never changed: the database itself refuses.
create table audit_log (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  actor_type text not null check (actor_type in ('user', 'api_key', 'operator', 'system')),
  actor_id uuid,
  -- As it was then: the person may leave, the key may be deleted.
  actor_name text not null,
  action text not null,
  target text,
  ip text,
  detail jsonb not null default '{}',
  at timestamptz not null default now()
);
-- The id is made of the time: one index serves both.
create index audit_log_of_company on audit_log (company_id, id);

create function audit_log_is_append_only() returns trigger language plpgsql as $$
begin
  -- A company that is deleted takes its log along: then a trigger of the foreign key asks, not a statement.
  if tg_op = 'DELETE' and pg_trigger_depth() > 1 then
    return old;
  end if;
  raise exception 'The audit log is append-only';
end
$$;
create trigger audit_log_append_only before update or delete on audit_log
  for each row execute function audit_log_is_append_only();
create trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function audit_log_is_append_only();
