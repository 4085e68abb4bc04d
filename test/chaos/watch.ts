/** Observes the cluster under faults: how long nothing was sent although mail waited, and how long the API failed. */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "./ledger.ts";
import type { Company } from "./load.ts";
import type { Scene } from "./scene.ts";

const LOOK_EVERY_MS = 100;
const COUNT_EVERY_MS = 500;
const COUNT_TIMEOUT_MS = 2_000;
const ASK_EVERY_MS = 200;
const ASK_TIMEOUT_MS = 5_000;
/** Shorter failures are ignored. */
const SHORTEST_MS = 1_000;

export interface Span {
  fromMs: number;
  toMs: number;
}

/** Merges consecutive bad observations into time spans. */
class Bad {
  readonly spans: Span[] = [];
  #since: number | undefined;

  look(bad: boolean, fromMs: number, toMs: number): void {
    if (bad) {
      this.#since ??= fromMs;
      return;
    }
    this.end(toMs);
  }

  end(atMs: number): void {
    if (this.#since !== undefined && atMs - this.#since >= SHORTEST_MS)
      this.spans.push({ fromMs: this.#since, toMs: atMs });
    this.#since = undefined;
  }
}

export interface Watched {
  /** Newsletters were waiting, but none was sent. */
  stalls: Span[];
  apiErrors: Span[];
  /** Failing answers with their number. */
  apiErrorsBy: Map<string, number>;
  /** The largest delay of this process, which is the error of its times. */
  worstLagMs: number;
}

const NEWSLETTERS_UNDER_WAY = `
  select count(*)::int as n from campaigns
  where company_id = $1 and not is_transactional and status in ('pending', 'sending')`;

export function watch(scene: Scene, ledger: Ledger, { id: companyId, headers }: Company) {
  const [stalls, api] = [new Bad(), new Bad()];
  const apiErrorsBy = new Map<string, number>();
  let worstLagMs = 0;
  let over = false;
  let waiting = 0;

  const collect = (): boolean => {
    let any = false;
    for (const message of scene.sink.messages.splice(0)) {
      const kind = ledger.arrived(message, scene.dotAt.get(message.to[0] ?? ""));
      scene.dotAt.delete(message.to[0] ?? "");
      if (kind === "newsletter") any = true;
    }
    return any;
  };

  async function looking(): Promise<void> {
    let lastMs = Date.now();
    while (!over) {
      const startedMs = performance.now();
      await sleep(LOOK_EVERY_MS);
      worstLagMs = Math.max(worstLagMs, performance.now() - startedMs - LOOK_EVERY_MS);
      const left = collect();
      stalls.look(!left && waiting > 0, lastMs, Date.now());
      lastMs = Date.now();
    }
    stalls.end(Date.now());
  }

  /** Counts campaigns with something to send; while the database is away, the previous count stays. */
  async function counting(): Promise<void> {
    while (!over) {
      const [found] = await scene.postgres
        .query<{ n: number }>(NEWSLETTERS_UNDER_WAY, [companyId], COUNT_TIMEOUT_MS)
        .catch(() => []);
      waiting = found?.n ?? waiting;
      await sleep(COUNT_EVERY_MS);
    }
  }

  async function ask(): Promise<string | undefined> {
    try {
      const response = await fetch(`${scene.url()}/api/emails/campaigns/`, {
        headers,
        signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
      });
      await response.text();
      return response.ok ? undefined : `${response.status}`;
    } catch (error) {
      const { cause, name } = error as Error & { cause?: { code?: string } };
      return cause?.code ?? name;
    }
  }

  async function asking(): Promise<void> {
    while (!over) {
      const startedMs = Date.now();
      const wrong = await ask();
      if (wrong) apiErrorsBy.set(wrong, (apiErrorsBy.get(wrong) ?? 0) + 1);
      api.look(wrong !== undefined, startedMs, Date.now());
      await sleep(ASK_EVERY_MS);
    }
    api.end(Date.now());
  }

  const all = Promise.all([looking(), counting(), asking()]);
  return {
    async stop(): Promise<Watched> {
      over = true;
      await all;
      collect();
      return { stalls: stalls.spans, apiErrors: api.spans, apiErrorsBy, worstLagMs };
    },
  };
}

/** The longest part of the spans within these times. */
export function longestWithin(spans: readonly Span[], { fromMs, toMs }: Span): number {
  return Math.max(0, ...spans.map((span) => Math.min(span.toMs, toMs) - Math.max(span.fromMs, fromMs)));
}
