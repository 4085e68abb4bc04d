-- steps
-- Recipients in parts. Campaigns get numbers, and sent_emails becomes the parent of tables by ranges of them: what there was
-- is the part of the negative numbers (sent_emails_full), which nodes of the version before go on writing to by the same
-- name. A campaign whose rows are compact has a positive number, drawn when its expansion begins; 2^20 numbers are one part,
-- and each month begins another (next_campaign_no). Run in steps (database/run-steps.ts): no lock is waited for longer than 2 s,
-- and what was done is not done again.

-- step quick
create sequence former_campaign_no as integer minvalue -2147483648 maxvalue -1000000001 start -2147483648;
create sequence full_campaign_no as integer minvalue -1000000000 maxvalue -2 start -1000000000;
create sequence campaign_no as integer minvalue 1 start 1;
alter table campaigns add column no integer, add column expansion_began_at timestamptz;
-- Behind those of all campaigns that are there: numbers grow with time.
alter table campaigns alter column no set default nextval('full_campaign_no');

-- step quick
create function number_campaigns() returns boolean
language plpgsql
as $$
begin
  update campaigns c set no = n.no
  from (
    select id, nextval('former_campaign_no') as no
    from (select id from campaigns where no is null order by id limit 2000 for update skip locked) next) n
  where c.id = n.id;
  return exists (select from campaigns where no is null);
end
$$;

-- step repeat
select number_campaigns() as more;

-- step index
create unique index concurrently campaigns_no on campaigns (no);

-- step quick
alter table campaigns add constraint campaigns_no_check check (no is not null) not valid;

-- step alone
alter table campaigns validate constraint campaigns_no_check;

-- step quick
alter table campaigns alter column no set not null, drop constraint campaigns_no_check;
drop function number_campaigns();

-- step index
-- A company's recipients, newest first, are found by its campaigns: without the internal ones nothing would be missing, but
-- their mails are listed, too.
create index concurrently campaigns_by_no on campaigns (company_id, no);

-- step quick
-- Nodes of the version before, and whoever writes rows in full, give no number: it is the campaign's.
create function number_recipient() returns trigger
language plpgsql
as $$
begin
  if coalesce(new.campaign_no, -1) = -1 then
    select no into new.campaign_no from campaigns where id = new.campaign_id;
  end if;
  return new;
end
$$;
alter table sent_emails add column campaign_no integer, add column reply_no smallint;
create trigger sent_emails_numbered before insert on sent_emails for each row execute function number_recipient();

-- step quick
create table recipient_numbering (next_page bigint not null);
insert into recipient_numbering values (0);
-- Page by page, so that the new version of a row finds room beside the old one (fillfactor 45) and no index is written.
-- Rows that somebody has locked are left for the next pass: who sends is never waited for, and waits for 500 pages at most.
create function number_recipients(pages bigint) returns boolean
language plpgsql
as $$
declare
  at bigint;
  rows tid[];
begin
  select next_page into at from recipient_numbering for update;
  if at * current_setting('block_size')::bigint >= pg_relation_size('sent_emails') then
    if not exists (select from sent_emails where campaign_no is null) then return false; end if;
    at := 0;
  end if;
  rows := array(
    select ctid from sent_emails
    where ctid >= format('(%s,0)', at)::tid and ctid < format('(%s,0)', at + pages)::tid and campaign_no is null
    for update skip locked);
  update sent_emails e set campaign_no = c.no from campaigns c where c.id = e.campaign_id and e.ctid = any (rows);
  -- Of companies that are gone: nobody can ask for them.
  delete from sent_emails e
  where e.ctid = any (rows) and e.campaign_no is null and not exists (select from campaigns c where c.id = e.campaign_id);
  update recipient_numbering set next_page = at + pages;
  return true;
end
$$;

-- step repeat
select number_recipients(500) as more;

-- step index
create unique index concurrently sent_emails_no on sent_emails (campaign_no, seq);

-- step index
create index concurrently sent_emails_due_no on sent_emails (campaign_no, next_attempt_at) where next_attempt_at is not null;

-- step quick
alter table sent_emails add constraint sent_emails_full_check check (campaign_no is not null and campaign_no < 0) not valid;

-- step alone
alter table sent_emails validate constraint sent_emails_full_check;

-- step quick
drop function number_recipients(bigint);
drop table recipient_numbering;

-- step quick
-- The check stands for the part's bounds: nothing is read. Rows without a number go to the full part, which numbers them.
alter table sent_emails alter column campaign_no set not null;
alter table sent_emails rename to sent_emails_full;
create table sent_emails (like sent_emails_full including defaults) partition by range (campaign_no);
alter table sent_emails
  alter column id drop not null, alter column company_id drop not null, alter column campaign_id drop not null,
  alter column email drop not null, alter column opens drop not null, alter column clicks drop not null,
  alter column created_at drop not null, alter column campaign_no set not null, alter column campaign_no set default -1;
alter table sent_emails attach partition sent_emails_full for values from (minvalue) to (0);
alter table sent_emails_full drop constraint sent_emails_full_check;

-- step quick
-- Chunks of campaigns whose rows are compact have states of their own (3 ready, 4 leased): a node of the version before takes
-- them for none of its business.
create index send_chunks_to_claim on send_chunks (campaign_id, no) where state in (0, 3);
create index send_chunks_claimed on send_chunks (company_id) where state in (1, 4);

-- step quick
-- What concerns all of the installation, in one row.
create table installation (
  id uuid primary key default '00000000-0000-0000-0000-000000000001' check (id = '00000000-0000-0000-0000-000000000001'),
  -- The key of ids and tokens that live in mails: made once, never changed, sealed by SECRET_KEY.
  mail_key_sealed bytea,
  -- From then on campaigns are expanded into compact rows, which nodes of the version before do not know.
  compact_since timestamptz
);

-- What the servers of a company say again and again, with a unit separator (U+001F) in place of what differs from mail to
-- mail; a row has the number, and what differs.
create table reply_patterns (
  company_id uuid not null references companies (id) on delete cascade,
  no smallint not null,
  pattern text not null,
  primary key (company_id, no),
  unique (company_id, pattern)
);

create function reply_text(pattern text, rest text) returns text
language sql immutable parallel safe
as $$
  select case when pattern is null then rest else (
    select string_agg(coalesce(p, '') || coalesce(r, ''), '' order by n)
    from rows from (unnest(string_to_array(pattern, E'\x1f')), unnest(string_to_array(rest, E'\x1f')))
      with ordinality x (p, r, n))
  end
$$;

-- The parts of sent_emails with compact rows: which month's campaigns are in them. Null: made ahead, and empty.
create table recipient_parts (
  no integer primary key,
  month date
);

-- A table by itself, then attached: that takes no lock which a sender waits for.
create function add_recipient_part(part integer) returns void
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
  execute format('alter table sent_emails attach partition %I for values from (%s) to (%s)',
    name, greatest(part::bigint << 20, 0), (part + 1)::bigint << 20);
  insert into recipient_parts (no) values (part);
end
$$;

-- Makes the next part, and lets the first campaign of a month begin one.
create function prepare_recipient_parts() returns void
language plpgsql
as $$
declare
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
  drawn record;
  part integer;
  of_month date;
begin
  perform pg_advisory_xact_lock(hashtextextended('recipient parts', 0));
  select last_value as no, is_called as used into drawn from campaign_no;
  part := drawn.no >> 20;
  perform add_recipient_part(part);
  perform add_recipient_part(part + 1);
  select month into of_month from recipient_parts where no = part;
  if of_month < this_month and drawn.used then
    part := part + 1;
    perform setval('campaign_no', part::bigint << 20, false);
    perform add_recipient_part(part + 1);
  end if;
  update recipient_parts set month = this_month where no = part and month is distinct from this_month;
end
$$;

-- For a campaign whose expansion begins. Where nobody has made its part ahead, it is made here.
create function next_campaign_no() returns integer
language plpgsql
as $$
declare
  drawn integer := nextval('campaign_no');
begin
  if not exists (select from recipient_parts where no = drawn >> 20) then
    perform add_recipient_part(drawn >> 20);
    update recipient_parts set month = date_trunc('month', now() at time zone 'UTC')::date where no = drawn >> 20;
  end if;
  return drawn;
end
$$;
select prepare_recipient_parts();

-- step quick
-- A compact row has the address only where its subscriber does not have it. Whoever takes an address away writes it into the
-- rows; an expansion holds the same lock, shared, so that no row comes too late for that.
create function lock_addresses(company uuid) returns void
language sql
as $$
  select pg_advisory_xact_lock(hashtextextended('addresses:' || company, 0))
$$;

create function keep_address() returns trigger
language plpgsql
as $$
begin
  perform lock_addresses(old.company_id);
  update sent_emails set email = old.email where subscriber_id = old.id and campaign_no >= 0 and email is null;
  return new;
end
$$;
create trigger subscribers_address before update of email on subscribers
  for each row when (old.email is distinct from new.email) execute function keep_address();

create or replace function subscribers_removed() returns trigger
language plpgsql
as $$
begin
  perform lock_addresses(company_id) from (select distinct company_id from changed order by company_id) c;
  -- Sent mail stays, without the link.
  update sent_emails e set email = coalesce(e.email, c.email), subscriber_id = null
    from changed c where e.subscriber_id = c.id;
  perform add_count(company_id, 'subscribers', company_id, -count(*)) from changed group by company_id order by company_id;
  delete from list_members m using changed c where m.company_id = c.company_id and m.subscriber_id = c.id;
  return null;
end
$$;

insert into installation default values;
