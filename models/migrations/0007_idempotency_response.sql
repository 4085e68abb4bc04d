-- The answer to an Idempotency-Key is JSON itself and no longer its text inside a JSON string. `json`, not `jsonb`: a
-- repeated request gets the fields in the order of the first answer.
alter table idempotency_keys alter column response type json
  using case when jsonb_typeof(response) = 'string' then (response #>> '{}')::json else response::json end;
