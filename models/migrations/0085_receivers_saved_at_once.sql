-- Receivers of sends become subscribers in the transaction that writes their recipients.
create or replace function companies_removed() returns trigger language plpgsql as $$
begin
  delete from subscribers s using changed c where s.company_id = c.id;
  return null;
end
$$;
drop table unsaved_receivers;
