-- How public pages and confirmation mails look and speak in the company's name: what differs from the defaults
-- (services/lib/branding/branding.ts).
alter table companies add column branding jsonb not null default '{}';

-- Whether a list's past campaigns may be read by anybody. It has an effect on public lists alone.
alter table lists add column archive boolean not null default false;
