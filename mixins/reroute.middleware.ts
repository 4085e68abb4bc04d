/**
 * Broker middleware: a cluster node that has lost PostgreSQL but not NATS redirects its calls. Other nodes still see it
 * alive and would send it their calls, each of which would hang until its time-out.
 *
 * - It sets a flag in its node metadata, and `PreferConnected` avoids it while there is another node.
 * - A call that still arrives is refused before it starts; the caller asks another node.
 * - Calls that only read (`retries`: they may be repeated) are also returned while they wait, and when they fail
 *   because of the outage.
 *
 * If all nodes of a service have lost the database, none redirects: calls wait for the database.
 *
 * A stopping node announces its leave and refuses calls from 100 ms later; a starved caller may still ask it, even
 * after it has stopped (leave.middleware.ts). Such calls were not started either and go to another node, so that a
 * rollout causes no 503.
 */
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type CallingOptions, type Context, type Middleware, type ServiceBroker, Strategies } from "moleculer";
import { askDatabase, closeLostConnections } from "../models/database/db.ts";
import { availableElsewhere, isServiceError } from "../services/lib/errors.ts";
import { LeftNodes } from "./leave.middleware.ts";
import { isStored } from "./uploads.middleware.ts";

const ASK_EVERY_MS = 500;
/** Longer than a database under load needs to answer `select 1` on a separate connection. */
const CUT_OFF_AFTER_MS = 1_500;
/** Maximum of nodes that a call tries; after that, or after this time, the response is 503. */
const MAX_TRIES = 4;
const TRY_FOR_MS = 4_000;
/**
 * Wait before a retry, four times longer after each: nodes that are cut off at the same moment learn of each other a
 * moment later.
 */
const RETRY_MS = 50;

/** Header of a remote call: its caller asks another node if this one refuses it before it starts, or also later. */
const HEADER = "elsewhere";
type Elsewhere = "before" | "any time";

interface Node {
  id: string;
  metadata?: { databaseLost?: boolean } | null;
}
interface Endpoint {
  node: Node;
}
type CallFunction = (name: string, params: unknown, options?: CallingOptions & { ctx?: Context }) => Promise<unknown>;
type Handler = (ctx: Context) => Promise<unknown>;

const hasLostDatabase = ({ node }: Endpoint) => node.metadata?.databaseLost === true;

/** Round robin among the nodes with a database connection, if there are any. */
export class PreferConnected extends Strategies.RoundRobin {
  override select(list: never[]): never {
    if (!list.some(hasLostDatabase)) return super.select(list) as never;
    const others = list.filter((endpoint) => !hasLostDatabase(endpoint));
    return super.select(others.length > 0 ? others : list) as never;
  }
}

interface BrokerParts {
  started: boolean;
  metadata: NonNullable<Node["metadata"]>;
  registry: {
    localNodeInfoInvalidated: boolean | "seq";
    discoverer: { sendLocalNodeInfo(): Promise<void> };
    actions: { get(name: string): { endpoints: Endpoint[] } | undefined };
  };
}

const refused = () => availableElsewhere("This node is cut off from PostgreSQL.");

/**
 * True for Moleculer's own refusal of this call by a stopping node. An error without a node means that there is none,
 * and an error of another action comes from a nested call.
 */
function isFromStopping(error: unknown, action: string): boolean {
  const { name, data } = (error ?? {}) as { name?: string; data?: { action?: string; nodeID?: string } };
  return name === "ServiceNotAvailableError" && data?.action === action && data.nodeID !== undefined;
}

/** True for an error of this process: the called node has stopped and had announced its leave. */
function isFromLeft(error: unknown, action: string, left: LeftNodes): boolean {
  const { name, data } = (error ?? {}) as { name?: string; data?: { action?: string; nodeID?: string } };
  return name === "RequestRejectedError" && data?.action === action && left.has(data.nodeID);
}

/** Another node can still read all of it. */
const isUnread = (stream: Readable | undefined) =>
  !stream || isStored(stream) || !(stream.readableDidRead || stream.destroyed);

/** Checks twice per second, on a separate connection, whether the database answers. */
class DatabaseWatch {
  #changed: (isCutOff: boolean) => void;
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;
  /** When the first question was asked that has no answer yet, or got an error instead. */
  #sinceMs: number | undefined;
  isCutOff = false;

  constructor(changed: (isCutOff: boolean) => void) {
    this.#changed = changed;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), ASK_EVERY_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#asking;
  }

  #look(): void {
    this.#sinceMs ??= performance.now();
    this.#asking ??= askDatabase()
      .then(
        () => this.#answered(),
        () => {},
      )
      .finally(() => {
        this.#asking = undefined;
      });
    // Reads answers that arrived while this process was busy before it treats one as missing.
    if (this.#isOverdue()) setImmediate(() => this.#isOverdue() && this.#set(true));
  }

  #isOverdue(): boolean {
    return this.#sinceMs !== undefined && performance.now() - this.#sinceMs >= CUT_OFF_AFTER_MS;
  }

  #answered(): void {
    this.#sinceMs = undefined;
    this.#set(false);
  }

  #set(isCutOff: boolean): void {
    if (this.isCutOff === isCutOff) return;
    this.isCutOff = isCutOff;
    this.#changed(isCutOff);
  }
}

export function rerouteCalls(): Middleware {
  let parts: BrokerParts | undefined;
  let left: LeftNodes | undefined;
  let nodeId = "";
  /** Calls from other nodes that only read and wait here: each can be given back. */
  const waiting = new Set<() => void>();

  const isServedElsewhere = (action: string): boolean => {
    const { endpoints = [] } = parts?.registry.actions.get(action) ?? {};
    return endpoints.some((endpoint) => endpoint.node.id !== nodeId && !hasLostDatabase(endpoint));
  };

  const changed = (isCutOff: boolean): void => {
    // Announcing it now would announce a stopping node's services once more.
    if (!parts!.started) return;
    parts!.metadata.databaseLost = isCutOff;
    parts!.registry.localNodeInfoInvalidated = "seq";
    // During a NATS outage nobody receives this and nobody calls; the next heartbeat announces the change.
    parts!.registry.discoverer.sendLocalNodeInfo().catch(() => {});
    if (isCutOff) for (const giveBack of [...waiting]) giveBack();
    else closeLostConnections().catch(() => {});
  };
  const watch = new DatabaseWatch(changed);

  const isRetryableElsewhere = (error: unknown, action: string) =>
    isFromStopping(error, action) ||
    isFromLeft(error, action, left!) ||
    (isServiceError(error, "UNAVAILABLE") && error.data.elsewhere === true);

  const unlessRerouted = async (work: Promise<unknown>): Promise<unknown> => {
    let giveBack: () => void;
    const givenBack = new Promise<never>((_, reject) => {
      giveBack = () => reject(refused());
      waiting.add(giveBack);
    });
    return Promise.race([work, givenBack]).finally(() => waiting.delete(giveBack));
  };

  function localAction(this: ServiceBroker, next: Handler): Handler {
    if (!this.options.transporter) return next;
    return (ctx) => {
      const elsewhere = (ctx.headers as Record<string, unknown> | undefined)?.[HEADER] as Elsewhere | undefined;
      if (!parts || !elsewhere || ctx.nodeID === nodeId || !ctx.action) return next(ctx);
      const action = ctx.action.name!;
      if (watch.isCutOff && isServedElsewhere(action)) return Promise.reject(refused());
      if (elsewhere === "before") return next(ctx);
      return unlessRerouted(next(ctx)).catch((error: unknown) => {
        const mayReroute = isServiceError(error, "UNAVAILABLE") && !error.data.elsewhere && isServedElsewhere(action);
        throw mayReroute ? availableElsewhere(error.data.reason ?? error.message) : error;
      });
    };
  }

  const callAnyNode =
    (next: CallFunction) =>
    async (name: string, params: unknown, options: CallingOptions): Promise<unknown> => {
      const { stream } = options as { stream?: Readable };
      const headers = { ...options.headers, [HEADER]: options.retries ? "any time" : "before" };
      const untilMs = performance.now() + TRY_FOR_MS;
      for (let tries = 1; ; tries++) {
        try {
          return await next(name, params, { ...options, headers });
        } catch (error) {
          const isLastTry = tries === MAX_TRIES || performance.now() > untilMs;
          if (isLastTry || !isRetryableElsewhere(error, name) || !isUnread(stream)) throw error;
          await sleep(RETRY_MS * 4 ** (tries - 1));
        }
      }
    };

  const call = (next: CallFunction): CallFunction => {
    const anyone = callAnyNode(next);
    // A call that names a node must go to that node; a retry has its headers already.
    return (name, params, options = {}) =>
      !parts || options.nodeID || options.ctx ? next(name, params, options) : anyone(name, params, options);
  };

  return {
    name: "Reroute",
    localAction,
    call,
    created(broker: ServiceBroker) {
      if (!broker.options.transporter) return;
      parts = broker as unknown as BrokerParts;
      nodeId = broker.nodeID;
      left = new LeftNodes(broker);
    },
    async started() {
      if (parts) watch.start();
    },
    async stopping() {
      await watch.stop();
    },
  } as unknown as Middleware;
}
