-- Ids are UUIDv7 (RFC 9562 section 5.7): index-friendly, and the 74 random bits stand as a credential in public links.
-- Written here because PostgreSQL has uuidv7() from 18 only and 15 is supported.
create function uuid_v7() returns uuid
language sql volatile parallel safe
as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;

-- Row counts that stay exact and cheap at any size. A writer adds to the slot of its own backend, so that
-- two connections rarely wait for one row; a reader sums at most 32 slots.
create table counters (
  company_id uuid not null,
  name text not null,
  ref uuid not null,
  slot smallint not null,
  n bigint not null,
  primary key (company_id, name, ref, slot)
) with (fillfactor = 50);

create function add_count(company uuid, counter text, of uuid, delta bigint) returns void
language sql
as $$
  insert into counters (company_id, name, ref, slot, n)
  values (company, counter, of, pg_backend_pid() % 32, delta)
  on conflict (company_id, name, ref, slot) do update set n = counters.n + excluded.n
$$;

create function count_of(company uuid, counter text, of uuid) returns bigint
language sql stable
as $$
  select coalesce(sum(n), 0)::bigint from counters
  where company_id = company and name = counter and ref = of
$$;

-- Statement-level trigger: counts the rows of one statement per company. Argument: the counter's name.
create function count_rows() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    perform add_count(company_id, tg_argv[0], company_id, count(*)) from changed group by company_id order by company_id;
  else
    perform add_count(company_id, tg_argv[0], company_id, -count(*)) from changed group by company_id order by company_id;
  end if;
  return null;
end
$$;
