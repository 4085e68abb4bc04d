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
import { startBanner } from "./mixins/start-banner.middleware.ts";
import { OthersFirst, stepAside } from "./mixins/step-aside.middleware.ts";
import { tracing } from "./mixins/tracing.middleware.ts";
import { uploads } from "./mixins/uploads.middleware.ts";
import { workerThreads } from "./mixins/workers.middleware.ts";
import { events } from "./services/events.ts";
import { type Config, ConfigError, config } from "./services/lib/config.ts";
import { ownProcess } from "./services/lib/processes/lifetime.ts";
import { replCommands } from "./services/operator/repl.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const HEARTBEAT_SECONDS = 1;

/** A call that timed out is not among them: a node may be slow because it has much to do. */
const NO_NODE_ANSWERED = new Set(["RequestRejectedError", "ServiceNotAvailableError", "BrokerDisconnectedError"]);

type CallFunction = (name: string, params: unknown, options?: object) => Promise<unknown>;

// Bug in 0.15: with tracking on, every remote call that times out leaks its context on the caller's side.
const trackCalleeOnly = {
  name: "TrackCalleeOnly",
  call: (next: CallFunction) => (name: string, params: unknown, options?: object) =>
    next(name, params, { tracking: false, ...options }),
};

/** Broker options for this process; tests make their own from another configuration. */
export function brokerOptions(settings: Config): BrokerOptions {
  const node = health(settings);
  return {
    namespace: "flockmail",
    nodeID: nodeIdOfThisStart(),
    transporter: (settings.TRANSPORTER ? new NatsTransporter(settings) : null) as never,
    // Dates and Buffers arrive alike in one process and over NATS.
    serializer: "JSONExt",
    validator: new AjvValidator(events),
    logger: logger(settings),
    logLevel: settings.LOGLEVEL === "trace" ? "trace" : settings.LOGLEVEL,
    // Moleculer's default is to wait for ever.
    requestTimeout: REQUEST_TIMEOUT_MS,
    registry: { preferLocal: true, strategy: OthersFirst as never },
    // Only calls that say so (`retries`) are repeated, on another node where there is one, and only where no node answered.
    retryPolicy: { enabled: true, retries: 0, check: (error: Error) => NO_NODE_ANSWERED.has(error?.name) },
    // A node that was killed cannot say goodbye; until it is missed, calls that went to it wait for their time-out.
    heartbeatInterval: HEARTBEAT_SECONDS,
    heartbeatTimeout: 5 * HEARTBEAT_SECONDS,
    // Bounds the wait of a graceful stop for calls in flight.
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
      // Outside of the database's own: it looks at what that made of an error.
      stepAside(),
      // Outside of the calls that are repeated on another node: an upload is removed after the last one.
      uploads(),
      leave(),
    ] as BrokerOptions["middlewares"],
  };
}

/**
 * An id for each start. A container that restarts in place has the same host name and process id: with the same id the
 * other nodes would take it for the one that died, and go on waiting for the answers to calls that died with it.
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
 * Moleculer's runner puts the text of an environment variable in the place of the option of that name. The configuration
 * is read by then; what is left of the variable would undo the transporter made from it.
 */
export const hideFromRunner = (): void => void delete process.env.TRANSPORTER;

export default () => {
  const settings = settingsOrExit();
  hideFromRunner();
  const options = brokerOptions(settings);
  const atStart = [startBanner(settings), baseUrlWarning(settings)];
  return ownProcess(settings, { ...options, middlewares: [freePorts(settings), ...options.middlewares!, ...atStart] });
};
