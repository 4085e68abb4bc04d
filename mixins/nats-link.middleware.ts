/**
 * Broker middleware: handles outages of NATS and of other nodes. A call to another node fails at once if the connection
 * is known to be broken: published messages would be lost, and an immediate 503 is better for a client than a time-out.
 * A silent node is detected a quarter of a second after its heartbeat time-out (moleculer.config.ts), and calls waiting
 * for it then fail.
 */
import { type Context, Errors, type Middleware, type ServiceBroker } from "moleculer";
import { connect } from "nats";
import type { Config } from "../services/lib/config.ts";
import { natsAddresses, natsOptions } from "../services/lib/nats.ts";
import { NatsTransporter } from "./nats-transporter.ts";

type Handler = (ctx: Context) => Promise<unknown>;

const CHECK_EVERY_MS = 250;
/** A check that runs later than this means that the process was suspended: the extra time does not count. */
const MAX_LATE_MS = 1_000;

interface RemoteNode {
  id: string;
  local: boolean;
  available: boolean;
  /** Whole seconds since the process started; heartbeats are further apart. */
  lastHeartbeatTime: number | null;
}
interface Registry {
  nodes: { toArray(): RemoteNode[]; disconnected(id: string, isUnexpected: boolean): void };
  discoverer: { checkRemoteNodes(): void };
}

/**
 * Detects silent nodes. Moleculer checks once per time-out in whole seconds, which takes up to twice as long; and after
 * a time without CPU it would consider all other nodes dead before reading their messages. Here only time in which this
 * process was able to listen counts.
 */
class Silence {
  readonly #registry: Registry;
  readonly #mostMs: number;
  readonly #missed: (id: string) => void;
  readonly #heard = new Map<string, { at: number | null; silentMs: number }>();
  #lookedMs = performance.now();

  constructor(registry: Registry, mostMs: number, missed: (id: string) => void) {
    this.#registry = registry;
    this.#mostMs = mostMs;
    this.#missed = missed;
  }

  look(): void {
    const nowMs = performance.now();
    const listenedMs = Math.min(nowMs - this.#lookedMs, MAX_LATE_MS);
    this.#lookedMs = nowMs;
    const remote = this.#registry.nodes.toArray().filter(({ local, available }) => !local && available);
    for (const id of this.#heard.keys()) if (!remote.some((node) => node.id === id)) this.#heard.delete(id);
    for (const { id, lastHeartbeatTime: at } of remote) {
      const before = this.#heard.get(id);
      const silentMs = before?.at === at ? before.silentMs + listenedMs : 0;
      this.#heard.set(id, { at, silentMs });
      if (silentMs > this.#mostMs) this.#missed(id);
    }
  }
}

/** Temporary errors: the servers are not up yet, or unreachable. */
const TRANSIENT = /^(CONNECTION_REFUSED|CONNECTION_TIMEOUT|TIMEOUT|DISCONNECT|E[A-Z_]+)$/;
const isPermanent = (code: string | undefined) => code !== undefined && (!TRANSIENT.test(code) || /^ERR_/.test(code));

const REASONS: Record<string, string> = {
  AUTHORIZATION_VIOLATION: "it refuses the user, password or token",
  BAD_AUTHENTICATION: "it refuses the user, password or token",
  BAD_CREDS: "NATS_CREDENTIALS_FILE holds no credentials",
  SERVER_OPT_NA: "it offers no TLS",
};

/** Moleculer tries for ever to connect, also where a wrong password or certificate will never be right. */
async function refuseUnusable(settings: Config): Promise<void> {
  const options = natsOptions(settings, "flockmail-check");
  try {
    const client = await connect({ ...options, reconnect: false });
    await client.close();
  } catch (error) {
    const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
    if (!isPermanent(code)) return;
    throw new Error(`cannot use NATS at ${natsAddresses(settings)} (TRANSPORTER): ${REASONS[code ?? ""] ?? message}`);
  }
}

export function natsLink(settings: Config): Middleware {
  let transporter: NatsTransporter | undefined;
  let checks: NodeJS.Timeout | undefined;

  return {
    name: "NatsLink",
    remoteAction:
      (next: Handler): Handler =>
      (ctx) =>
        transporter?.isAway
          ? Promise.reject(new Errors.RequestRejectedError({ action: ctx.action?.name, nodeID: ctx.nodeID }))
          : next(ctx),
    async starting(broker: ServiceBroker) {
      const { transit, registry } = broker as unknown as { transit?: { tx: unknown }; registry: Registry };
      if (!(transit?.tx instanceof NatsTransporter)) return;
      transporter = transit.tx;
      await refuseUnusable(settings);
      const silence = new Silence(registry, broker.options.heartbeatTimeout! * 1_000, (id) => {
        broker.logger.warn(`Heartbeat is not received from '${id}' node.`);
        registry.nodes.disconnected(id, true);
      });
      registry.discoverer.checkRemoteNodes = () => {};
      checks = setInterval(() => silence.look(), CHECK_EVERY_MS);
      checks.unref();
    },
    async stopped() {
      clearInterval(checks);
    },
  } as unknown as Middleware;
}
