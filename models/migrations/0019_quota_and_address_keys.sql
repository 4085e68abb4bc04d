-- steps
-- step quick
-- copies_asked: the mails to cc and bcc that its receivers ask for. unwritten: recipients that the month's quota left no room for;
-- they count as failed without rows. unwritten_cursor: how far they have been counted, while they are.
alter table campaigns
  add column copies_asked integer not null default 0,
  add column unwritten integer not null default 0,
  add column unwritten_cursor text;

-- step quick
-- The mails to cc and bcc of one recipient: an address that stands in both gets one.
create function copies_of(cc text[], bcc text[]) returns integer
language sql immutable parallel safe
as $$
  select case when cc is null and bcc is null then 0
    else (select count(distinct address)::integer from unnest(cc || bcc) address) end
$$;

-- step quick
-- Confirmations that a public form asked for and that are still to be mailed. asked_at: as in subscribers.confirm_mailed_at.
create table unsent_confirmations (
  company_id uuid not null,
  subscriber_id uuid not null,
  asked_at timestamptz not null,
  accept_language text not null,
  primary key (company_id, subscriber_id),
  foreign key (company_id, subscriber_id) references subscribers (company_id, id) on delete cascade
);
-- Lists that somebody asked for who is on them only once a confirmation comes from the mailbox.
create table list_wishes (
  company_id uuid not null,
  subscriber_id uuid not null,
  list_id uuid not null,
  asked_at timestamptz not null default now(),
  primary key (company_id, subscriber_id, list_id),
  foreign key (company_id, subscriber_id) references subscribers (company_id, id) on delete cascade,
  foreign key (company_id, list_id) references lists (company_id, id) on delete cascade
);
create index list_wishes_of_list on list_wishes (company_id, list_id);
alter table companies add column confirmation_warned_at timestamptz;

-- step quick
-- One mailbox has one key, however it is spelled: Unicode in NFC, lower case, the domain as it goes over the wire (A-labels,
-- RFC 5891). Lower case by rules that do not depend on the database's locale, where the server knows any.
do $$
declare
  rules text := coalesce(
    (select ' collate ' || quote_ident(collname) from pg_collation
     where collname in ('und-x-icu', 'pg_c_utf8') order by collname desc limit 1), '');
begin
  execute format('create function lower_case(given text) returns text language sql immutable parallel safe
    as $f$ select lower(given%s) $f$', rules);
end
$$;

-- The Punycode of a label (RFC 3492, 6.3), without the prefix xn--. In simple expressions, which cost no executor each.
create function punycode(label text) returns text
language plpgsql immutable parallel safe strict
as $$
declare
  digits constant text := 'abcdefghijklmnopqrstuvwxyz0123456789';
  points int[] := '{}';
  out text := '';
  basic int;
  handled int;
  n int := 128;
  delta int := 0;
  bias int := 72;
  point int;
  next int;
  q int;
  k int;
  t int;
begin
  for i in 1 .. length(label) loop
    point := ascii(substr(label, i, 1));
    points := points || point;
    if point < 128 then out := out || chr(point); end if;
  end loop;
  basic := length(out);
  handled := basic;
  if basic > 0 then out := out || '-'; end if;
  while handled < cardinality(points) loop
    next := 2147483647;
    foreach point in array points loop
      if point >= n and point < next then next := point; end if;
    end loop;
    delta := delta + (next - n) * (handled + 1);
    n := next;
    foreach point in array points loop
      if point < n then delta := delta + 1; end if;
      continue when point <> n;
      q := delta;
      k := 36;
      loop
        t := greatest(1, least(26, k - bias));
        exit when q < t;
        out := out || substr(digits, t + (q - t) % (36 - t) + 1, 1);
        q := (q - t) / (36 - t);
        k := k + 36;
      end loop;
      out := out || substr(digits, q + 1, 1);
      delta := delta / case when handled = basic then 700 else 2 end;
      delta := delta + delta / (handled + 1);
      k := 0;
      while delta > 455 loop
        delta := delta / 35;
        k := k + 36;
      end loop;
      bias := k + 36 * delta / (delta + 38);
      delta := 0;
      handled := handled + 1;
    end loop;
    delta := delta + 1;
    n := n + 1;
  end loop;
  return out;
end
$$;

create function address_key_of_unicode(address text) returns text
language plpgsql immutable parallel safe strict
as $$
declare
  whole text := normalize(lower_case(normalize(address)));
  domain text := split_part(whole, '@', -1);
  label text;
  out text := '';
begin
  if octet_length(domain) = length(domain) then return whole; end if;
  foreach label in array string_to_array(domain, '.') loop
    if octet_length(label) > length(label) then label := 'xn--' || punycode(label); end if;
    out := out || '.' || label;
  end loop;
  return left(whole, length(whole) - length(domain)) || substr(out, 2);
end
$$;

-- Inlined by the planner: nearly all addresses are ASCII, and cost no call. Also takes a domain.
create function address_key(address text) returns text
language sql immutable parallel safe
as $$
  select case when octet_length(address) = length(address) then lower(address collate "C")
    else address_key_of_unicode(address) end
$$;

create function set_address_key() returns trigger
language plpgsql
as $$
begin
  new.email_key := address_key(new.email);
  return new;
end
$$;

-- step quick
-- A stored expression cannot be changed without rewriting the table. Nodes of the version before write no key.
alter table subscribers alter column email_key drop expression;
create trigger subscribers_key before insert on subscribers
  for each row when (new.email_key is null) execute function set_address_key();
create trigger subscribers_new_key before update of email on subscribers
  for each row when (old.email is distinct from new.email) execute function set_address_key();

-- step quick
alter table suppressions alter column email_key drop expression;
create trigger suppressions_key before insert on suppressions
  for each row when (new.email_key is null and new.email is not null) execute function set_address_key();

-- The kind that blocks this address, or null. A block other than 'unsubscribed' wins, for transactional mail. Each branch is a
-- probe of its own index, however many suppressions there are. For sets of addresses see models/statements/not-suppressed.ts.
create or replace function blocked_by(company uuid, address text) returns text
language sql stable
as $$
  select kind from (
    select kind from suppressions where company_id = company and email_key = address_key(address)
    union all
    select x.kind from unnest(domains_of(address_key(address))) d
      join suppressions x on x.company_id = company and x.domain = d) b
  order by kind = 'unsubscribed'
  limit 1
$$;

-- step index
create index concurrently subscribers_in_unicode on subscribers (company_id, id) where octet_length(email) <> length(email);

-- step index
create index concurrently suppressions_in_unicode on suppressions (company_id, id) where octet_length(email) <> length(email);

-- step quick
create table rekeying (of text primary key, company_id uuid not null, id uuid not null);
insert into rekeying values
  ('subscribers', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'),
  ('suppressions', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000');

-- The one that was there first stays, with the lists, the mails and the more careful status of both.
create function merge_subscribers(company uuid, one uuid, other uuid) returns void
language plpgsql
as $$
declare
  stays subscribers;
  goes subscribers;
  careful constant text[] := array['active', 'unconfirmed', 'unsubscribed', 'bounced', 'complained'];
begin
  perform lock_addresses(company);
  select * into stays from subscribers where company_id = company and id = least(one, other) for update;
  select * into goes from subscribers where company_id = company and id = greatest(one, other) for update;
  insert into list_members as m (company_id, list_id, subscriber_id, left_at, created_at)
    select company_id, list_id, stays.id, left_at, created_at from list_members
    where company_id = company and subscriber_id = goes.id
    on conflict (company_id, list_id, subscriber_id) do update set left_at = coalesce(m.left_at, excluded.left_at);
  update sent_emails set email = coalesce(email, goes.email), subscriber_id = stays.id where subscriber_id = goes.id;
  delete from subscribers where company_id = company and id = goes.id;
  update subscribers set
    email_key = address_key(email),
    status = careful[greatest(array_position(careful, stays.status), array_position(careful, goes.status))],
    first_name = coalesce(nullif(stays.first_name, ''), goes.first_name),
    last_name = coalesce(nullif(stays.last_name, ''), goes.last_name),
    attributes = goes.attributes || stays.attributes,
    updated_at = now()
  where company_id = company and id = stays.id;
end
$$;

create function rekey_subscribers(at_once integer) returns boolean
language plpgsql
set lock_timeout = '2s'
as $$
declare
  done rekeying;
  one record;
  other uuid;
  seen integer := 0;
begin
  select * into done from rekeying where of = 'subscribers' for update;
  for one in
    select company_id, id, address_key(email) as key, email_key from subscribers
    where octet_length(email) <> length(email) and (company_id, id) > (done.company_id, done.id)
    order by company_id, id limit at_once for update
  loop
    seen := seen + 1;
    update rekeying set company_id = one.company_id, id = one.id where of = 'subscribers';
    continue when one.key = one.email_key;
    select id into other from subscribers where company_id = one.company_id and email_key = one.key for update;
    if found then
      perform merge_subscribers(one.company_id, one.id, other);
    else
      update subscribers set email_key = one.key where company_id = one.company_id and id = one.id;
    end if;
  end loop;
  return seen = at_once;
exception when unique_violation then
  -- Somebody has added the same mailbox at this moment: once more.
  raise lock_not_available;
end
$$;

create function rekey_suppressions(at_once integer) returns boolean
language plpgsql
set lock_timeout = '2s'
as $$
declare
  done rekeying;
  one record;
  other suppressions;
  seen integer := 0;
  careful constant text[] := array['unsubscribed', 'manual', 'bounced', 'complained'];
begin
  select * into done from rekeying where of = 'suppressions' for update;
  for one in
    select company_id, id, address_key(email) as key, email_key, kind, reason from suppressions
    where octet_length(email) <> length(email) and (company_id, id) > (done.company_id, done.id)
    order by company_id, id limit at_once for update
  loop
    seen := seen + 1;
    update rekeying set company_id = one.company_id, id = one.id where of = 'suppressions';
    continue when one.key = one.email_key;
    select * into other from suppressions where company_id = one.company_id and email_key = one.key for update;
    if not found then
      update suppressions set email_key = one.key where company_id = one.company_id and id = one.id;
      continue;
    end if;
    delete from suppressions where company_id = one.company_id and id = one.id;
    update suppressions set kind = one.kind, reason = coalesce(nullif(one.reason, ''), reason)
    where company_id = one.company_id and id = other.id
      and array_position(careful, one.kind) > array_position(careful, kind);
  end loop;
  return seen = at_once;
exception when unique_violation then
  -- Somebody has added the same mailbox at this moment: once more.
  raise lock_not_available;
end
$$;

-- step repeat
select rekey_suppressions(200) as more;

-- step repeat
select rekey_subscribers(200) as more;

-- step quick
drop function rekey_suppressions(integer);
drop function rekey_subscribers(integer);
drop function merge_subscribers(uuid, uuid, uuid);
drop table rekeying;
drop index subscribers_in_unicode;
drop index suppressions_in_unicode;
