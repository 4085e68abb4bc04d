-- Receivers of a campaign who may not get it when it starts: of a list they are only counted, of a send to receivers they
-- have rows (status suppressed), which are not part of total_emails.
alter table campaigns add column suppressed_count integer not null default 0;
