/**
 * Metrics of this process for Prometheus. Label values come from fixed sets in the code, never from outside, so that
 * memory is bounded. prom-client's `labels()` children hash the labels at each call and are not faster, so none are
 * kept.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { withTimeout } from "./timeouts.ts";

const registry = new Registry();
const registers = [registry];

/** A service that restarts in a process continues its counters. */
export function counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
  return (registry.getSingleMetric(name) as Counter<L>) ?? new Counter({ name, help, labelNames, registers });
}

export function histogram<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
  buckets: number[],
): Histogram<L> {
  const existing = registry.getSingleMetric(name) as Histogram<L> | undefined;
  return existing ?? new Histogram({ name, help, labelNames, buckets, registers });
}

type Sample = [labels: Record<string, string>, value: number];

class ReadGauge extends Gauge {
  readonly #read: () => number | Sample[];

  constructor(name: string, help: string, read: () => number | Sample[]) {
    super({ name, help, registers });
    this.#read = read;
  }

  override async get() {
    const value = this.#read();
    const samples: Sample[] = typeof value === "number" ? [[{}, value]] : value;
    return { ...(await super.get()), values: samples.map(([labels, n]) => ({ labels, value: n })) };
  }
}

/** Adds a gauge that is read at every scrape: one value, or several with labels; none if unknown. */
export function gauge(name: string, help: string, read: () => number | Sample[]): void {
  // A restarted service replaces the reader of the stopped one.
  registry.removeSingleMetric(name);
  new ReadGauge(name, help, read);
}

const FRESH_MS = 5_000;
const REFRESH_TIMEOUT_MS = 2_000;
const refreshes = new Map<string, () => Promise<void>>();

/**
 * Values that need a query: refreshed by scrapes, at most every five seconds. Undefined without an answer, so that
 * unknown values are omitted.
 */
export function refreshed<T>(name: string, ask: () => Promise<T>): () => T | undefined {
  let metric: T | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  refreshes.set(name, async () => {
    if (performance.now() - askedAtMs < FRESH_MS) return;
    askedAtMs = performance.now();
    const noAnswer = () => new Error("no answer");
    metric = await withTimeout(ask(), REFRESH_TIMEOUT_MS, noAnswer).catch(() => undefined);
  });
  return () => metric;
}

export function forgetRefreshed(name: string): void {
  refreshes.delete(name);
}

/** All metrics in Prometheus' text format 0.0.4. */
export async function readMetrics(): Promise<string> {
  await Promise.all([...refreshes.values()].map((refresh) => refresh()));
  return registry.metrics();
}

const requests = counter("flockmail_http_requests_total", "HTTP requests by route and status.", [
  "method",
  "route",
  "status",
]);
const durations = histogram(
  "flockmail_http_request_duration_seconds",
  "Time from a request's headers to its answer, by route.",
  ["method", "route"],
  [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
);

// Methods are external input; only these have routes.
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function httpAnswered(givenMethod: string, route = "none", status: number, seconds: number): void {
  const method = METHODS.has(givenMethod) ? givenMethod : "other";
  requests.inc({ method, route, status });
  durations.observe({ method, route }, seconds);
}

// Event-loop lag without resets by scrapes (with prom-client's gauges a second scraper sees nothing): two monitors are
// reset alternately, by the clock, and the one that has run longer is read.
const LAG_WINDOW_MS = 30_000;
/** Coarse resolution, because each sample wakes an idle process. */
const LAG_RESOLUTION_MS = 50;
const monitors = [0, 1].map(() => monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS }));
for (const monitor of monitors) monitor.enable();
setInterval(() => {
  monitors[0]!.reset();
  monitors.reverse();
}, LAG_WINDOW_MS).unref();
const ns = 1e9;
gauge(
  "flockmail_event_loop_lag_seconds",
  "99th percentile of the event loop's delay over the last 30 to 60 seconds.",
  () => monitors[0]!.percentile(99) / ns,
);
/** Subtracts the monitor's own interval, which it counts too, so that an idle loop has no lag. */
export const eventLoopLagMs = (): number => Math.max(0, monitors[0]!.percentile(99) / 1e6 - LAG_RESOLUTION_MS);
// A single block of ten seconds is one delay of a thousand, which no percentile shows.
gauge(
  "flockmail_event_loop_lag_max_seconds",
  "Longest delay of the event loop in the last 30 to 60 seconds.",
  () => monitors[0]!.max / ns,
);

// Standard names of Prometheus' own libraries, which dashboards expect.
new Counter({
  name: "process_cpu_seconds_total",
  help: "User and system CPU time spent in seconds.",
  registers,
  collect() {
    const { user, system } = process.cpuUsage();
    this.reset();
    this.inc((user + system) / 1e6);
  },
});
const startedAtSeconds = Math.round(Date.now() / 1_000 - process.uptime());
gauge(
  "process_start_time_seconds",
  "When the process started, since the Unix epoch in seconds.",
  () => startedAtSeconds,
);
gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
gauge("process_heap_bytes", "Used heap.", () => process.memoryUsage().heapUsed);
gauge(
  "process_open_handles",
  "Sockets, timers and other handles that keep the process alive.",
  () => process.getActiveResourcesInfo().length,
);
