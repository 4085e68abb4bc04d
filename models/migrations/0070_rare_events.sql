-- steps
-- A late page of a company's bounces, unsubscribes or complaints is found in the index: which campaign an event is of says whether it
-- is shown, and each one's row was read for that. 150,000 bounces before the page took 330 ms.
-- step index
create index concurrently email_events_rare_of_company on email_events (company_id, type, id) include (campaign_id, created_at)
  where type in ('bounced', 'unsubscribed', 'complained');
-- step alone
drop index concurrently if exists email_events_rare;
-- step alone
drop index concurrently if exists email_events_complained;
