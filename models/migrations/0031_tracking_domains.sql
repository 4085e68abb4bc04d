-- A company's own host for links, pixel and public pages of its mails. It is used from when it is proved (proved_at), and
-- taken as soon as it is asked for: two companies with one host would see each other's pages.
create table tracking_domains (
  company_id uuid primary key references companies (id) on delete cascade,
  -- In lower case, as it goes over the wire (A-labels).
  domain text not null unique,
  token text not null,
  claimed_at timestamptz not null default now(),
  checked_at timestamptz,
  -- When its proof was seen last; null: not used.
  proved_at timestamptz
);
