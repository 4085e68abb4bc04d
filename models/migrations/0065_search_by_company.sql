-- steps
-- A search reads the entries of its own company. The index of all companies named each row that has the letters: for a search of a
-- company of 100,000 beside one of a million 85,000 rows were read, 79,000 of them another company's.
-- step quick
create extension if not exists btree_gin;
-- step index
create index concurrently subscribers_search_of_company on subscribers
  using gin (company_id, (email || ' ' || first_name || ' ' || last_name) gin_trgm_ops) with (gin_pending_list_limit = 4096)
  where in_search;
-- step alone
drop index concurrently if exists subscribers_search;
-- step index
create index concurrently suppressions_search_of_company on suppressions
  using gin (company_id, (coalesce(email, domain) || ' ' || coalesce(domain_unicode, '')) gin_trgm_ops)
  with (gin_pending_list_limit = 1024);
-- step alone
drop index concurrently if exists suppressions_search;
