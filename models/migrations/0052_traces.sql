-- The span that a campaign was sent in, as W3C Trace Context writes it: what follows minutes later links to it.
alter table campaign_contents add column traceparent text;
