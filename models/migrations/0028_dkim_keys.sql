-- The DKIM keys of a configuration beside the one in its own row, which nodes of the release before sign with: a key of the
-- other algorithm, and keys made here that do not sign yet, because their record has not been seen.
create table dkim_keys (
  id uuid primary key,
  company_id uuid not null,
  smtp_config_id uuid not null,
  domain text not null,
  selector text not null,
  algorithm text not null check (algorithm in ('rsa', 'ed25519')),
  key_sealed bytea not null,
  -- Of a key that was made here: the text of the record to publish. Null: the key was given.
  record text,
  active boolean not null,
  -- When its record is looked for, of one that is not active.
  next_look_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  unique (smtp_config_id, algorithm, active),
  foreign key (company_id, smtp_config_id) references smtp_configs (company_id, id) on delete cascade
);
create index dkim_keys_waiting on dkim_keys (next_look_at) where not active;
create index dkim_keys_of_company on dkim_keys (company_id);

alter table smtp_configs add column dkim_record text;
