-- The import that created a person; an undo within 7 days finds them by it.
alter table subscribers add column import_id uuid;
