/** Everything that waits for somebody. */
import { query, queryOne, transaction } from "../../models/database/db.ts";
import { emit } from "../call.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";

const MOST = 200;

const QUEUES = `
  select 'campaigns to expand' queue, count(*)::int waiting, min(created_at) oldest
  from campaigns where status in ('pending', 'sending') and expanded_at is null
  union all
  select 'schedules due', count(*)::int, min(scheduled_for) from campaigns where status = 'scheduled' and scheduled_for < now()
  union all
  select 'recipients ready', coalesce(sum(h.hi - greatest(h.lo - 1, h.marked_to)), 0)::int, min(c.created_at)
  from send_chunks h join campaigns c on c.id = h.campaign_id where h.state = 0
  union all
  select 'recipients leased', coalesce(sum(h.hi - h.lo + 1), 0)::int, min(c.created_at)
  from send_chunks h join campaigns c on c.id = h.campaign_id where h.state = 1
  union all
  select 'leases run out', count(*)::int, min(lease_until) from send_chunks where state = 1 and lease_until < now()
  union all
  select 'recipients to try again', count(*)::int, min(next_attempt_at) from sent_emails where next_attempt_at is not null
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

const ENDPOINTS = `
  select e.id endpoint_id, co.name company, e.url,
    count(*) filter (where d.status = 'pending')::int pending, count(*) filter (where d.status = 'dead')::int dead,
    min(d.created_at) filter (where d.status = 'pending') oldest_pending, e.failing_since, e.disabled_at
  from webhook_endpoints e join companies co on co.id = e.company_id
    left join webhook_deliveries d on d.endpoint_id = e.id and d.status <> 'succeeded'
  group by e.id, co.name
  having count(d.id) > 0 or e.failing_since is not null or e.disabled_at is not null
  order by pending desc, dead desc, e.id limit ${MOST}`;

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

const DEAD = `
  select d.id delivery_id, d.event_type, d.created_at, d.attempts, d.response_status, d.last_error
  from webhook_endpoints e join webhook_deliveries d on d.company_id = e.company_id and d.endpoint_id = e.id
  where e.id = $1 and d.status = 'dead' order by d.id desc limit ${MOST}`;

type Dead = ReturnsOf<"operator.deadWebhooks">[number];

export async function deadWebhooks(endpointId: string): Promise<Dead[]> {
  const rows = await query<Omit<Dead, "created_at"> & { created_at: Date }>(DEAD, [endpointId]);
  if (rows.length === 0 && !(await queryOne("select from webhook_endpoints where id = $1", [endpointId])))
    throw notFound();
  return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
}

/** Dead ones begin their schedule anew, with the same ids: receivers recognise what they had. */
export async function requeueDead(ctx: Ctx<{ endpoint_id: string }>): Promise<ReturnsOf<"operator.requeueWebhooks">> {
  const endpointId = ctx.params.endpoint_id;
  const { companyId, requeued } = await transaction(async (client) => {
    const endpoint = await queryOne<{ company_id: string }>(
      "update webhook_endpoints set disabled_at = null, failing_since = null where id = $1 returning company_id",
      [endpointId],
      client,
    );
    if (!endpoint) throw notFound();
    const { rowCount } = await client.query(
      `update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = now()
       where company_id = $1 and endpoint_id = $2 and status = 'dead'`,
      [endpoint.company_id, endpointId],
    );
    return { companyId: endpoint.company_id, requeued: rowCount ?? 0 };
  });
  await emit(ctx, "webhook.queued", { companyId });
  return [{ requeued }];
}
