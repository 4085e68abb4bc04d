/**
 * Broker middleware: what the nodes of a cluster do while NATS, or one of them, is away. A call to another node fails at once
 * where the connection is known to be broken, and not after its time-out: what is published then is lost, and a client is
 * better served by "503, try again" at once. A node that went silent is missed within eight seconds, and calls that wait for
 * it fail then.
 */
import { type Context, Errors, type Middleware, type ServiceBroker } from "moleculer";
import { connect } from "nats";
import type { Config } from "../services/lib/config.ts";
import { natsAddresses, natsOptions } from "../services/lib/nats.ts";
import { NatsTransporter } from "./nats-transporter.ts";

type Handler = (ctx: Context) => Promise<unknown>;

/** Moleculer looks only once per time-out of a heartbeat, so that missing a node would take twice as long. */
const MISSED_CHECK_MS = 1_000;

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
      const { transit, registry } = broker as unknown as {
        transit?: { tx: unknown };
        registry: { discoverer: { checkRemoteNodes(): void } };
      };
      if (!(transit?.tx instanceof NatsTransporter)) return;
      transporter = transit.tx;
      await refuseUnusable(settings);
      checks = setInterval(() => registry.discoverer.checkRemoteNodes(), MISSED_CHECK_MS);
      checks.unref();
    },
    async stopped() {
      clearInterval(checks);
    },
  } as unknown as Middleware;
}
