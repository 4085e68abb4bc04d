/**
 * How full the queues are, for /metrics of the node that has this service: read from the database, so that every node
 * would say the same, and one is enough.
 */
import { query, queryOne } from "../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../models/send-chunk.ts";
import { forgetRefreshed, gauge, refreshed } from "../lib/metrics.ts";

const NAME = "queues";
const { ready, leased } = SEND_CHUNK_STATE;

// The partial indexes hold only what waits: this reads a few thousand rows at a million recipients.
const SENDING = `
  select
    coalesce(sum(h.hi - greatest(h.lo - 1, h.marked_to)) filter (where h.state = ${ready}), 0)::float8 as ready,
    coalesce(sum(h.hi - h.lo + 1) filter (where h.state = ${leased}), 0)::float8 as leased,
    (select count(*) from sent_emails where next_attempt_at is not null)::float8 as deferred,
    (select count(*) from campaigns where status in ('pending', 'sending') and expanded_at is null)::float8 as unexpanded
  from send_chunks h where h.state in (${ready}, ${leased})`;

// How long senders have passed over the campaign that waits longest; paused companies wait on purpose.
const LONGEST_WAIT = `
  select c.is_transactional, extract(epoch from now() - min(
      case when c.status = 'pending' then c.updated_at else coalesce(c.last_turn_at, c.created_at) end))::float8 as seconds
  from campaigns c join companies co on co.id = c.company_id
  where c.status in ('pending', 'sending') and c.error is null and co.sending_paused_at is null
    and exists (select from send_chunks h where h.campaign_id = c.id and h.company_id = c.company_id and h.state = ${ready})
  group by c.is_transactional`;

const CAMPAIGNS = `select status, count(*)::float8 as n from campaigns
  where status in ('pending', 'sending', 'scheduled') group by status`;

const WEBHOOKS = `
  select count(*)::float8 as waiting,
    coalesce(extract(epoch from now() - min(next_attempt_at) filter (where next_attempt_at <= now())), 0)::float8 as overdue
  from webhook_deliveries where status = 'pending'`;

interface Queues {
  sending: { ready: number; leased: number; deferred: number; unexpanded: number };
  longestWait: { is_transactional: boolean; seconds: number }[];
  campaigns: { status: string; n: number }[];
  webhooks: { waiting: number; overdue: number };
}

async function readQueues(): Promise<Queues> {
  const [sending, longestWait, campaigns, webhooks] = await Promise.all([
    queryOne<Queues["sending"]>(SENDING),
    query<Queues["longestWait"][number]>(LONGEST_WAIT),
    query<Queues["campaigns"][number]>(CAMPAIGNS),
    queryOne<Queues["webhooks"]>(WEBHOOKS),
  ]);
  return { sending: sending!, longestWait, campaigns, webhooks: webhooks! };
}

type Sample = [labels: Record<string, string>, value: number];

/** Zeros are reported too: a gauge that vanishes when all is well cannot be alerted on. */
function waits({ longestWait }: Queues): Sample[] {
  return [true, false].map((transactional) => [
    { kind: transactional ? "transactional" : "marketing" },
    Math.max(0, longestWait.find((one) => one.is_transactional === transactional)?.seconds ?? 0),
  ]);
}

export function showQueueMetrics(): void {
  const queues = refreshed(NAME, readQueues);
  const show = (name: string, help: string, read: (now: Queues) => Sample[]) =>
    gauge(name, help, () => {
      const now = queues();
      return now ? read(now) : [];
    });
  show("flockmail_send_queue_recipients", "Recipients that wait to be sent to, by state.", ({ sending }) => [
    [{ state: "ready" }, sending.ready],
    [{ state: "leased" }, sending.leased],
    [{ state: "deferred" }, sending.deferred],
  ]);
  show(
    "flockmail_send_queue_wait_seconds",
    "Longest time a campaign with recipients ready has been passed over by all senders.",
    waits,
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
  show("flockmail_webhook_queue_overdue_seconds", "How late the delivery is that is due longest.", ({ webhooks }) => [
    [{}, webhooks.overdue],
  ]);
}

export const hideQueueMetrics = (): void => forgetRefreshed(NAME);
