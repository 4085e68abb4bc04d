/** Samples memory, queues and event loops of every process from its /metrics. */
import type { Cluster } from "../support/cluster.ts";

const SCRAPE_TIMEOUT_MS = 3_000;
const MEBIBYTE = 1024 * 1024;

function valuesOf(metrics: string, name: string): number[] {
  return [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].map(([, value]) => Number(value));
}

export class Watch {
  /** MiB by process, for each sample since its last start. */
  readonly #memory = new Map<string, { resident: number; heap: number; handles: number }[]>();
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
      // Just killed.
      return;
    }
    const most = (metric: string) => Math.max(0, ...valuesOf(metrics, metric));
    const seen = this.#memory.get(name) ?? [];
    const now = {
      resident: most("process_resident_memory_bytes") / MEBIBYTE,
      heap: most("process_heap_bytes") / MEBIBYTE,
      handles: most("process_open_handles"),
    };
    this.#memory.set(name, [...seen, now]);
    this.longestWaitSeconds = Math.max(this.longestWaitSeconds, most("flockmail_send_queue_wait_seconds"));
    this.longestOverdueSeconds = Math.max(this.longestOverdueSeconds, most("flockmail_webhook_queue_overdue_seconds"));
    this.longestLoopLagMs = Math.max(this.longestLoopLagMs, most("flockmail_event_loop_lag_seconds") * 1_000);
  }

  /** Discards samples from before a restart. */
  restarted(name: string): void {
    this.#memory.delete(name);
  }

  /**
   * After the start (first fifth: caches fill, code is compiled) and at the end. The minimum heap of a period is what
   * remains after garbage collection, and must not grow.
   */
  memoryRows() {
    return [...this.#memory].map(([process, looks]) => {
      const fifth = Math.max(1, Math.floor(looks.length / 5));
      const [early, late] = [looks.slice(fifth, 2 * fifth), looks.slice(-fifth)];
      const least = (of: typeof looks) => Math.round(Math.min(...of.map(({ heap }) => heap)));
      const most = (of: typeof looks) => Math.round(Math.max(...of.map(({ resident }) => resident)));
      const handles = (of: typeof looks) => Math.max(...of.map((look) => look.handles));
      return {
        process,
        heap_early_mib: least(early),
        heap_late_mib: least(late),
        resident_early_mib: most(early),
        resident_late_mib: most(late),
        handles_early: handles(early),
        handles_late: handles(late),
      };
    });
  }
}
