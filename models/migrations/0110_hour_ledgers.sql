-- Written with each grant of the company's hour, before it is used: `taken` is bucket -> mails.
alter table hour_ledgers drop column epoch, add column epoch bigint not null default 0;
-- Set by senders while they cannot count the limits of a configuration: its campaigns say so.
alter table smtp_configs add column limits_unknown_until timestamptz;
