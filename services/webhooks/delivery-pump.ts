/**
 * Keeps webhook deliveries in flight on one node. What it knows of endpoints that have something to deliver comes by
 * events, which name a company, and by looks at a slice of all endpoints that have anything waiting: neither costs more
 * the more companies there are. Who gets a lane is said by the queues: endpoints that fail have one of their own.
 */
import { retryOnConflict } from "../../models/database/retry-on-conflict.ts";
import {
  type AttemptRecord,
  type ClaimedDelivery,
  claimDeliveries,
  type DueEndpoint,
  lookAtCompanies,
  lookAtEndpoints,
  recordAttempts,
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
/** Endpoints of one look, and of one company in a look at several: each is a probe of an index. */
const SLICE = 2_000;
const SLICE_OF_COMPANY = 64;
const COMPANIES_AT_ONCE = 64;
/** Of each queue. What is beyond is found by looks, later. */
const MAX_WAITING = 20_000;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

export interface DeliveryPump {
  /** Something was queued for this company. Resolves when what there is room for is claimed. */
  queued(companyId: string): Promise<void>;
  /** Looks at the next slice of endpoints. Returns how many deliveries it took; resolves before they are delivered. */
  look(): Promise<number>;
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
  /** Companies of which something may be due, with the endpoint that was looked at last. */
  const queuedFor = new Map<string, string>();
  const poster = new EventPoster();
  const running = new Set<Promise<void>>();
  let lookedAt = BEFORE_ALL;
  let filling: Promise<number> | undefined;
  let again = false;
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
      // What cannot be recorded is delivered again when its lease ends.
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
    // Before any ends: those that gave less than they might have nothing more.
    for (const { endpointId, lanes } of grants) if ((taken.get(endpointId) ?? 0) < lanes) queue.remove(endpointId);
    for (const one of claimed) launch(one, queue);
    return claimed.length;
  }

  async function lookAtQueued(): Promise<void> {
    const companies = new Map([...queuedFor].slice(0, COMPANIES_AT_ONCE));
    if (companies.size === 0) return;
    // What is queued from now on asks for another look.
    for (const companyId of companies.keys()) queuedFor.delete(companyId);
    const { due, last } = await lookAtCompanies(companies, SLICE_OF_COMPANY);
    add(due);
    for (const [companyId, endpointId] of last) if (!queuedFor.has(companyId)) queuedFor.set(companyId, endpointId);
  }

  async function fillUp(): Promise<number> {
    let taken = 0;
    do {
      again = false;
      await lookAtQueued();
      for (const queue of queues) if (!closing) taken += await claimFrom(queue);
    } while ((again || queuedFor.size > 0) && !closing);
    return taken;
  }

  /** One has ended: there is room for more. */
  function refill(): void {
    if (filling) again = true;
    else fill().catch(failed);
  }

  function fill(): Promise<number> {
    if (filling) {
      again = true;
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
    async look() {
      const { due, last } = await lookAtEndpoints(lookedAt, SLICE);
      lookedAt = last ?? BEFORE_ALL;
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
