/** What this process counts, in the words of Prometheus: no labels but those from fixed sets, so that memory is bounded. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

type Labels = Record<string, string | number>;
type Render = () => string[];

/** By name: a service that starts a second time in a process takes the place of the first. */
const all = new Map<string, Render>();

const UNSAFE = /[\\"\n]/;
const quoted = (value: string | number) =>
  typeof value === "number" || !UNSAFE.test(value)
    ? value
    : value.replaceAll(/[\\"\n]/g, (char) => (char === "\n" ? "\\n" : `\\${char}`));

function labelText(labels: Labels): string {
  let text = "";
  for (const name in labels) text += `${text === "" ? "" : ","}${name}="${quoted(labels[name]!)}"`;
  return text;
}
const sample = (name: string, labels: string, value: number) => `${name}${labels ? `{${labels}}` : ""} ${value}`;

function register(name: string, type: "counter" | "gauge" | "histogram", help: string, samples: Render): void {
  all.set(name, () => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples()]);
}

export function counter(name: string, help: string): (labels?: Labels, by?: number) => void {
  const values = new Map<string, number>();
  register(name, "counter", help, () => [...values].map(([labels, value]) => sample(name, labels, value)));
  return (labels = {}, by = 1) => {
    const key = labelText(labels);
    values.set(key, (values.get(key) ?? 0) + by);
  };
}

/** A count that is kept elsewhere. */
function counted(name: string, help: string, read: () => number): void {
  register(name, "counter", help, () => [sample(name, "", read())]);
}

/** One value, or several with labels. */
export function gauge(name: string, help: string, read: () => number | [labels: Labels, value: number][]): void {
  register(name, "gauge", help, () => {
    const value = read();
    const values = typeof value === "number" ? ([[{}, value]] as [Labels, number][]) : value;
    return values.map(([labels, n]) => sample(name, labelText(labels), n));
  });
}

interface Observed {
  counts: number[];
  sum: number;
  count: number;
}

export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
): (labels: Labels, value: number) => void {
  const values = new Map<string, Observed>();
  const lines = (labels: string, { counts, sum, count }: Observed): string[] => {
    const prefix = labels ? `${labels},` : "";
    const buckets = bounds.map((bound, i) => sample(`${name}_bucket`, `${prefix}le="${bound}"`, counts[i]!));
    return [
      ...buckets,
      sample(`${name}_bucket`, `${prefix}le="+Inf"`, count),
      sample(`${name}_sum`, labels, sum),
      sample(`${name}_count`, labels, count),
    ];
  };
  register(name, "histogram", help, () => [...values].flatMap(([labels, observed]) => lines(labels, observed)));
  return (labels, value) => {
    const key = labelText(labels);
    const observed = values.get(key) ?? { counts: bounds.map(() => 0), sum: 0, count: 0 };
    values.set(key, observed);
    for (let i = bounds.length - 1; i >= 0 && value <= bounds[i]!; i--) observed.counts[i]!++;
    observed.sum += value;
    observed.count++;
  };
}

export const metricsText = (): string => `${[...all.values()].flatMap((render) => render()).join("\n")}\n`;

const FRESH_MS = 5_000;
const REFRESH_TIMEOUT_MS = 2_000;
const refreshes = new Map<string, () => Promise<void>>();

/**
 * Figures that have to be asked for (from the database, say): read anew when metrics are read, at most every five
 * seconds. Undefined when they could not be had: a figure that is not known is left out, not guessed.
 */
export function refreshed<T>(name: string, ask: () => Promise<T>): () => T | undefined {
  let known: T | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  refreshes.set(name, async () => {
    if (performance.now() - askedAtMs < FRESH_MS) return;
    askedAtMs = performance.now();
    known = await Promise.race([ask(), sleep(REFRESH_TIMEOUT_MS, undefined, { ref: false })]).catch(() => undefined);
  });
  return () => known;
}

export function forgetRefreshed(name: string): void {
  refreshes.delete(name);
}

export async function readMetrics(): Promise<string> {
  await Promise.all([...refreshes.values()].map((refresh) => refresh()));
  return metricsText();
}

const requests = counter("flockmail_http_requests_total", "HTTP requests by route and status.");
const durations = histogram(
  "flockmail_http_request_duration_seconds",
  "Time from a request's headers to its answer, by route.",
  [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
);

// Methods come from outside; only these have routes.
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function httpAnswered(given: string, route = "none", status: number, seconds: number): void {
  const method = METHODS.has(given) ? given : "other";
  requests({ method, route, status });
  durations({ method, route }, seconds);
}

const delay = monitorEventLoopDelay({ resolution: 20 });
delay.enable();
const ns = 1e9;
gauge("flockmail_event_loop_lag_seconds", "99th percentile of the event loop's delay since the last reading.", () => {
  const p99 = delay.percentile(99) / ns;
  delay.reset();
  return p99;
});
// The names that Prometheus' own libraries give to these: dashboards know them.
counted("process_cpu_seconds_total", "User and system CPU time spent in seconds.", () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
});
const startedAtSeconds = Math.round(Date.now() / 1_000 - process.uptime());
gauge(
  "process_start_time_seconds",
  "When the process started, since the Unix epoch in seconds.",
  () => startedAtSeconds,
);
gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
gauge("process_heap_bytes", "Used heap.", () => process.memoryUsage().heapUsed);
gauge("process_uptime_seconds", "Seconds since the process started.", () => process.uptime());
gauge(
  "process_open_handles",
  "Sockets, timers and the like that keep the process alive.",
  () => process.getActiveResourcesInfo().length,
);
