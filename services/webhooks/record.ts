/**
 * Writes down how deliveries went, many in one statement: the delivery (fenced by its lease), and what it says of its
 * endpoint. An endpoint that has acknowledged nothing for three days is disabled.
 */
import { query } from "../../models/database/db.ts";
import type { Attempted } from "./attempt.ts";
import type { Claimed } from "./claim.ts";
import { retryAfterSeconds } from "./schedule.ts";

const DISABLE_AFTER_DAYS = 3;

export interface Outcome {
  claimed: Claimed;
  /** Null gives the delivery back, unattempted. */
  attempted: Attempted | null;
}

const RECORD = `
  with outcome as (
    select * from json_to_recordset($1::json) as o (id uuid, company_id uuid, endpoint_id uuid, lease timestamptz,
      attempted boolean, ok boolean, response_status integer, error text, retry_seconds integer)),
  delivery as (
    update webhook_deliveries d set
      attempts = d.attempts + o.attempted::integer,
      status = case when o.ok then 'succeeded' when o.retry_seconds is null then 'dead' else 'pending' end,
      response_status = case when o.attempted then o.response_status else d.response_status end,
      last_error = case when o.attempted then o.error else d.last_error end,
      next_attempt_at = case when not o.ok then now() + make_interval(secs => o.retry_seconds) end
    from outcome o
    where d.company_id = o.company_id and d.id = o.id and d.status = 'pending' and d.next_attempt_at = o.lease),
  verdict as (
    select company_id, endpoint_id, bool_or(ok) as ok from outcome where attempted
    group by company_id, endpoint_id order by endpoint_id)
  update webhook_endpoints w set
    failing_since = case when not v.ok then coalesce(w.failing_since, now()) end,
    disabled_at = case when not v.ok and w.failing_since < now() - make_interval(days => ${DISABLE_AFTER_DAYS})
      then now() end,
    updated_at = now()
  from verdict v
  where w.company_id = v.company_id and w.id = v.endpoint_id and w.disabled_at is null
    and (v.ok = (w.failing_since is not null)
      or (not v.ok and w.failing_since < now() - make_interval(days => ${DISABLE_AFTER_DAYS})))
  returning w.id, w.disabled_at`;

function row({ claimed, attempted }: Outcome) {
  const { id, company_id, endpoint_id, lease, attempts } = claimed;
  return {
    id,
    company_id,
    endpoint_id,
    lease,
    attempted: attempted !== null,
    ok: attempted?.ok ?? false,
    response_status: attempted?.responseStatus ?? null,
    error: attempted?.error ?? null,
    retry_seconds: attempted === null ? 0 : retryAfterSeconds(attempts + 1),
  };
}

/** Returns the endpoints that were disabled by it. */
export async function recordOutcomes(outcomes: readonly Outcome[]): Promise<string[]> {
  const rows = await query<{ id: string; disabled_at: Date | null }>(RECORD, [JSON.stringify(outcomes.map(row))]);
  return rows.flatMap(({ id, disabled_at }) => (disabled_at ? [id] : []));
}
