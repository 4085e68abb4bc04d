/**
 * The outbox: a webhook delivery is a row, written in the transaction (best: the statement) of the event it tells of, so
 * that no event is told that did not happen and none that happened is forgotten.
 *
 * A company without an endpoint costs one probe of an index that holds no row for it.
 */
import { type Queryable, query } from "../database/db.ts";

/** The columns a source of events must have: those of email_events. `delivered` events are never rows there. */
export interface OutboxEvent {
  id: string;
  company_id: string;
  type: "delivered" | "opened" | "clicked" | "bounced" | "unsubscribed";
  recipient: string;
  sent_email_id: string | null;
  campaign_id: string | null;
  metadata: Record<string, unknown>;
  created_at: string;
}

/**
 * A data-modifying statement over `source`, a CTE or table of the caller's own SQL with OutboxEvent's columns:
 *
 *     with event as (insert into email_events … returning *), queued as (${outboxInsert("event")}) select …
 *
 * Returns the company id of each delivery: emit `webhook.queued` for them after the commit (emitWebhookQueued in services/call.ts).
 */
export const outboxInsert = (source: string) => `
  insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload)
  select e.company_id, w.id, e.id, e.type, json_build_object(
    'id', e.id, 'type', e.type, 'recipient', e.recipient, 'sent_email_id', e.sent_email_id,
    'campaign_id', e.campaign_id, 'metadata', e.metadata,
    'timestamp', to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from ${source} e
  join webhook_endpoints w on w.company_id = e.company_id and w.disabled_at is null and e.type = any (w.events)
  returning company_id`;

const QUEUE = `
  with event as (
    select * from json_to_recordset($1::json) as e (id uuid, company_id uuid, type text, recipient text,
      sent_email_id uuid, campaign_id uuid, metadata jsonb, created_at timestamptz))
  ${outboxInsert("event")}`;

/** The same for events at hand. Returns the companies that have something to deliver now. */
export async function queueWebhooks(events: readonly OutboxEvent[], on: Queryable): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = await query<{ company_id: string }>(QUEUE, [JSON.stringify(events)], on);
  return [...new Set(rows.map((row) => row.company_id))];
}
