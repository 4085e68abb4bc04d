-- steps
-- Search among a million subscribers. The index costs as much CPU as all of the row's insert, and an import would halve its
-- rate: rows come without it, and are put into it in the background (services/subscribers/search-index.ts). Until then they
-- are found by reading them.
-- step quick
create extension if not exists pg_trgm;
alter table subscribers add column in_search boolean not null default false;
-- step index
create index concurrently subscribers_search on subscribers
  using gin ((email || ' ' || first_name || ' ' || last_name) gin_trgm_ops) with (gin_pending_list_limit = 1024) where in_search;
-- step index
create index concurrently subscribers_not_in_search on subscribers (company_id, id) where not in_search;
-- step index
-- Most are active: their page is found by the key, and their number is a counter.
create index concurrently subscribers_of_status on subscribers (company_id, status, id) where status <> 'active';
