/**
 * Keeps webhook deliveries in flight on one node. Each endpoint has a few of its own, and those that fail have one, out of a
 * limit of their own: however many endpoints hang, the others do not wait for them.
 */
import { retryOnConflict } from "../../models/database/retry-on-conflict.ts";
import {
  type AttemptRecord,
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryCapacity,
  recordAttempts,
} from "../../models/statements/webhook-deliveries.ts";
import { groupCommit } from "../lib/group-commit.ts";
import { type AttemptResult, attempt, retryAfterSeconds } from "./attempt.ts";

const LIMITS = { perEndpoint: 16, total: 256 };
const LIMITS_OF_FAILING = { perEndpoint: 1, total: 64 };
const STOP_MS = 3_000;
const MAX_BATCH = 200;

export interface DeliveryPump {
  /** Takes what is due and there is capacity for. Returns how many; resolves before they are delivered. */
  fill(): Promise<number>;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** The endpoints that fail, or the others: what is in flight to them, and how much may be. */
interface EndpointGroup {
  failing: boolean;
  limits: { perEndpoint: number; total: number };
  inFlightByEndpoint: Map<string, number>;
  inFlight: number;
}

const group = (failing: boolean, limits: EndpointGroup["limits"]): EndpointGroup => ({
  failing,
  limits,
  inFlightByEndpoint: new Map(),
  inFlight: 0,
});

const capacityOf = ({ failing, limits, inFlightByEndpoint, inFlight }: EndpointGroup): DeliveryCapacity => ({
  failing,
  perEndpoint: limits.perEndpoint,
  total: limits.total - inFlight,
  inFlightByEndpoint,
});

function countInFlight(group: EndpointGroup, endpointId: string, by: 1 | -1): void {
  const n = (group.inFlightByEndpoint.get(endpointId) ?? 0) + by;
  if (n === 0) group.inFlightByEndpoint.delete(endpointId);
  else group.inFlightByEndpoint.set(endpointId, n);
  group.inFlight += by;
}

function recordOf(claimed: ClaimedDelivery, result: AttemptResult | null): AttemptRecord {
  const { id, company_id, endpoint_id, lease, attempts } = claimed;
  return {
    id,
    company_id,
    endpoint_id,
    lease,
    attempted: result !== null,
    ok: result?.ok ?? false,
    response_status: result?.responseStatus ?? null,
    error: result?.error ?? null,
    retry_seconds: result === null ? 0 : retryAfterSeconds(attempts + 1),
  };
}

interface PumpReports {
  disabled: (endpointId: string) => void;
  failed: (error: unknown) => void;
}

export function startPump({ disabled, failed }: PumpReports): DeliveryPump {
  const groups = [group(false, LIMITS), group(true, LIMITS_OF_FAILING)];
  const stopped = new AbortController();
  const running = new Set<Promise<void>>();
  let filling: Promise<number> | undefined;
  let again = false;
  let closing = false;

  const results = groupCommit(
    async (batch: AttemptRecord[]) => {
      for (const id of await retryOnConflict(() => recordAttempts(batch))) disabled(id);
      return batch.map(() => null);
    },
    { maxBatch: MAX_BATCH, maxWaiting: 10 * (LIMITS.total + LIMITS_OF_FAILING.total) },
  );

  async function deliver(claimed: ClaimedDelivery, from: EndpointGroup): Promise<void> {
    try {
      // What cannot be recorded is delivered again when its lease ends.
      await results.add(recordOf(claimed, await attempt(claimed, stopped.signal)));
    } catch (error) {
      failed(error);
    } finally {
      countInFlight(from, claimed.endpoint_id, -1);
    }
  }

  function launch(claimed: ClaimedDelivery, from: EndpointGroup): void {
    countInFlight(from, claimed.endpoint_id, 1);
    const run = deliver(claimed, from).finally(() => {
      running.delete(run);
      refill();
    });
    running.add(run);
  }

  async function claimAndLaunch(): Promise<number> {
    let taken = 0;
    do {
      again = false;
      for (const from of groups) {
        const claimed = closing ? [] : await claimDeliveries(capacityOf(from));
        for (const one of claimed) launch(one, from);
        taken += claimed.length;
      }
    } while (again && !closing);
    return taken;
  }

  /** One has ended: there may be more where it came from. */
  function refill(): void {
    if (filling) again = true;
    else fill().catch(failed);
  }

  function fill(): Promise<number> {
    if (filling) {
      again = true;
      return filling;
    }
    filling = claimAndLaunch().finally(() => {
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
