/**
 * Broker middleware: a node of a cluster that is cut off from PostgreSQL, and not from NATS, steps aside. The others see it
 * live, and would go on giving it its share of the calls, each of which hangs until its time-out.
 *
 * - It says so in its node's metadata, and `OthersFirst` leaves it out for as long as there is another one.
 * - A call that comes nevertheless is refused before anything of it has begun; the caller asks another node.
 * - Calls that only read (`retries`: they may be repeated) are given back in the same way while they wait in it, and when
 *   they fail because the database is away.
 *
 * When all nodes of a service are cut off nobody steps aside: it is the database, and what is asked waits for it.
 *
 * A node that stops takes leave, and refuses 100 ms later what comes nevertheless: a caller that gets no CPU for so long still
 * asks it, or asks it when it is gone (leave.middleware.ts). Nothing of such a call has begun either, and another node is asked: a rollout
 * costs nobody a 503.
 */
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type CallingOptions, type Context, type Middleware, type ServiceBroker, Strategies } from "moleculer";
import { askDatabase, giveUpLostConnections } from "../models/database/db.ts";
import { availableElsewhere, isServiceError } from "../services/lib/errors.ts";
import { LeftNodes } from "./leave.middleware.ts";
import { isStored } from "./uploads.middleware.ts";

const ASK_EVERY_MS = 500;
/** Longer than a database under load takes for `select 1` over a connection of its own. */
const CUT_OFF_AFTER_MS = 1_500;
/** As many nodes of one service may be cut off at once; beyond it, or after this time, the answer is 503. */
const MOST_TRIES = 4;
const TRY_UNTIL_MS = 4_000;
/** Four times as long after each: nodes that are all cut off at one moment know of each other a moment later. */
const TRY_AGAIN_MS = 50;

/** In the headers of a remote call: its caller asks another node if this one refuses it before it begins, or also later. */
const HEADER = "elsewhere";
type Elsewhere = "before" | "any time";

interface Node {
  id: string;
  metadata?: { steppedAside?: boolean } | null;
}
interface Endpoint {
  node: Node;
}
type CallFunction = (name: string, params: unknown, options?: CallingOptions & { ctx?: Context }) => Promise<unknown>;
type Handler = (ctx: Context) => Promise<unknown>;

const isAside = ({ node }: Endpoint) => node.metadata?.steppedAside === true;

/** Round robin among those that have not stepped aside, if there are any. */
export class OthersFirst extends Strategies.RoundRobin {
  override select(list: never[]): never {
    if (!list.some(isAside)) return super.select(list) as never;
    const others = list.filter((endpoint) => !isAside(endpoint));
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
 * Moleculer's own refusal of this call by a node that is stopping. One that names no node says that there is none, and one
 * of another action comes from within a call that has begun.
 */
function isFromStopping(error: unknown, action: string): boolean {
  const { name, data } = (error ?? {}) as { name?: string; data?: { action?: string; nodeID?: string } };
  return name === "ServiceNotAvailableError" && data?.action === action && data.nodeID !== undefined;
}

/** Of this process: the node that it asked is gone, and took leave. */
function isFromLeft(error: unknown, action: string, left: LeftNodes): boolean {
  const { name, data } = (error ?? {}) as { name?: string; data?: { action?: string; nodeID?: string } };
  return name === "RequestRejectedError" && data?.action === action && left.has(data.nodeID);
}

/** Another node can still read all of it. */
const isUnread = (stream: Readable | undefined) =>
  !stream || isStored(stream) || !(stream.readableDidRead || stream.destroyed);

/** Whether the database answers, asked twice a second over a connection of its own. */
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
    // An answer that came while this process was busy is read before it is missed.
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

export function stepAside(): Middleware {
  let parts: BrokerParts | undefined;
  let left: LeftNodes | undefined;
  let nodeId = "";
  /** Calls from other nodes that only read and wait here: each can be given back. */
  const waiting = new Set<() => void>();

  const someoneElseTakes = (action: string): boolean => {
    const { endpoints = [] } = parts?.registry.actions.get(action) ?? {};
    return endpoints.some((endpoint) => endpoint.node.id !== nodeId && !isAside(endpoint));
  };

  const changed = (isCutOff: boolean): void => {
    // Saying it now would announce the services of a node that is stopping once more.
    if (!parts!.started) return;
    parts!.metadata.steppedAside = isCutOff;
    parts!.registry.localNodeInfoInvalidated = "seq";
    // While NATS is away too nobody hears of it, and nobody calls; the next heartbeat says that something has changed.
    parts!.registry.discoverer.sendLocalNodeInfo().catch(() => {});
    if (isCutOff) for (const giveBack of [...waiting]) giveBack();
    else giveUpLostConnections().catch(() => {});
  };
  const watch = new DatabaseWatch(changed);

  const mayAskElsewhere = (error: unknown, action: string) =>
    isFromStopping(error, action) ||
    isFromLeft(error, action, left!) ||
    (isServiceError(error, "UNAVAILABLE") && error.data.elsewhere === true);

  const untilGivenBack = async (work: Promise<unknown>): Promise<unknown> => {
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
      if (watch.isCutOff && someoneElseTakes(action)) return Promise.reject(refused());
      if (elsewhere === "before") return next(ctx);
      return untilGivenBack(next(ctx)).catch((error: unknown) => {
        const mayBeHere = isServiceError(error, "UNAVAILABLE") && !error.data.elsewhere && someoneElseTakes(action);
        throw mayBeHere ? availableElsewhere(error.data.reason ?? error.message) : error;
      });
    };
  }

  const callAnyone =
    (next: CallFunction) =>
    async (name: string, params: unknown, options: CallingOptions): Promise<unknown> => {
      const { stream } = options as { stream?: Readable };
      const headers = { ...options.headers, [HEADER]: options.retries ? "any time" : "before" };
      const untilMs = performance.now() + TRY_UNTIL_MS;
      for (let tries = 1; ; tries++) {
        try {
          return await next(name, params, { ...options, headers });
        } catch (error) {
          const isOver = tries === MOST_TRIES || performance.now() > untilMs;
          if (isOver || !mayAskElsewhere(error, name) || !isUnread(stream)) throw error;
          await sleep(TRY_AGAIN_MS * 4 ** (tries - 1));
        }
      }
    };

  const call = (next: CallFunction): CallFunction => {
    const anyone = callAnyone(next);
    // One that names its node means that node; a repetition has its headers already.
    return (name, params, options = {}) =>
      !parts || options.nodeID || options.ctx ? next(name, params, options) : anyone(name, params, options);
  };

  return {
    name: "StepAside",
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
