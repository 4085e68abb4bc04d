-- Receivers of a campaign who may not get it when it starts: of a list they are only counted, of a send to receivers they
-- have rows (status suppressed), which are not part of total_emails.
alter table campaigns add column suppressed_count integer not null default 0;

-- Lists that subscribers may see and choose on the preferences page, and how they are called there. Nobody has said of an
-- existing list that it may be shown.
alter table lists add column visibility text not null default 'private' check (visibility in ('private', 'public')),
  add column public_name text not null default '',
  add column public_description text not null default '';

-- What public forms may set of a subscriber, and the hosts to which they may lead afterwards.
alter table companies add column form_attributes text[] not null default '{}',
  add column form_hosts text[] not null default '{}';
