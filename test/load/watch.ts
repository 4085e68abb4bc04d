/** Looks at every process while it works: memory, queues, event loops, by its own /metrics. */
import type { Cluster } from "../support/cluster.ts";

const SCRAPE_TIMEOUT_MS = 3_000;
const MEBIBYTE = 1024 * 1024;

function valuesOf(metrics: string, name: string): number[] {
  return [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].map(([, value]) => Number(value));
}

export class Watch {
  /** By process: resident memory at each look since its last start. */
  readonly memory = new Map<string, number[]>();
  longestWaitSeconds = 0;
  longestOverdueSeconds = 0;
  longestLoopLagMs = 0;
  #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async look(): Promise<void> {
    await Promise.all([...this.#cluster.processes].map(([name, { healthUrl }]) => this.#lookAt(name, healthUrl)));
  }

  async #lookAt(name: string, healthUrl: string): Promise<void> {
    let metrics: string;
    try {
      metrics = await (await fetch(`${healthUrl}/metrics`, { signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS) })).text();
    } catch {
      // Killed at this moment.
      return;
    }
    const most = (metric: string) => Math.max(0, ...valuesOf(metrics, metric));
    const seen = this.memory.get(name) ?? [];
    this.memory.set(name, [...seen, most("process_resident_memory_bytes") / MEBIBYTE]);
    this.longestWaitSeconds = Math.max(this.longestWaitSeconds, most("flockmail_send_queue_wait_seconds"));
    this.longestOverdueSeconds = Math.max(this.longestOverdueSeconds, most("flockmail_webhook_queue_overdue_seconds"));
    this.longestLoopLagMs = Math.max(this.longestLoopLagMs, most("flockmail_event_loop_lag_seconds") * 1_000);
  }

  /** A process that was started again has its memory of before behind it. */
  restarted(name: string): void {
    this.memory.delete(name);
  }

  memoryRows() {
    const middle = (values: number[]) =>
      Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
    return [...this.memory].map(([process, values]) => {
      const fifth = Math.max(1, Math.floor(values.length / 5));
      // The first fifth is the start: caches fill, code is compiled.
      const [early, late] = [middle(values.slice(fifth, 2 * fifth)), middle(values.slice(-fifth))];
      return { process, early_mib: early, late_mib: late, peak_mib: Math.round(Math.max(...values)) };
    });
  }
}
