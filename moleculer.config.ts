import type { BrokerOptions } from "moleculer";
import { AjvValidator } from "./mixins/ajv-validator.ts";
import { baseUrlWarning } from "./mixins/base-url.middleware.ts";
import { database } from "./mixins/database.middleware.ts";
import { freePorts } from "./mixins/free-ports.middleware.ts";
import { health } from "./mixins/health.middleware.ts";
import { callIds, logger } from "./mixins/logging.middleware.ts";
import { natsLink } from "./mixins/nats-link.middleware.ts";
import { redisConnection } from "./mixins/redis.middleware.ts";
import { startBanner } from "./mixins/start-banner.middleware.ts";
import { events } from "./services/events.ts";
import { type Config, ConfigError, config } from "./services/lib/config.ts";
import { ownProcess } from "./services/lib/processes/lifetime.ts";
import { replCommands } from "./services/operator/repl.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const HEARTBEAT_SECONDS = 2;

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
    transporter: (settings.TRANSPORTER ?? null) as BrokerOptions["transporter"],
    // Dates and Buffers arrive alike in one process and over NATS.
    serializer: "JSONExt",
    validator: new AjvValidator(events),
    logger: logger(settings),
    logLevel: settings.LOGLEVEL === "trace" ? "trace" : settings.LOGLEVEL,
    // Moleculer's default is to wait for ever.
    requestTimeout: REQUEST_TIMEOUT_MS,
    registry: { preferLocal: true },
    // Only calls that say so (`retries`) are repeated, on another node where there is one.
    retryPolicy: { enabled: true, retries: 0 },
    // A node that was killed cannot say goodbye; until it is missed, calls that went to it wait for their time-out.
    heartbeatInterval: HEARTBEAT_SECONDS,
    heartbeatTimeout: 3 * HEARTBEAT_SECONDS,
    // Bounds the wait of a graceful stop for calls in flight.
    tracking: { enabled: true, shutdownTimeout: 4_000 },
    internalServices: node.internalServices,
    replOptions: { delimiter: "flockmail $", customCommands: replCommands },
    middlewares: [
      callIds,
      trackCalleeOnly,
      natsLink(),
      node.middleware,
      database(settings),
      redisConnection(settings),
    ] as BrokerOptions["middlewares"],
  };
}

function settingsOrExit(): Config {
  try {
    return config();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(78);
  }
}

export default () => {
  const settings = settingsOrExit();
  const options = brokerOptions(settings);
  const atStart = [startBanner(settings), baseUrlWarning(settings)];
  return ownProcess({ ...options, middlewares: [freePorts(settings), ...options.middlewares!, ...atStart] });
};
