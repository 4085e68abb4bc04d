-- Files that are uploaded first and imported once somebody has said what their columns are: they wait, are tried, and are
-- started by their id. A node of the release before carries such an import out as well; after a dry run it deletes the file.
alter table imports
  -- Its file stays, also after a dry run and after a failure, until it has been imported.
  add column held boolean not null default false,
  -- When it was asked for the last time; it is kept from then on.
  add column started_at timestamptz,
  drop constraint imports_status_check,
  add constraint imports_status_check check (status in ('waiting', 'running', 'done', 'failed'));
