/** Collects the data of `ops status`. */
import type { ReturnsOf } from "../../contracts.ts";
import type { Ctx } from "../../lib/caller.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import { runningCampaigns } from "../campaign-progress.ts";
import { dependencies } from "../dependencies.ts";
import { type SenderStatus, senderStatuses } from "../live-status.ts";
import { type Node, nodes } from "../nodes.ts";
import { failingWebhooks, queues } from "../queues.ts";

const MAX_CAMPAIGNS = 50;
/** Viewers that ask within this time share one answer. */
const SHARED_MS = 900;
const ROWS_MS = 2_500;
/** An average over a longer time would not show the current rate. */
const OLDEST_READING_SECONDS = 30;

export type Overview = ReturnsOf<"operator.status">;
type NodeStatus = Overview["nodes"][number];
type Waits = NonNullable<SenderStatus["limiter_waits"]>;

/** CPU and limiter waits of a node, and its uptime at that moment. */
interface Reading {
  elapsedSeconds: number;
  cpuSeconds: number;
  waits: Waits | undefined;
}

const tenth = (value: number) => Math.round(value * 10) / 10;

function readingOf({ report }: Node, status: SenderStatus | undefined): Reading | undefined {
  if (!report?.vitals) return undefined;
  const { elapsed_seconds, cpu_seconds } = report.vitals;
  return { elapsedSeconds: elapsed_seconds, cpuSeconds: cpu_seconds, waits: status?.limiter_waits };
}

/** Undefined if the two cannot be compared. A restarted node has another name. */
function secondsBetween(before: Reading | undefined, now: Reading | undefined): number | undefined {
  if (!before || !now) return undefined;
  const seconds = now.elapsedSeconds - before.elapsedSeconds;
  return seconds > 0 && seconds <= OLDEST_READING_SECONDS ? seconds : undefined;
}

const senderOf = ({ batches, servers, ...status }: SenderStatus): NodeStatus["sender"] => ({
  mails_per_second: tenth(servers.reduce((sum, server) => sum + server.mails_per_second, 0)),
  in_flight: batches.reduce((sum, batch) => sum + batch.handed_over, 0),
  in_doubt: status.in_doubt,
  max_in_doubt: status.max_in_doubt,
  sent: status.sent,
  failed: status.failed,
  deferred: status.deferred,
  waiting_for: status.stopping ? "its end" : status.waiting_for,
});

type Readings = Map<string, Reading>;

function nodeOf(node: Node, status: SenderStatus | undefined, before: Readings, now: Readings): NodeStatus {
  const { report } = node;
  const reading = now.get(node.id);
  const last = before.get(node.id);
  const seconds = secondsBetween(last, reading);
  return {
    node: node.id,
    services: node.services,
    state: report ? (report.ready ? "ready" : report.state === "started" ? "not ready" : report.state) : "no answer",
    version: report?.vitals?.version ?? null,
    uptime_seconds: report?.uptime_seconds ?? null,
    cpu_percent: seconds ? tenth((100 * (reading!.cpuSeconds - last!.cpuSeconds)) / seconds) : null,
    memory_bytes: report?.memory_bytes ?? null,
    memory_limit_bytes: report?.vitals?.memory_limit_bytes ?? null,
    event_loop_lag_ms: report?.vitals?.event_loop_lag_ms ?? null,
    sender: status ? senderOf(status) : null,
  };
}

/** Sum over all senders. */
function waitsPerSecond(before: Readings, now: Readings): Overview["limiter_waits_per_second"] {
  const sum = { hour: 0, day: 0, second: 0, domain: 0 };
  let isKnown = false;
  for (const [node, reading] of now) {
    const last = before.get(node);
    const seconds = secondsBetween(last, reading);
    if (!seconds || !last?.waits || !reading.waits) continue;
    isKnown = true;
    for (const limit of Object.keys(sum) as (keyof Waits)[])
      sum[limit] += Math.max(0, reading.waits[limit] - last.waits[limit]) / seconds;
  }
  return isKnown
    ? { hour: tenth(sum.hour), day: tenth(sum.day), second: tenth(sum.second), domain: tenth(sum.domain) }
    : null;
}

let lastReadings: Readings = new Map();

async function look(ctx: Ctx): Promise<Overview> {
  const errors: string[] = [];
  /** Reports an unreachable database as an error and leaves the rest of the overview intact. */
  const orNone = <T>(what: string, rows: Promise<T[]>): Promise<T[]> =>
    withTimeout(rows, ROWS_MS, () => new Error("no answer in time")).catch((error: Error) => {
      errors.push(`${what}: ${error.message}`);
      return [];
    });
  const [reports, statuses, campaigns, waiting, webhooks, dependsOn] = await Promise.all([
    nodes(ctx, { vitals: true }),
    senderStatuses(ctx),
    orNone("campaigns", runningCampaigns(ctx)),
    orNone("queues", queues()),
    orNone("webhooks", failingWebhooks()),
    dependencies(ctx.broker),
  ]);
  const statusOf = new Map(statuses.map((status) => [status.node, status]));
  const before = lastReadings;
  const now: Readings = new Map();
  for (const node of reports) {
    const reading = readingOf(node, statusOf.get(node.id));
    if (reading) now.set(node.id, reading);
  }
  lastReadings = now;
  const servers = statuses.flatMap((status) => status.servers);
  return {
    at: new Date().toISOString(),
    nodes: reports.map((node) => nodeOf(node, statusOf.get(node.id), before, now)),
    campaigns: campaigns.slice(0, MAX_CAMPAIGNS),
    unfinished_campaigns: campaigns.length,
    queues: waiting,
    limiter_waits_per_second: waitsPerSecond(before, now),
    failing_webhooks: webhooks,
    backing_off: servers.flatMap(({ host, backing_off_until: until, last_error }) =>
      until ? [{ host, until, last_error }] : [],
    ),
    slow_domains: servers.reduce((sum, { slow_domains }) => sum + slow_domains.length, 0),
    dependencies: dependsOn,
    errors,
  };
}

let shared: { askedAtMs: number; answer: Promise<Overview> } | undefined;

export function overview(ctx: Ctx): Promise<Overview> {
  const nowMs = performance.now();
  if (shared && nowMs - shared.askedAtMs < SHARED_MS) return shared.answer;
  const asked = { askedAtMs: nowMs, answer: look(ctx) };
  shared = asked;
  // Failures are not cached: the next request asks again.
  asked.answer.catch(() => {
    if (shared === asked) shared = undefined;
  });
  return asked.answer;
}
