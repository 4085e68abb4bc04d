-- What templates and campaigns say beside subject and body. A template's html is what its body becomes where the body is not
-- sent as it stands: compiled from MJML, or with its styles in its elements.
alter table templates
  add column preheader text,
  add column text_body text,
  add column inline_css boolean not null default false,
  add column html text,
  drop constraint templates_template_mode_check,
  add constraint templates_template_mode_check check (template_mode in ('basic', 'visual', 'mjml')) not valid;
alter table templates validate constraint templates_template_mode_check;

-- The body of a campaign is always the HTML that is sent.
alter table campaign_contents
  add column preheader text,
  add column text_body text,
  add column inline_css boolean not null default false;
