-- What a public form gave for a known person, until the mailbox confirms it.
alter table subscribers add column form_values jsonb;
