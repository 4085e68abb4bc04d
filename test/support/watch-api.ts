/** Polls the API and measures how long it failed. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Watched {
  requests: number;
  failed: number;
  /** Time from the first to the last request of the longest series of failures. */
  longestFailureMs: number;
  slowestMs: number;
  /** Answers of failed requests, with their number. */
  failures: Record<string, number>;
}

const PAUSE_MS = 100;
/** Longer than any answer may take; later ones count as failures. */
const TIMEOUT_MS = 40_000;

/** `path` and headers of the request; `stop` waits for pending answers. */
export function watchApi(url: string, init: RequestInit): { stop(): Promise<Watched> } {
  const asked: { atMs: number; tookMs: number; failure: string | undefined }[] = [];
  const open = new Set<Promise<void>>();
  let stopped = false;

  async function ask(): Promise<void> {
    const atMs = performance.now();
    let failure: string | undefined;
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
      await response.arrayBuffer();
      if (!response.ok) failure = String(response.status);
    } catch (error) {
      failure = (error as Error).name;
    }
    asked.push({ atMs, tookMs: performance.now() - atMs, failure });
  }

  const loop = (async () => {
    while (!stopped) {
      const asking = ask();
      open.add(asking);
      void asking.then(() => open.delete(asking));
      await sleep(PAUSE_MS);
    }
  })();

  return {
    async stop() {
      stopped = true;
      await loop;
      await Promise.all(open);
      asked.sort((a, b) => a.atMs - b.atMs);
      const failures: Record<string, number> = {};
      let longestFailureMs = 0;
      let since: number | undefined;
      for (const { atMs, failure } of asked) {
        if (failure === undefined) since = undefined;
        else {
          since ??= atMs;
          longestFailureMs = Math.max(longestFailureMs, atMs - since);
          failures[failure] = (failures[failure] ?? 0) + 1;
        }
      }
      return {
        requests: asked.length,
        failed: Object.values(failures).reduce((sum, n) => sum + n, 0),
        longestFailureMs: Math.round(longestFailureMs),
        slowestMs: Math.round(Math.max(...asked.map(({ tookMs }) => tookMs))),
        failures,
      };
    },
  };
}
