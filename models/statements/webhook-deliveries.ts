/**
 * Handles webhook deliveries in bulk: claims, records, requeues, ends and deletes them. SQL, because each is one
 * statement over sets that any number of nodes may run concurrently. Single deliveries use the model
 * (services/webhooks/deliveries.ts); webhook-outbox.ts creates them.
 *
 * Each event is delivered at least once, always with the same id: deliveries of a process that dies are claimed again
 * when their lease ends, 30 seconds later, and the lost attempt does not count.
 *
 * | status of a delivery | when                                                                                                                       |
 * |----------------------|----------------------------------------------------------------------------------------------------------------------------|
 * | pending              | new; tried again after each failure by RETRY_AFTER_SECONDS (services/webhooks/attempt.ts): 8 attempts, some 18 hours       |
 * | succeeded            | a 2xx                                                                                                                      |
 * | dead                 | the last attempt failed (anything but 2xx, nothing within 10 s, a host that is not permitted), or its endpoint is disabled |
 *
 * An endpoint is disabled by a failure more than three days after the first one since its last success
 * (DISABLE_AFTER_DAYS), or by its company. Redelivery makes a delivery of an enabled endpoint pending again
 * (services/webhooks/deliveries.ts); an operator's does so for all dead ones, and enables the endpoint
 * (`requeueDeadDeliveries`).
 */
import { pool, prepared, query, queryOne, transaction } from "../database/db.ts";
import type { EmailEventType } from "../email-event.ts";

/** Longer than a delivery can take (DNS, connection and answer together 10 s), with room for a slow database. */
const LEASE_SECONDS = 30;
const DISABLE_AFTER_DAYS = 3;
const SLICE = 5_000;

export interface ClaimedDelivery {
  id: string;
  company_id: string;
  endpoint_id: string;
  event_id: string;
  event_type: EmailEventType;
  /** Attempts before this one. */
  attempts: number;
  /** The body, as text. */
  payload: string;
  /** The lease's end as the database spells it: the fence of the result. */
  lease: string;
  url: string;
  secret_sealed: Buffer;
  old_secret_sealed: Buffer | null;
}

/** An endpoint that has something to deliver now. */
export interface DueEndpoint {
  endpointId: string;
  companyId: string;
  failing: boolean;
}

interface ScannedEndpoint {
  endpoint_id: string;
  company_id: string | null;
  failing: boolean;
  due: boolean;
}

// Probes the partial index once for each endpoint that has waiting deliveries (a loose scan): its first entry says when
// the endpoint's next delivery is due. Each query reads one slice, starting where the previous slice ended, so that its
// cost does not grow with the number of endpoints.
const NEXT_WAITING = `
  select endpoint_id, next_attempt_at from webhook_deliveries
  where status = 'pending' and endpoint_id > $CURSOR order by endpoint_id, next_attempt_at limit 1`;
const SCAN_ENDPOINTS = `
  with recursive waiting as (
    (select endpoint_id, next_attempt_at, 1 as n from (${NEXT_WAITING.replace("$CURSOR", "$1::uuid")}) first)
    union all
    select d.endpoint_id, d.next_attempt_at, w.n + 1 from waiting w
    cross join lateral (${NEXT_WAITING.replace("$CURSOR", "w.endpoint_id")}) d
    where w.n < $2)
  select q.endpoint_id, w.company_id, w.failing_since is not null as failing,
    q.next_attempt_at <= now() and w.disabled_at is null as due
  from waiting q left join webhook_endpoints w on w.id = q.endpoint_id
  order by q.endpoint_id`;

const isDue = (row: ScannedEndpoint): row is ScannedEndpoint & { company_id: string } =>
  row.due && row.company_id !== null;
const dueOf = (rows: readonly ScannedEndpoint[]): DueEndpoint[] =>
  rows
    .filter(isDue)
    .map(({ endpoint_id: endpointId, company_id: companyId, failing }) => ({ endpointId, companyId, failing }));

export interface EndpointScan {
  due: DueEndpoint[];
  /** Last endpoint scanned; undefined if no more follow. */
  last: string | undefined;
}

/** Scans endpoints of all companies after `after`, at most `slice` of those with waiting deliveries. */
export async function scanEndpoints(after: string, slice: number): Promise<EndpointScan> {
  // Not prepared: every idle process asks it, and would keep a connection for it alone.
  const rows = await query<ScannedEndpoint>(SCAN_ENDPOINTS, [after, slice]);
  return { due: dueOf(rows), last: rows.length < slice ? undefined : rows.at(-1)!.endpoint_id };
}

// Scans endpoints, not deliveries, so that a company with a million waiting costs as much as one with one.
const SCAN_COMPANIES = `
  select w.id as endpoint_id, w.company_id, w.failing_since is not null as failing,
    w.disabled_at is null and exists (
      select from webhook_deliveries d
      where d.endpoint_id = w.id and d.status = 'pending' and d.next_attempt_at <= now()) as due
  from unnest($1::uuid[], $2::uuid[]) as o (company_id, after)
  cross join lateral (
    select id, company_id, failing_since, disabled_at from webhook_endpoints
    where company_id = o.company_id and id > o.after order by company_id, id limit $3) w
  order by w.company_id, w.id`;

/** Scans at most `slice` endpoints of each company, after the one given for it. `last` by company. */
export async function scanCompanies(
  companies: ReadonlyMap<string, string>,
  slice: number,
): Promise<{ due: DueEndpoint[]; last: Map<string, string> }> {
  const rows = await prepared<ScannedEndpoint>("look at companies", SCAN_COMPANIES, [
    [...companies.keys()],
    [...companies.values()],
    slice,
  ]);
  const last = new Map<string, string>();
  const counted = new Map<string, number>();
  for (const { company_id, endpoint_id } of rows) {
    const n = (counted.get(company_id!) ?? 0) + 1;
    counted.set(company_id!, n);
    if (n === slice) last.set(company_id!, endpoint_id);
  }
  return { due: dueOf(rows), last };
}

/** Number of deliveries that may be claimed for an endpoint. */
export interface Grant {
  companyId: string;
  endpointId: string;
  slots: number;
}

export const CLAIM = `
  with due as materialized (
    select d.id, d.company_id from unnest($1::uuid[], $2::uuid[], $3::integer[]) as o (company_id, endpoint_id, slots)
    join webhook_endpoints w on w.company_id = o.company_id and w.id = o.endpoint_id and w.disabled_at is null
    cross join lateral (
      select id, company_id from webhook_deliveries
      where company_id = o.company_id and endpoint_id = o.endpoint_id and status = 'pending' and next_attempt_at <= now()
      order by next_attempt_at limit o.slots for update skip locked) d)
  update webhook_deliveries d
  set next_attempt_at = date_trunc('milliseconds', now()) + make_interval(secs => $4)
  from due, webhook_endpoints w
  where d.id = due.id and w.company_id = d.company_id and w.id = d.endpoint_id
  returning d.id, d.company_id, d.endpoint_id, d.event_id, d.event_type, d.attempts, d.payload::text,
    d.next_attempt_at::text as lease, w.url, w.secret_sealed,
    case when w.old_secret_until > now() then w.old_secret_sealed end as old_secret_sealed`;

/** Leases due deliveries for this node, at most the granted number per endpoint. */
export async function claimDeliveries(grants: readonly Grant[]): Promise<ClaimedDelivery[]> {
  if (grants.length === 0) return [];
  return prepared<ClaimedDelivery>("claim deliveries", CLAIM, [
    grants.map(({ companyId }) => companyId),
    grants.map(({ endpointId }) => endpointId),
    grants.map(({ slots }) => slots),
    LEASE_SECONDS,
  ]);
}

export interface AttemptRecord {
  id: string;
  company_id: string;
  endpoint_id: string;
  lease: string;
  /** False gives the delivery back, unattempted. */
  attempted: boolean;
  ok: boolean;
  response_status: number | null;
  error: string | null;
  /** Null: it was the last attempt. */
  retry_seconds: number | null;
}

// Fenced by the lease: an attempt whose lease another node has taken over says nothing any more, of its endpoint
// neither. A delivery updates its endpoint only if something changes: an endpoint that works is not updated with every
// batch.
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
    where d.company_id = o.company_id and d.id = o.id and d.status = 'pending' and d.next_attempt_at = o.lease
    returning o.company_id, o.endpoint_id, o.ok, o.attempted),
  by_endpoint as (
    select company_id, endpoint_id, bool_or(ok) as ok from delivery where attempted
    group by company_id, endpoint_id order by endpoint_id)
  update webhook_endpoints w set
    failing_since = case when not e.ok then coalesce(w.failing_since, now()) end,
    disabled_at = case when not e.ok and w.failing_since < now() - make_interval(days => ${DISABLE_AFTER_DAYS})
      then now() end,
    updated_at = now()
  from by_endpoint e
  where w.company_id = e.company_id and w.id = e.endpoint_id and w.disabled_at is null
    and (e.ok = (w.failing_since is not null)
      or (not e.ok and w.failing_since < now() - make_interval(days => ${DISABLE_AFTER_DAYS})))
  returning w.id, w.disabled_at`;

/** Returns the endpoints that it disabled: they have acknowledged nothing for three days. */
export async function recordAttempts(records: readonly AttemptRecord[]): Promise<string[]> {
  const rows = await prepared<{ id: string; disabled_at: Date | null }>("record attempts", RECORD, [
    JSON.stringify(records),
  ]);
  return rows.flatMap(({ id, disabled_at }) => (disabled_at ? [id] : []));
}

const REQUEUE_DEAD = `
  update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = now()
  where company_id = $1 and endpoint_id = $2 and status = 'dead'`;

/**
 * Restarts the schedule of an endpoint's dead deliveries, for operators. Ids stay the same, so that receivers recognise
 * repetitions. Returns undefined if there is no such endpoint.
 */
export function requeueDeadDeliveries(
  endpointId: string,
): Promise<{ companyId: string; requeued: number } | undefined> {
  return transaction(async (client) => {
    const endpoint = await queryOne<{ company_id: string }>(
      "update webhook_endpoints set disabled_at = null, failing_since = null where id = $1 returning company_id",
      [endpointId],
      client,
    );
    if (!endpoint) return undefined;
    const { rowCount } = await client.query(REQUEUE_DEAD, [endpoint.company_id, endpointId]);
    return { companyId: endpoint.company_id, requeued: rowCount ?? 0 };
  });
}

const END_OF_DISABLED = `
  update webhook_deliveries set status = 'dead', next_attempt_at = null,
    last_error = coalesce(last_error, 'The endpoint is disabled.')
  where id in (
    select d.id from webhook_deliveries d
    join webhook_endpoints w on w.company_id = d.company_id and w.id = d.endpoint_id
    where d.status = 'pending' and w.disabled_at is not null
    limit $1 for update of d skip locked)`;

const DELETE_SETTLED = `
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries
    where id < $2 and status <> 'pending' order by id limit $1 for update skip locked)`;

/** Slices: no row is locked for longer than a moment, however many there are. */
async function inSlices(sql: string, ...values: unknown[]): Promise<void> {
  for (;;) {
    const { rowCount } = await pool().query(sql, [SLICE, ...values]);
    if ((rowCount ?? 0) < SLICE) return;
  }
}

/**
 * Settles deliveries of all companies: waiting deliveries of disabled endpoints are dead, and settled ones below this
 * id are deleted.
 */
export async function purgeDeliveries(belowId: string): Promise<void> {
  await inSlices(END_OF_DISABLED);
  await inSlices(DELETE_SETTLED, belowId);
}
