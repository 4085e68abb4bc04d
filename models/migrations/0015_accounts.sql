-- A viewer reads; scopes narrow an API key.
alter table memberships drop constraint memberships_role_check;
alter table memberships add constraint memberships_role_check check (role in ('owner', 'admin', 'member', 'viewer'));

alter table api_keys
  add column scopes text[] not null default '{full}',
  add column allowed_ips text[] not null default '{}',
  add column created_by uuid references users (id) on delete set null;

-- Whose key made it: a key with the scope `send` alone reads these.
alter table campaigns add column api_key_id uuid;
