import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { BrokerOptions } from "moleculer";
import { AjvValidator } from "./mixins/ajv-validator.ts";
import { baseUrlWarning } from "./mixins/base-url.middleware.ts";
import { database } from "./mixins/database.middleware.ts";
import { freePorts } from "./mixins/free-ports.middleware.ts";
import { health } from "./mixins/health.middleware.ts";
import { leave } from "./mixins/leave.middleware.ts";
import { callIds, logger } from "./mixins/logging.middleware.ts";
import { natsLink } from "./mixins/nats-link.middleware.ts";
import { NatsTransporter } from "./mixins/nats-transporter.ts";
import { redisConnection } from "./mixins/redis.middleware.ts";
import { PreferConnected, rerouteCalls } from "./mixins/reroute.middleware.ts";
import { startBanner } from "./mixins/start-banner.middleware.ts";
import { tracing } from "./mixins/tracing.middleware.ts";
import { uploads } from "./mixins/uploads.middleware.ts";
import { workerThreads } from "./mixins/workers.middleware.ts";
import { events } from "./services/events.ts";
import { type Config, ConfigError, config } from "./services/lib/config.ts";
import { ownProcess } from "./services/lib/processes/lifetime.ts";
import { replCommands } from "./services/operator/repl.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const HEARTBEAT_SECONDS = 1;

/** Errors after which a call may be repeated. Not timeouts: a slow node may still be working on the call. */
const NO_NODE_ANSWERED = new Set(["RequestRejectedError", "ServiceNotAvailableError", "BrokerDisconnectedError"]);

type CallFunction = (name: string, params: unknown, options?: object) => Promise<unknown>;

// Bug in 0.15: with tracking on, every remote call that times out leaks its context on the caller's side.
const trackCalleeOnly = {
  name: "TrackCalleeOnly",
  call: (next: CallFunction) => (name: string, params: unknown, options?: object) =>
    next(name, params, { tracking: false, ...options }),
};

/** Broker options of this process; tests pass another configuration. */
export function brokerOptions(settings: Config): BrokerOptions {
  const node = health(settings);
  return {
    namespace: "flockmail",
    nodeID: nodeIdOfThisStart(),
    transporter: (settings.TRANSPORTER ? new NatsTransporter(settings) : null) as never,
    // Serialises Dates and Buffers over NATS; JSON would not restore them.
    serializer: "JSONExt",
    validator: new AjvValidator(events),
    logger: logger(settings),
    logLevel: settings.LOGLEVEL === "trace" ? "trace" : settings.LOGLEVEL,
    // Moleculer waits forever by default.
    requestTimeout: REQUEST_TIMEOUT_MS,
    registry: { preferLocal: true, strategy: PreferConnected as never },
    // Repeats only calls with `retries`, on another node if there is one, and only if no node answered.
    retryPolicy: { enabled: true, retries: 0, check: (error: Error) => NO_NODE_ANSWERED.has(error?.name) },
    // A killed node cannot sign off; calls sent to it wait for their timeout until it is detected.
    heartbeatInterval: HEARTBEAT_SECONDS,
    heartbeatTimeout: 5 * HEARTBEAT_SECONDS,
    // Limits how long a graceful stop waits for calls in flight.
    tracking: { enabled: true, shutdownTimeout: settings.DRAIN_SECONDS * 1_000 },
    internalServices: node.internalServices,
    replOptions: { delimiter: "flockmail $", customCommands: replCommands },
    middlewares: [
      callIds,
      tracing(settings),
      trackCalleeOnly,
      natsLink(settings),
      node.middleware,
      database(settings),
      redisConnection(settings),
      workerThreads,
      // Outside of the database's middleware, because it reads the errors which that one translates.
      rerouteCalls(),
      // Outside of the retries on other nodes: an upload is removed after the last one.
      uploads(),
      leave(),
    ] as BrokerOptions["middlewares"],
  };
}

/**
 * A new node id for each start. A container restarted in place keeps its host name and process id; with the same id
 * other nodes would consider it the old node and keep waiting for calls that died with it.
 */
export const nodeIdOfThisStart = (): string =>
  `${hostname().toLowerCase()}-${process.pid}-${randomBytes(4).toString("hex")}`;

function settingsOrExit(): Config {
  try {
    return config();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(78);
  }
}

/**
 * Moleculer's runner overrides options with environment variables of the same name, and would replace the transporter
 * that the configuration built.
 */
export const hideFromRunner = (): void => void delete process.env.TRANSPORTER;

export default () => {
  const settings = settingsOrExit();
  hideFromRunner();
  const options = brokerOptions(settings);
  const atStart = [startBanner(settings), baseUrlWarning(settings)];
  return ownProcess(settings, { ...options, middlewares: [freePorts(settings), ...options.middlewares!, ...atStart] });
};
