-- How TLS is begun: auto (implicit on port 465, else STARTTLS), or one way whatever the port. Null of `worked_at`: no
-- session with these settings was ever opened; a handshake that breaks afterwards is a hiccup and not a wrong setting.
alter table smtp_configs
  add column tls_mode text not null default 'auto' check (tls_mode in ('auto', 'implicit', 'starttls', 'none')),
  add column worked_at timestamptz,
  add column last_error_at timestamptz,
  -- Pauses of the present back-off: 0 while mail is accepted, else the next pause is twice as long as the last.
  add column backoff_count integer not null default 0;

-- What is the same in the last refusals in a row (blocks_in_a_row counts them): 20 equal ones stop the campaign.
alter table campaigns add column repeated_refusal text;
