-- What became of each copy (cc, bcc) of a mail: written with the result of the mail itself, so a mail that was not sent has
-- none. Only mails with copies have rows here. Status as in sent_emails; `no` counts the addresses of cc and bcc together.
create table sent_email_copies (
  campaign_id uuid not null,
  seq integer not null,
  no integer not null,
  company_id uuid not null,
  email text not null,
  kind text not null check (kind in ('cc', 'bcc')),
  status smallint not null default 0,
  attempts smallint not null default 0,
  -- Set while the copy waits for another try (4xx); the lease's end while that try runs.
  next_attempt_at timestamptz,
  error text,
  smtp_response text,
  sent_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (campaign_id, seq, no)
) with (fillfactor = 70);
-- By campaign, as with recipients; the campaigns in it are found by skipping from one to the next.
create index sent_email_copies_due on sent_email_copies (campaign_id, next_attempt_at) where next_attempt_at is not null;
create index sent_email_copies_leased on sent_email_copies (next_attempt_at) where status = 1;
create index sent_email_copies_of_address on sent_email_copies (company_id, lower(email));
