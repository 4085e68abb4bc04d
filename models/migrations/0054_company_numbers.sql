-- steps
-- Companies get numbers: rows that are many name their company by four bytes instead of sixteen (0055_hits.sql).

-- step quick
create sequence company_no as integer minvalue 1 start 1;
alter table companies add column no integer;
alter table companies alter column no set default nextval('company_no');

-- step quick
-- Rows that somebody has locked are left for the next pass.
create function number_companies() returns boolean
language plpgsql
as $$
begin
  update companies c set no = nextval('company_no')
  from (select id from companies where no is null order by id limit 500 for no key update skip locked) next
  where c.id = next.id;
  return exists (select from companies where no is null);
end
$$;

-- step repeat
select number_companies() as more;

-- step index
create unique index concurrently companies_no on companies (no);

-- step quick
alter table companies add constraint companies_no_check check (no is not null) not valid;

-- step alone
alter table companies validate constraint companies_no_check;

-- step quick
alter table companies alter column no set not null, drop constraint companies_no_check;
drop function number_companies();
