/**
 * Broker middleware: what the nodes of a cluster do while NATS, or one of them, is away. A call to another node fails at once
 * where the connection is known to be broken, and not after its time-out: what is published then is lost, and a client is
 * better served by "503, try again" at once. A node that went silent is missed a quarter of a second after its heartbeats'
 * time-out (moleculer.config.ts), and calls that wait for it fail then.
 */
import { type Context, Errors, type Middleware, type ServiceBroker } from "moleculer";
import { connect } from "nats";
import type { Config } from "../services/lib/config.ts";
import { natsAddresses, natsOptions } from "../services/lib/nats.ts";
import { NatsTransporter } from "./nats-transporter.ts";

type Handler = (ctx: Context) => Promise<unknown>;

const CHECK_EVERY_MS = 250;
/** A look that comes later than that comes from a process that was absent: the rest does not count. */
const MAX_LATE_MS = 1_000;

interface RemoteNode {
  id: string;
  local: boolean;
  available: boolean;
  /** In whole seconds of this process' life; heartbeats are further apart. */
  lastHeartbeatTime: number | null;
}
interface Registry {
  nodes: { toArray(): RemoteNode[]; disconnected(id: string, isUnexpected: boolean): void };
  discoverer: { checkRemoteNodes(): void };
}

/**
 * Who went silent. Moleculer looks once per time-out and reckons in whole seconds, so that it takes up to twice as long; and
 * after a time in which this process itself got no CPU it would take all others for gone before it reads what they sent.
 * Here time counts only as far as this process was there to listen.
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

/** What time heals: the servers are not up yet, or not to be reached. */
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
