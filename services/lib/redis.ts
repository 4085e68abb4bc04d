/**
 * The process's connection to Redis. Redis only counts, so a command fails immediately while Redis is away (nothing
 * queues up), and after COMMAND_TIMEOUT_MS when it hangs.
 */
import { createHash } from "node:crypto";
import { Redis } from "ioredis";

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 500;
// A connection without an answer for this long is dead and replaced, so that a lost peer is noticed within seconds.
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
    // A command whose answer was lost may have counted: better an error than counting twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_PAUSE_MS),
  });
}

export interface RedisServer {
  /** Another one for each start, each promotion of a replica, and each server. */
  id: string;
}

const servers = new WeakMap<Redis, RedisServer>();
const watched = new WeakSet<Redis>();

const valuesOf = (info: string): Record<string, string> =>
  Object.fromEntries(info.split("\r\n").flatMap((line) => (line.includes(":") ? [line.split(":", 2)] : [])));

/** The server that the present connection leads to: asked once for each connection. */
export async function redisServer(client: Redis): Promise<RedisServer> {
  const known = servers.get(client);
  if (known) return known;
  if (!watched.has(client)) client.on("close", () => servers.delete(client));
  watched.add(client);
  const { run_id, master_replid } = valuesOf(await client.info());
  const server = { id: `${run_id}:${master_replid}` };
  // A connection that ended meanwhile fails the command, so this is the one that answered.
  if (client.status === "ready") servers.set(client, server);
  return server;
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

export const keepRedis = (opened: Redis | undefined): void => {
  client = opened;
};
