/**
 * Broker middleware: opens the connection to Redis where REDIS_URL is set. A node starts and serves without it, but not
 * with a server that could never count.
 */
import type { Middleware, ServiceBroker } from "moleculer";
import type { Config } from "../services/lib/config.ts";
import { connectRedis, keepRedis, redis, redisServer } from "../services/lib/redis.ts";

/** Exit code of sysexits.h, as for every rejected configuration. */
const EX_CONFIG = 78;

const refusal = (text: string) => Object.assign(new Error(text), { exitCode: EX_CONFIG });

function opened(url: string, caFile: string | undefined) {
  try {
    return connectRedis(url, caFile);
  } catch (error) {
    throw refusal(`REDIS_CA: ${(error as Error).message}`);
  }
}

export function redisConnection(config: Config): Middleware {
  return {
    name: "Redis",

    async starting(broker: ServiceBroker) {
      if (!config.REDIS_URL) return;
      const client = opened(config.REDIS_URL, config.REDIS_CA);
      keepRedis(client);
      let away = false;
      client.on("error", (error: Error) => {
        if (!away) broker.logger.warn(`Redis is unavailable: ${error.message || "no connection"}`);
        away = true;
      });
      let warned: string | undefined;
      let starting = true;
      client.on("ready", () => {
        if (away) broker.logger.info("Redis is available again");
        away = false;
        redisServer(client).then(
          ({ unusable, warning }) => {
            // An unusable Redis already prevents the start.
            const text = starting ? warning : (unusable ?? warning);
            if (text && text !== warned) broker.logger.warn(text);
            warned = text;
          },
          () => {},
        );
      });
      await client.connect().catch(() => {});
      const server = await redisServer(client).catch(() => undefined);
      starting = false;
      if (server?.unusable) throw refusal(`REDIS_URL: ${server.unusable}`);
    },

    // Two SIGTERMs run every `stopped` twice.
    async stopped() {
      const closing = redis();
      keepRedis(undefined);
      closing?.disconnect();
    },
  } as Middleware;
}
