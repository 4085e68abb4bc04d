/** Broker middleware: opens the connection to Redis where REDIS_URL is set. A node starts and serves without it. */
import type { Middleware, ServiceBroker } from "moleculer";
import type { Config } from "../services/lib/config.ts";
import { connectRedis, keepRedis, redis } from "../services/lib/redis.ts";

export function redisConnection(config: Config): Middleware {
  return {
    name: "Redis",

    async starting(broker: ServiceBroker) {
      if (!config.REDIS_URL) return;
      const client = connectRedis(config.REDIS_URL);
      keepRedis(client);
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
      const closing = redis();
      keepRedis(undefined);
      closing?.disconnect();
    },
  } as Middleware;
}
