-- Each save of a template is kept with its content, the newest hundred of them. `content` has the template's columns as they
-- were, whichever the table had then. The names of those who saved stand with them alone, and are looked up.
create table template_versions (
  company_id uuid not null,
  template_id uuid not null,
  version integer not null,
  content jsonb not null,
  saved_by_user uuid,
  saved_by_key uuid,
  created_at timestamptz not null default now(),
  primary key (company_id, template_id, version),
  foreign key (company_id, template_id) references templates (company_id, id) on delete cascade
);
