/**
 * Broker middleware: the connection to Redis, where REDIS_URL is set. Redis only counts, so a node starts and serves
 * without it: a command fails at once while Redis is away (nothing queues up), and after COMMAND_TIMEOUT_MS when it hangs.
 */
import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import type { Middleware, ServiceBroker } from "moleculer";
import type { Config } from "../services/config.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 500;
// A connection that owes an answer for this long is dead: replaced, so that a lost peer is noticed within seconds.
const SOCKET_TIMEOUT_MS = 3_000;
const MAX_RECONNECT_PAUSE_MS = 1_000;

let client: Redis | undefined;

/** The process's connection to Redis; undefined where everything is counted in the process. */
export const redis = (): Redis | undefined => client;

export function connectRedis(url: string): Redis {
  return new Redis(url, {
    lazyConnect: true,
    keyPrefix: "flockmail:",
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    enableOfflineQueue: false,
    // A command whose answer was lost may have counted: it fails instead of counting twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_PAUSE_MS),
  });
}

/** A Lua script that Redis keeps by its digest: sent whole only where it is not known yet. */
export function luaScript(source: string) {
  const digest = createHash("sha1").update(source).digest("hex");
  return async (on: Redis, keys: string[], args: (string | number)[]): Promise<unknown> => {
    try {
      return await on.evalsha(digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      return on.eval(source, keys.length, ...keys, ...args);
    }
  };
}

export function redisConnection(config: Config): Middleware {
  return {
    name: "Redis",

    async starting(broker: ServiceBroker) {
      if (!config.REDIS_URL) return;
      client = connectRedis(config.REDIS_URL);
      let away = false;
      client.on("error", (error: Error) => {
        if (!away) broker.logger.warn(`Redis is away: ${error.message || "no connection"}`);
        away = true;
      });
      client.on("ready", () => {
        if (away) broker.logger.info("Redis is back");
        away = false;
      });
      await client.connect().catch(() => {});
    },

    // Two SIGTERMs run every `stopped` twice.
    async stopped() {
      const closing = client;
      client = undefined;
      closing?.disconnect();
    },
  } as Middleware;
}
