-- When somebody stopped it. Its `error` says who did; it ends `partial`, or `cancelled` where no mail was sent.
alter table campaigns add column stopped_at timestamptz;
