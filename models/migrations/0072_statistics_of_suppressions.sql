-- Whom an import, a list or a segment is about is looked up among the suppressions, too: of a company that the statistics of these
-- do not know either, the planner reads all of its suppressions for each person.
create or replace function analyze_subscribers() returns void
language plpgsql
as $$
begin
  analyze (skip_locked) subscribers, list_members, suppressions;
end
$$;

do $$
begin
  execute format('alter function analyze_subscribers() security definer set search_path = %I, pg_temp', current_schema());
end
$$;
