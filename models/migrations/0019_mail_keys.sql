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
