/**
 * Connects the process to Redis. Redis only counts, so a command fails immediately during an outage (nothing is
 * queued), and after COMMAND_TIMEOUT_MS if Redis hangs. Without REDIS_URL there is one process, which counts in memory.
 *
 * | content                                           | during an outage                                      | where, in services/                          |
 * |---------------------------------------------------|-------------------------------------------------------|----------------------------------------------|
 * | throttles, API calls of a day, logins, test sends | each process counts for itself, requests pass         | lib/limits/api-limiter.ts                    |
 * | emails per company and hour                       | companies with a limit wait, others continue          | smtp-sender/limits/sender-limiter.ts         |
 * | max_per_second, max_per_minute of a domain        | their mail waits                                      | smtp-sender/limits/sender-limiter.ts         |
 * | connections of an SMTP configuration              | each sender keeps its connections and opens no others | smtp-sender/limits/connection-slots-redis.ts |
 *
 * All cases of senders: "Without Redis" in services/smtp-sender/README.md. A node stays ready
 * (mixins/health.middleware.ts), and starts, without it (mixins/redis.middleware.ts).
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Redis, type RedisOptions } from "ioredis";
import { parseRedisUrl, type RedisTarget } from "./redis-url.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 500;
// A connection without an answer for this long is dead and replaced, so that a lost peer is noticed within seconds.
const SOCKET_TIMEOUT_MS = 3_000;
const MAX_RECONNECT_PAUSE_MS = 1_000;

let client: Redis | undefined;

/** The process's connection to Redis; undefined if everything is counted in the process. */
export const redis = (): Redis | undefined => client;

export const keepRedis = (opened: Redis | undefined): void => {
  client = opened;
};

function addressOptions({ addresses, sentinel, tls, ...login }: RedisTarget, ca: string | undefined): RedisOptions {
  const secure = tls ? { tls: ca === undefined ? {} : { ca } } : {};
  if (!sentinel) return { ...addresses[0], ...login, ...secure };
  return {
    ...login,
    ...secure,
    ...(tls ? { sentinelTLS: secure.tls, enableTLSForSentinelMode: true } : {}),
    sentinels: addresses,
    name: sentinel.group,
    role: "master",
    ...(sentinel.username ? { sentinelUsername: sentinel.username } : {}),
    ...(sentinel.password ? { sentinelPassword: sentinel.password } : {}),
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    sentinelRetryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_PAUSE_MS),
  };
}

/** Last error of each connection: explains why a command finds none. */
const lastErrors = new WeakMap<Redis, Error>();

/** `caFile`: certificate authority of the server, if the system does not know it. */
export function connectRedis(url: string, caFile?: string): Redis {
  const target = parseRedisUrl(url);
  if (!target) throw new Error("REDIS_URL is no URL of a Redis server");
  const opened = new Redis({
    ...addressOptions(target, caFile === undefined ? undefined : readFileSync(caFile, "utf8")),
    lazyConnect: true,
    keyPrefix: "flockmail:",
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    enableOfflineQueue: false,
    // A command whose answer was lost may have counted: better an error than counting twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_PAUSE_MS),
    // The server became a replica. The new primary has the same address, or the Sentinels know it.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  opened.on("error", (error: Error) => lastErrors.set(opened, error));
  opened.on("ready", () => lastErrors.delete(opened));
  return opened;
}

/** Runs a Lua script by its digest and sends the whole text only if Redis does not know it. */
export function luaScript(source: string) {
  const digest = createHash("sha1").update(source).digest("hex");
  return async (redis: Redis, keys: string[], args: (string | number)[]): Promise<unknown> => {
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      return redis.eval(source, keys.length, ...keys, ...args);
    }
  };
}

interface RedisServer {
  /** Identity of the server: changes with each start, promotion of a replica, and server. */
  id: string;
  /** "Redis 7.0.15" or "Valkey 8.1.1". */
  name: string;
  /** Reason why limits cannot be counted on it. */
  unusable: string | undefined;
  /** Advice for the operator. */
  warning: string | undefined;
}

const servers = new WeakMap<Redis, RedisServer>();
const watched = new WeakSet<Redis>();

// Scripts that read the time and then write need 5; users (ACL) and our tests need 6.
const MIN_MAJOR = 6;

function describe(info: string): RedisServer {
  const values: Record<string, string> = {};
  for (const line of info.split("\r\n")) values[line.slice(0, line.indexOf(":"))] = line.slice(line.indexOf(":") + 1);
  const { run_id, master_replid, redis_version, valkey_version, cluster_enabled, maxmemory, maxmemory_policy } = values;
  // Valkey reports in redis_version the Redis version it is compatible with.
  const name = valkey_version ? `Valkey ${valkey_version}` : `Redis ${redis_version}`;
  const evicts = maxmemory !== "0" && maxmemory_policy !== undefined && maxmemory_policy !== "noeviction";
  return {
    id: `${run_id}:${master_replid}`,
    name,
    unusable:
      cluster_enabled === "1"
        ? `${name} runs in Cluster mode, which is not supported: limits need one server, or one behind Sentinels`
        : Number.parseInt(redis_version ?? "", 10) < MIN_MAJOR
          ? `${name} is too old: Redis ${MIN_MAJOR} or later, or Valkey, is needed`
          : undefined,
    warning: evicts
      ? `${name} may throw counts away (maxmemory-policy ${maxmemory_policy}): set it to noeviction`
      : undefined,
  };
}

/** The server of the current connection, asked once per connection. */
export async function redisServer(redis: Redis): Promise<RedisServer> {
  const cached = servers.get(redis);
  if (cached) return cached;
  if (!watched.has(redis)) redis.on("close", () => servers.delete(redis));
  watched.add(redis);
  const server = describe(await redis.info());
  // If the connection ends, the command fails, so the answer is from this connection.
  if (redis.status === "ready") servers.set(redis, server);
  return server;
}

// Like the limiter's script: reads the time and writes two keys.
const probe = luaScript(`
  local time = redis.call('TIME')
  redis.call('SET', KEYS[1], time[1], 'PX', 10000)
  return redis.call('SET', KEYS[2], time[1], 'PX', 10000)`);

/** Rejects with the reason if limits cannot be counted, even if the server answers PING. */
export async function redisWorks(redis: Redis): Promise<void> {
  if (redis.status !== "ready") throw lastErrors.get(redis) ?? new Error("no connection");
  const { unusable } = await redisServer(redis);
  if (unusable) throw new Error(unusable);
  await probe(redis, ["works:1", "works:2"], []);
}
