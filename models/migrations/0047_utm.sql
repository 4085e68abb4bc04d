-- What a campaign's tracked links are tagged with when they are followed: {"source": …, "medium": …}.
alter table campaign_contents add column utm jsonb;
