-- A deleted campaign is hidden at once, and its events go in the background. Its recipients (`hidden`) are kept as long as
-- others', without what they held beyond the address: the unsubscribe link of each of its mails still works.
alter table campaigns add column deleted_at timestamptz,
  -- When what is not needed for its links had gone.
  add column emptied_at timestamptz,
  drop constraint campaigns_recipients_state_check,
  add constraint campaigns_recipients_state_check
    check (recipients_state in ('kept', 'hidden', 'removing', 'removed')) not valid;
alter table campaigns validate constraint campaigns_recipients_state_check;
create index campaigns_deleted on campaigns (company_id, id) where deleted_at is not null;
