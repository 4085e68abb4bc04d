-- Every subscriber is in the index that searches use, from the insert on.
drop index subscribers_search_of_company;
drop index subscribers_to_search;
drop index subscribers_of_first_name;
drop index subscribers_of_last_name;
alter table subscribers drop column in_search;
create index subscribers_search on subscribers
  using gin (company_id, (email || ' ' || first_name || ' ' || last_name) gin_trgm_ops) with (gin_pending_list_limit = 4096);

-- The planner must know a company soon after it has grown, also beside a million people of others.
alter table subscribers set (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);
alter table list_members set (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);
alter table suppressions set (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);
