-- Receivers of sends that are still to be saved as subscribers, written when their campaign's recipients are: a row is a job,
-- and is deleted in the transaction that saves it. Only those that would add or fill in something.
create table unsaved_receivers (
  company_id uuid not null references companies (id) on delete cascade,
  campaign_id uuid not null,
  no integer not null,
  email text not null,
  first_name text not null default '',
  last_name text not null default '',
  primary key (company_id, campaign_id, no)
);
