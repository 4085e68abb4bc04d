/**
 * Takes deliveries that are due, for this node, under a lease: any number of nodes may do so at once.
 *
 * Endpoints are visited one by one over the partial index (a loose scan: an endpoint with a million waiting deliveries
 * costs what one with a single delivery does), in random order, and each gives at most what its lanes have room for.
 */
import { query } from "../../models/database/db.ts";
import type { EmailEventType } from "../../models/email-event.ts";

/** Longer than a delivery can take (DNS, connection and answer together 10 s), with room for a slow database. */
export const LEASE_SECONDS = 30;

export interface Claimed {
  id: string;
  company_id: string;
  endpoint_id: string;
  event_id: string;
  event_type: EmailEventType;
  attempts: number;
  /** The body, as text. */
  payload: string;
  /** The lease's end as the database spells it: the fence of the result. */
  lease: string;
  url: string;
  secret_sealed: Buffer;
  old_secret_sealed: Buffer | null;
}

export interface Room {
  /** Deliveries of failing endpoints, or of the others. */
  failing: boolean;
  perEndpoint: number;
  total: number;
  /** What this node already has in the air, by endpoint. */
  busy: ReadonlyMap<string, number>;
}

const CLAIM = `
  with recursive lane as (
    (select endpoint_id from webhook_deliveries where status = 'pending' order by endpoint_id limit 1)
    union all
    select (select d.endpoint_id from webhook_deliveries d
            where d.status = 'pending' and d.endpoint_id > lane.endpoint_id order by d.endpoint_id limit 1)
    from lane where lane.endpoint_id is not null),
  open as materialized (
    select w.id, w.company_id, $3::integer - coalesce(b.n, 0) as room
    from lane
    join webhook_endpoints w on w.id = lane.endpoint_id
    left join unnest($1::uuid[], $2::integer[]) as b (endpoint_id, n) on b.endpoint_id = w.id
    where w.disabled_at is null and (w.failing_since is not null) = $5 and $3 > coalesce(b.n, 0)
    order by random()),
  due as materialized (
    select d.id from open
    cross join lateral (
      select id from webhook_deliveries
      where company_id = open.company_id and endpoint_id = open.id and status = 'pending' and next_attempt_at <= now()
      order by next_attempt_at limit open.room for update skip locked) d
    limit $4)
  update webhook_deliveries d
  set next_attempt_at = date_trunc('milliseconds', now()) + make_interval(secs => $6)
  from due, webhook_endpoints w
  where d.id = due.id and w.company_id = d.company_id and w.id = d.endpoint_id
  returning d.id, d.company_id, d.endpoint_id, d.event_id, d.event_type, d.attempts, d.payload::text,
    d.next_attempt_at::text as lease, w.url, w.secret_sealed,
    case when w.old_secret_until > now() then w.old_secret_sealed end as old_secret_sealed`;

export async function claimDue({ failing, perEndpoint, total, busy }: Room): Promise<Claimed[]> {
  if (total <= 0) return [];
  return query<Claimed>(CLAIM, [[...busy.keys()], [...busy.values()], perEndpoint, total, failing, LEASE_SECONDS]);
}
