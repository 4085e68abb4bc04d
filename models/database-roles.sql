-- Three roles for one installation: the owner of the tables, for migrations alone; the application, which reads and writes
-- rows, and can neither make, change nor drop tables; and KEDA's, which reads one table.
--
--   1. Connect to the installation's database as an administrator (a superuser, or a role with CREATEROLE that owns the
--      database) and run this file: psql -f models/database-roles.sql. It sets no passwords: \password flockmail_owner …
--   2. Apply the migrations as the owner: MIGRATION_DATABASE_URL.
--   3. Run it once more: KEDA's table is there now, and some tables become read-only for the application.
--
-- It may be run at any time, any number of times, while the service runs. An installation that has one role for everything
-- keeps it as the owner: write its name below. Names are the only thing to change here.

set flockmail.owner = 'flockmail_owner';
set flockmail.application = 'flockmail_application';
set flockmail.scaling = 'flockmail_scaling';

do $$
declare
  owner text := current_setting('flockmail.owner');
  application text := current_setting('flockmail.application');
  scaling text := current_setting('flockmail.scaling');
  present text := (
    select r.rolname from pg_class c join pg_roles r on r.oid = c.relowner where c.oid = to_regclass('public.campaigns'));
  name text;
begin
  if present <> owner then
    raise exception 'The tables belong to the role %', present using hint = 'Write its name as flockmail.owner.';
  end if;
  foreach name in array array[owner, application, scaling] loop
    if not exists (select from pg_roles where rolname = name) then
      execute format('create role %I login', name);
    end if;
  end loop;
  foreach name in array array[application, scaling] loop
    if pg_has_role(name, owner, 'member') then
      raise exception 'The role % may act as the owner, %', name, owner
        using hint = 'It must be neither a superuser, nor the owner, nor a member of it.';
    end if;
  end loop;
  -- An administrator who is not a superuser grants in the owner's name.
  if not pg_has_role(owner, 'usage') then
    execute format('grant %I to current_user', owner);
  end if;

  execute format('grant connect, create, temporary on database %I to %I', current_database(), owner);
  execute format('grant connect, temporary on database %I to %I', current_database(), application);
  execute format('grant connect on database %I to %I', current_database(), scaling);
  execute format('revoke create on database %I from %I, %I', current_database(), application, scaling);
  -- Databases from before PostgreSQL 15 let every role create in it.
  execute format('revoke create on schema public from public, %I, %I', application, scaling);
  execute format('grant usage, create on schema public to %I', owner);
  execute format('grant usage on schema public to %I, %I', application, scaling);

  -- Objects that later migrations will create.
  execute format('alter default privileges for role %I in schema public
    grant select, insert, update, delete on tables to %I', owner, application);
  execute format('alter default privileges for role %I in schema public
    grant select, usage on sequences to %I', owner, application);
  execute format('alter default privileges for role %I in schema public
    grant execute on functions to %I', owner, application);

  if present is null then
    raise notice 'Run this once more after the first migration.';
    return;
  end if;
  -- Existing objects. Other privileges (truncate, triggers, references) are revoked.
  execute format('revoke all on all tables in schema public from %I, %I', application, scaling);
  execute format('grant select, insert, update, delete on all tables in schema public to %I', application);
  execute format('revoke insert, update, delete on migrations, recipient_parts, hit_parts from %I', application);
  execute format('revoke all on all sequences in schema public from %I, %I', application, scaling);
  execute format('grant select, usage on all sequences in schema public to %I', application);
  execute format('grant select on send_chunks to %I', scaling);
  -- Every role may call the others, which do what their caller may.
  for name in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace and prosecdef loop
    execute format('revoke execute on function %s from public, %I', name, scaling);
    execute format('grant execute on function %s to %I', name, application);
  end loop;
end
$$;
