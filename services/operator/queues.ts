/** Everything that waits, over all companies: recipients, schedules, leases, imports, webhooks. */
import { query } from "../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../models/send-chunk.ts";
import { requeueDeadDeliveries } from "../../models/statements/webhook-deliveries.ts";
import { WebhookDelivery } from "../../models/webhook-delivery.ts";
import { WebhookEndpoint } from "../../models/webhook-endpoint.ts";
import { emit } from "../call.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";

const MAX_ROWS = 200;

const QUEUES = `
  select 'campaigns to expand' queue, count(*)::int waiting, min(created_at) oldest
  from campaigns where status in ('pending', 'sending') and expanded_at is null
  union all
  select 'schedules due', count(*)::int, min(coalesce(starts_at, scheduled_for)) from campaigns
  where status = 'scheduled' and coalesce(starts_at, scheduled_for) < now()
  union all
  select 'recipients ready', coalesce(sum(h.hi - greatest(h.lo - 1, h.marked_to)), 0)::int, min(c.created_at)
  from send_chunks h join campaigns c on c.id = h.campaign_id where h.state = ${SEND_CHUNK_STATE.ready}
  union all
  select 'recipients leased', coalesce(sum(h.hi - h.lo + 1), 0)::int, min(c.created_at)
  from send_chunks h join campaigns c on c.id = h.campaign_id where h.state = ${SEND_CHUNK_STATE.leased}
  union all
  select 'recipients waiting for their hour', coalesce(sum(h.hi - h.lo + 1), 0)::int, min(c.created_at)
  from send_chunks h join campaigns c on c.id = h.campaign_id where h.state = ${SEND_CHUNK_STATE.waiting}
  union all
  select 'leases run out', count(*)::int, min(lease_until) from send_chunks where state = ${SEND_CHUNK_STATE.leased} and lease_until < now()
  union all
  select 'recipients to try again', count(*)::int, min(next_attempt_at) from sent_emails where next_attempt_at is not null
  union all
  select 'copies to try again', count(*)::int, min(next_attempt_at) from sent_email_copies where next_attempt_at is not null
  union all
  select 'imports in the background', count(*)::int, min(created_at) from imports where next_attempt_at is not null
  union all
  select 'webhooks pending', count(*)::int, min(created_at) from webhook_deliveries where status = 'pending'`;

interface Queue {
  queue: string;
  waiting: number;
  oldest: Date | null;
}

export async function queues(): Promise<ReturnsOf<"operator.queues">> {
  return (await query<Queue>(QUEUES)).map((row) => ({ ...row, oldest: row.oldest?.toISOString() ?? null }));
}

const FAILING = `
  select e.id endpoint_id, co.name company, e.failing_since, e.disabled_at
  from webhook_endpoints e join companies co on co.id = e.company_id
  where e.failing_since is not null or e.disabled_at is not null order by coalesce(e.disabled_at, e.failing_since) desc limit 5`;

type FailingRow = Pick<EndpointRow, "endpoint_id" | "company" | "failing_since" | "disabled_at">;

export async function failingWebhooks(): Promise<ReturnsOf<"operator.status">["failing_webhooks"]> {
  return (await query<FailingRow>(FAILING)).map((row) => ({
    ...row,
    failing_since: row.failing_since?.toISOString() ?? null,
    disabled_at: row.disabled_at?.toISOString() ?? null,
  }));
}

const ENDPOINTS = `
  select e.id endpoint_id, co.name company, e.url,
    count(*) filter (where d.status = 'pending')::int pending, count(*) filter (where d.status = 'dead')::int dead,
    min(d.created_at) filter (where d.status = 'pending') oldest_pending, e.failing_since, e.disabled_at
  from webhook_endpoints e join companies co on co.id = e.company_id
    left join webhook_deliveries d on d.endpoint_id = e.id and d.status <> 'succeeded'
  group by e.id, co.name
  having count(d.id) > 0 or e.failing_since is not null or e.disabled_at is not null
  order by pending desc, dead desc, e.id limit ${MAX_ROWS}`;

interface EndpointRow {
  endpoint_id: string;
  company: string;
  url: string;
  pending: number;
  dead: number;
  oldest_pending: Date | null;
  failing_since: Date | null;
  disabled_at: Date | null;
}

export async function webhookQueues(): Promise<ReturnsOf<"operator.webhooks">> {
  return (await query<EndpointRow>(ENDPOINTS)).map((row) => ({
    ...row,
    oldest_pending: row.oldest_pending?.toISOString() ?? null,
    failing_since: row.failing_since?.toISOString() ?? null,
    disabled_at: row.disabled_at?.toISOString() ?? null,
  }));
}

export async function deadWebhooks(endpointId: string): Promise<ReturnsOf<"operator.deadWebhooks">> {
  const endpoint = await WebhookEndpoint.findOne({ attributes: ["companyId"], where: { id: endpointId } });
  if (!endpoint) throw notFound();
  const dead = await WebhookDelivery.findAll({
    attributes: { exclude: ["payload"] },
    where: { companyId: endpoint.companyId, endpointId, status: "dead" },
    order: [["id", "DESC"]],
    limit: MAX_ROWS,
  });
  return dead.map((delivery) => ({
    delivery_id: delivery.id,
    event_type: delivery.eventType,
    created_at: delivery.createdAt.toISOString(),
    attempts: delivery.attempts,
    response_status: delivery.responseStatus,
    last_error: delivery.lastError,
  }));
}

export async function requeueDead(ctx: Ctx<{ endpoint_id: string }>): Promise<ReturnsOf<"operator.requeueWebhooks">> {
  const requeued = await requeueDeadDeliveries(ctx.params.endpoint_id);
  if (!requeued) throw notFound();
  await emit(ctx, "webhook.queued", { companyId: requeued.companyId });
  return [{ requeued: requeued.requeued }];
}
