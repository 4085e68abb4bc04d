/**
 * Keeps webhook deliveries in flight on one node. It learns of due deliveries from events, which name a company, and
 * from polling a slice of all endpoints with pending deliveries. Neither costs more with more companies. Two queues allocate the attempts, one for working and one for failing endpoints.
 */
import { retryOnConflict } from "../../models/database/retry-on-conflict.ts";
import {
  type AttemptRecord,
  type ClaimedDelivery,
  claimDeliveries,
  type DueEndpoint,
  recordAttempts,
  scanCompanies,
  scanEndpoints,
} from "../../models/statements/webhook-deliveries.ts";
import { groupCommit } from "../lib/group-commit.ts";
import { type AttemptResult, attempt, retryAfterSeconds } from "./attempt.ts";
import { EndpointQueue, type QueueLimits } from "./endpoint-queue.ts";
import { EventPoster } from "./post.ts";

const WORKING: QueueLimits = { inFlight: 512, perCompany: 64, perEndpoint: 8 };
const FAILING: QueueLimits = { inFlight: 256, perCompany: 32, perEndpoint: 1 };
const MAX_IN_FLIGHT = WORKING.inFlight + FAILING.inFlight;
const STOP_MS = 3_000;
const MAX_BATCH = 200;
/**
 * Endpoints per poll, and per company when several companies are queried together. Each endpoint costs one index probe.
 */
const SLICE = 2_000;
const SLICE_OF_COMPANY = 64;
const COMPANIES_AT_ONCE = 64;
/** Maximum size of each queue. Later polls find the remaining endpoints. */
const MAX_WAITING = 20_000;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

export interface DeliveryPump {
  /** Reports new deliveries of a company. Resolves when as many as the limits allow are claimed. */
  queued(companyId: string): Promise<void>;
  /** Polls the next slice of endpoints. Resolves with the number of claimed deliveries, before they are delivered. */
  poll(): Promise<number>;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
  stop(): Promise<void>;
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
  const working = new EndpointQueue(WORKING);
  const failing = new EndpointQueue(FAILING);
  const queues = [working, failing];
  /** Companies that may have due deliveries, with the last endpoint checked. */
  const queuedFor = new Map<string, string>();
  const poster = new EventPoster();
  const running = new Set<Promise<void>>();
  let lastPolled = BEFORE_ALL;
  let filling: Promise<number> | undefined;
  let fillAgain = false;
  let closing = false;

  const results = groupCommit(
    async (batch: AttemptRecord[]) => {
      for (const id of await retryOnConflict(() => recordAttempts(batch))) disabled(id);
      return batch.map(() => null);
    },
    { maxBatch: MAX_BATCH, maxWaiting: 10 * MAX_IN_FLIGHT },
  );

  function add(due: readonly DueEndpoint[]): void {
    for (const endpoint of due) {
      const [queue, other] = endpoint.failing ? [failing, working] : [working, failing];
      other.remove(endpoint.endpointId);
      if (queue.size < MAX_WAITING) queue.add(endpoint);
    }
  }

  async function deliver(claimed: ClaimedDelivery, from: EndpointQueue): Promise<void> {
    const endpoint = { endpointId: claimed.endpoint_id, companyId: claimed.company_id };
    from.begin(endpoint);
    let result: AttemptResult | null = null;
    try {
      result = await attempt(claimed, poster);
      // A result that cannot be recorded leads to another delivery when the lease ends.
      await results.add(recordOf(claimed, result));
    } catch (error) {
      failed(error);
    } finally {
      from.end(endpoint);
      const to = result?.ok ? working : failing;
      if (result && from !== to && from.remove(endpoint.endpointId)) to.add(endpoint);
    }
  }

  function launch(claimed: ClaimedDelivery, from: EndpointQueue): void {
    const run = deliver(claimed, from).finally(() => {
      running.delete(run);
      if (queues.some(({ waiting }) => waiting > 0)) refill();
    });
    running.add(run);
  }

  async function claimFrom(queue: EndpointQueue): Promise<number> {
    const grants = queue.grant();
    const claimed = await claimDeliveries(grants);
    const taken = new Map<string, number>();
    for (const one of claimed) taken.set(one.endpoint_id, (taken.get(one.endpoint_id) ?? 0) + 1);
    // Runs before any attempt ends: an endpoint that yielded fewer deliveries than granted has no more.
    for (const { endpointId, slots } of grants) if ((taken.get(endpointId) ?? 0) < slots) queue.remove(endpointId);
    for (const one of claimed) launch(one, queue);
    return claimed.length;
  }

  async function checkQueuedCompanies(): Promise<void> {
    const companies = new Map([...queuedFor].slice(0, COMPANIES_AT_ONCE));
    if (companies.size === 0) return;
    // Remove first: a delivery queued during the query must trigger another query.
    for (const companyId of companies.keys()) queuedFor.delete(companyId);
    const { due, last } = await scanCompanies(companies, SLICE_OF_COMPANY);
    add(due);
    for (const [companyId, endpointId] of last) if (!queuedFor.has(companyId)) queuedFor.set(companyId, endpointId);
  }

  async function fillUp(): Promise<number> {
    let taken = 0;
    do {
      fillAgain = false;
      await checkQueuedCompanies();
      for (const queue of queues) if (!closing) taken += await claimFrom(queue);
    } while ((fillAgain || queuedFor.size > 0) && !closing);
    return taken;
  }

  /** Claims more deliveries after an attempt has ended. */
  function refill(): void {
    if (filling) fillAgain = true;
    else fill().catch(failed);
  }

  function fill(): Promise<number> {
    if (filling) {
      fillAgain = true;
      return filling;
    }
    filling = fillUp().finally(() => {
      filling = undefined;
    });
    return filling;
  }

  async function idle(): Promise<void> {
    while (filling || running.size > 0) await Promise.all([filling, ...running]);
  }

  return {
    async queued(companyId) {
      if (queuedFor.size < MAX_WAITING) queuedFor.set(companyId, BEFORE_ALL);
      await fill();
    },
    async poll() {
      const { due, last } = await scanEndpoints(lastPolled, SLICE);
      lastPolled = last ?? BEFORE_ALL;
      add(due);
      return fill();
    },
    idle,
    async stop() {
      closing = true;
      const late = setTimeout(() => poster.stop().catch(failed), STOP_MS);
      await idle();
      clearTimeout(late);
      await poster.stop();
    },
  };
}
