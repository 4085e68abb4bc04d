-- Whose turn it is to lose what is older than it keeps: the search for it read all companies, once for each of them. Those with
-- days of their own are separate: where the operator sets none (EVENTS_RETENTION_DAYS …), the others have nothing to lose.
create index companies_retention_turn on companies
  ((retention_days <> '{}'), (coalesce(retention_done_at, '-infinity'::timestamptz)));
