-- What was sent to a list, newest first, for its archive: a company may have many times as many other campaigns. The status is
-- not part of it, since a campaign's row changes with every flush of results.
create index campaigns_to_lists on campaigns (company_id, list_id, coalesce(started_at, created_at), id)
  where campaign_type = 'to_list' and list_id is not null;
