-- steps
-- What is counted by domain: what came back of one campaign, and which campaigns have many mails.
-- step index
-- Beside all of the company's bounces, or all of the campaign's opens and clicks. Events of these types alone pay for it.
create index concurrently email_events_returned on email_events (campaign_id, type, id)
  where type in ('bounced', 'unsubscribed', 'complained');
-- step index
-- Beside a million of one mail each. A campaign's total does not change while its mail leaves, so that counting a result stays an
-- update within its page.
create index concurrently campaigns_large on campaigns (company_id, no) where total_emails > 100;
