-- What goes to one recipient domain: [{"domain", "max_per_minute"?, "max_connections"?}], domains as they go over the wire.
alter table smtp_configs add column domain_limits jsonb not null default '[]';
