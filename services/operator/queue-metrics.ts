/**
 * Queue gauges for /metrics of the node with this service. Read from the database, so every node would report the same
 * and one is enough.
 */
import { query, queryOne } from "../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../models/send-chunk.ts";
import { forgetRefreshed, gauge, refreshed } from "../lib/metrics.ts";

const NAME = "queues";

// Partial indexes contain only waiting rows: this reads a few thousand rows for a million recipients.
const SENDING = `
  select
    coalesce(sum(h.hi - greatest(h.lo - 1, h.marked_to)) filter (where h.state = ${SEND_CHUNK_STATE.ready}), 0)::float8 as ready,
    coalesce(sum(h.hi - h.lo + 1) filter (where h.state = ${SEND_CHUNK_STATE.leased}), 0)::float8 as leased,
    (select count(*) from sent_emails where next_attempt_at is not null)::float8 as deferred,
    (select count(*) from campaigns where status in ('pending', 'sending') and expanded_at is null)::float8 as unexpanded
  from send_chunks h where (h.state = ${SEND_CHUNK_STATE.ready} or h.state = ${SEND_CHUNK_STATE.leased})`;

/**
 * Time since the last result of campaigns that could be sent; each recorded result updates a campaign's `updated_at`.
 * Leases do not count as progress: a sender that leases chunks but cannot hand mails over changes nothing else. Paused
 * companies wait on purpose.
 */
const STANDSTILL = `
  select c.is_transactional, extract(epoch from now() - min(c.updated_at))::float8 as longest,
    extract(epoch from now() - max(c.updated_at) filter (where c.sent_count + c.failed_count > 0))::float8 as since_result
  from campaigns c join companies co on co.id = c.company_id
  where c.status in ('pending', 'sending') and c.error is null and co.sending_paused_at is null
    and exists (select from send_chunks h
      where h.campaign_id = c.id and h.company_id = c.company_id and (h.state = ${SEND_CHUNK_STATE.ready} or h.state = ${SEND_CHUNK_STATE.leased}))
  group by c.is_transactional`;

const CAMPAIGNS = `select status, count(*)::float8 as n from campaigns
  where status in ('pending', 'sending', 'scheduled') group by status`;

const WEBHOOKS = `
  select count(*)::float8 as waiting,
    coalesce(extract(epoch from now() - min(next_attempt_at) filter (where next_attempt_at <= now())), 0)::float8 as overdue
  from webhook_deliveries where status = 'pending'`;

interface Queues {
  sending: { ready: number; leased: number; deferred: number; unexpanded: number };
  standstill: { is_transactional: boolean; longest: number; since_result: number | null }[];
  campaigns: { status: string; n: number }[];
  webhooks: { waiting: number; overdue: number };
}

async function readQueues(): Promise<Queues> {
  const [sending, standstill, campaigns, webhooks] = await Promise.all([
    queryOne<Queues["sending"]>(SENDING),
    query<Queues["standstill"][number]>(STANDSTILL),
    query<Queues["campaigns"][number]>(CAMPAIGNS),
    queryOne<Queues["webhooks"]>(WEBHOOKS),
  ]);
  return { sending: sending!, standstill, campaigns, webhooks: webhooks! };
}

type Sample = [labels: Record<string, string>, value: number];

/** Reports zeros, too: alerts need a gauge that does not vanish. */
function waits({ standstill }: Queues): Sample[] {
  return [true, false].map((transactional) => [
    { kind: transactional ? "transactional" : "marketing" },
    Math.max(0, standstill.find((one) => one.is_transactional === transactional)?.longest ?? 0),
  ]);
}

/** Small while any campaign proceeds; without any result it counts from the time when sending could begin. */
function sinceLastResult({ standstill }: Queues): number {
  if (standstill.length === 0) return 0;
  const results = standstill.flatMap(({ since_result }) => since_result ?? []);
  const seconds = results.length > 0 ? Math.min(...results) : Math.max(...standstill.map(({ longest }) => longest));
  return Math.max(0, seconds);
}

export function showQueueMetrics(): void {
  const queues = refreshed(NAME, readQueues);
  const show = (name: string, help: string, read: (now: Queues) => Sample[]) =>
    gauge(name, help, () => {
      const now = queues();
      return now ? read(now) : [];
    });
  show("flockmail_send_queue_recipients", "Recipients waiting to be sent, by state.", ({ sending }) => [
    [{ state: "ready" }, sending.ready],
    [{ state: "leased" }, sending.leased],
    [{ state: "deferred" }, sending.deferred],
  ]);
  show(
    "flockmail_send_queue_wait_seconds",
    "Longest time in which no result was recorded for a campaign with recipients to send to.",
    waits,
  );
  show(
    "flockmail_send_standstill_seconds",
    "Time since the last result of any mail, while there are recipients to send to; 0 if there are none.",
    (now) => [[{}, sinceLastResult(now)]],
  );
  show("flockmail_campaigns", "Campaigns that are not finished, by status.", ({ campaigns }) =>
    ["pending", "sending", "scheduled"].map((status) => [
      { status },
      campaigns.find((one) => one.status === status)?.n ?? 0,
    ]),
  );
  show("flockmail_campaigns_unexpanded", "Campaigns whose recipients are not all written yet.", ({ sending }) => [
    [{}, sending.unexpanded],
  ]);
  show("flockmail_webhook_queue_deliveries", "Webhook deliveries that are not settled.", ({ webhooks }) => [
    [{}, webhooks.waiting],
  ]);
  show("flockmail_webhook_queue_overdue_seconds", "Delay of the oldest due delivery.", ({ webhooks }) => [
    [{}, webhooks.overdue],
  ]);
}

export const hideQueueMetrics = (): void => forgetRefreshed(NAME);
