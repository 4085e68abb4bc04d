/**
 * Keeps deliveries in the air on one node. Each endpoint has a few lanes of its own, and those that fail have one, out
 * of a stock of their own: however many endpoints hang, none of the others waits for a free lane.
 */

import { retryOnConflict } from "../../models/database/retry-on-conflict.ts";
import { groupCommit } from "../lib/group-commit.ts";
import { attempt } from "./attempt.ts";
import { type Claimed, claimDue, type Room } from "./claim.ts";
import { webhookAttempted } from "./figures.ts";
import { type Outcome, recordOutcomes } from "./record.ts";

const LANES = { perEndpoint: 16, total: 256 };
const FAILING_LANES = { perEndpoint: 1, total: 64 };
const STOP_MS = 3_000;
const MAX_BATCH = 200;

export interface Pump {
  /** Takes what is due and there is room for. Returns how many; resolves before they are delivered. */
  fill(): Promise<number>;
  /** Resolves when nothing is in the air. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

interface Stock {
  failing: boolean;
  limits: { perEndpoint: number; total: number };
  busy: Map<string, number>;
  inTheAir: number;
}

const stock = (failing: boolean, limits: Stock["limits"]): Stock => ({ failing, limits, busy: new Map(), inTheAir: 0 });

const roomOf = ({ failing, limits, busy, inTheAir }: Stock): Room => ({
  failing,
  perEndpoint: limits.perEndpoint,
  total: limits.total - inTheAir,
  busy,
});

function occupy(stock: Stock, endpointId: string, by: 1 | -1): void {
  const n = (stock.busy.get(endpointId) ?? 0) + by;
  if (n === 0) stock.busy.delete(endpointId);
  else stock.busy.set(endpointId, n);
  stock.inTheAir += by;
}

export interface Reports {
  disabled: (endpointId: string) => void;
  failed: (error: unknown) => void;
}

export function startPump({ disabled, failed }: Reports): Pump {
  const stocks = [stock(false, LANES), stock(true, FAILING_LANES)];
  const stopped = new AbortController();
  const running = new Set<Promise<void>>();
  let filling: Promise<number> | undefined;
  let again = false;
  let closing = false;

  const outcomes = groupCommit(
    async (batch: Outcome[]) => {
      for (const id of await retryOnConflict(() => recordOutcomes(batch))) disabled(id);
      return batch.map(() => null);
    },
    { maxBatch: MAX_BATCH, maxWaiting: 10 * (LANES.total + FAILING_LANES.total) },
  );

  async function deliver(claimed: Claimed, from: Stock): Promise<void> {
    try {
      const startedMs = performance.now();
      const attempted = await attempt(claimed, stopped.signal);
      webhookAttempted(attempted, (performance.now() - startedMs) / 1_000);
      // What cannot be recorded comes again when its lease ends.
      await outcomes.add({ claimed, attempted });
    } catch (error) {
      failed(error);
    } finally {
      occupy(from, claimed.endpoint_id, -1);
    }
  }

  function launch(claimed: Claimed, from: Stock): void {
    occupy(from, claimed.endpoint_id, 1);
    const run = deliver(claimed, from).finally(() => {
      running.delete(run);
      refill();
    });
    running.add(run);
  }

  async function round(): Promise<number> {
    let taken = 0;
    do {
      again = false;
      for (const from of stocks) {
        const claimed = closing ? [] : await claimDue(roomOf(from));
        for (const one of claimed) launch(one, from);
        taken += claimed.length;
      }
    } while (again && !closing);
    return taken;
  }

  /** A lane is free: there may be more where this came from. */
  function refill(): void {
    if (filling) again = true;
    else fill().catch(failed);
  }

  function fill(): Promise<number> {
    if (filling) {
      again = true;
      return filling;
    }
    filling = round().finally(() => {
      filling = undefined;
    });
    return filling;
  }

  async function idle(): Promise<void> {
    while (filling || running.size > 0) await Promise.all([filling, ...running]);
  }

  async function stop(): Promise<void> {
    closing = true;
    const late = setTimeout(() => stopped.abort(), STOP_MS);
    await idle();
    clearTimeout(late);
  }

  return { fill, idle, stop };
}
