-- Bytes on their way between two nodes (models/statements/transfers.ts). Unlogged: after a crash of PostgreSQL the call that they
-- belong to has failed anyway.
create unlogged table transfer_parts (
  transfer_id uuid not null,
  no integer not null,
  company_id uuid not null,
  data bytea not null,
  primary key (transfer_id, no)
);
alter table transfer_parts alter column data set storage external;
