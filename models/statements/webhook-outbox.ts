/**
 * The outbox: a webhook delivery is a row, written in the transaction (best: the statement) of its event, so that every
 * event is reported and no rolled-back event is. Deliveries are sent later (webhook-deliveries.ts).
 *
 * A company without an endpoint costs one probe of an index that holds no row for it.
 */

/**
 * SQL: queues a notice that goes to webhooks and is not a row of email_events: $1 company, $2 type, $3 recipient, $4
 * metadata (JSON).
 */
export const webhookNotice = (): string => `
  with event as (
    select uuid_v7() as id, $1::uuid as company_id, $2::text as type, $3::text as recipient, null::uuid as sent_email_id,
      null::uuid as campaign_id, $4::jsonb as metadata, now() as created_at)
  ${outboxInsert("event")}`;

/**
 * A data-modifying statement over `source`, a CTE or table of the caller's own SQL with these columns of email_events:
 * id, company_id, type, recipient, sent_email_id, campaign_id, metadata, created_at. (`delivered` events are never rows
 * there.)
 *
 *     with event as (insert into email_events … returning *), queued as (${outboxInsert("event")}) select …
 *
 * Returns the company id of each delivery: emit `webhook.queued` for them after the commit (emitWebhookQueued in
 * services/call.ts).
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
