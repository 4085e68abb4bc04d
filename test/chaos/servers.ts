/** The servers that a cluster uses, each of which can be killed, frozen and put back where it was. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { type Server, startNats, startRedis } from "../support/servers.ts";
import { dataFolder, untilDatabaseStarts } from "../support/service-process.ts";

const REDIS_COMMAND_MS = 5_000;
const QUERY_MS = 30_000;

export interface Breakable {
  port: number;
  /** As a URL without the way to it: scheme, user and path stay when a proxy's port is put in. */
  url: string;
  kill(): Promise<void>;
  /** After `kill`. */
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

const signalAll = (pids: number[], signal: NodeJS.Signals) => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A backend that has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
};

export interface BreakablePostgres extends Breakable {
  query<T>(sql: string, values?: unknown[], timeoutMs?: number): Promise<T[]>;
}

export async function breakablePostgres(): Promise<BreakablePostgres> {
  const folder = dataFolder();
  const port = await unusedPort();
  const start = () => startEmbeddedPostgres(folder.path, { port, max_connections: 400, fsync: "off" });
  let running: EmbeddedPostgres = await start();
  const postmaster = () => Number(readFileSync(join(folder.path, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
  const all = () => {
    const pid = postmaster();
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
    return [pid, ...children.map(Number)];
  };
  const { url } = running;
  return {
    port,
    url,
    async kill() {
      process.kill(postmaster(), "SIGKILL");
      await running.ended;
    },
    async start() {
      running = await untilDatabaseStarts(start);
    },
    freeze: () => signalAll(all(), "SIGSTOP"),
    thaw: () => signalAll(all().reverse(), "SIGCONT"),
    async stop() {
      await running.stop();
      folder.remove();
    },
    async query<T>(sql: string, values: unknown[] = [], timeoutMs = QUERY_MS) {
      const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
      const client = new pg.Client({ connectionString: url, ...limits });
      // A server that is killed in between.
      client.on("error", () => {});
      try {
        await client.connect();
        return (await client.query(sql, values)).rows as T[];
      } finally {
        await client.end();
      }
    },
  };
}

/** Redis or NATS. */
async function breakable(start: (options: { own: true; port?: number }) => Promise<Server>): Promise<Breakable> {
  let running = await start({ own: true });
  const port = Number(new URL(running.url).port);
  return {
    port,
    url: running.url,
    async kill() {
      running.child!.signal("SIGKILL");
      await running.child!.ended;
      await running.stop();
    },
    async start() {
      running = await start({ own: true, port });
    },
    freeze: () => running.child!.signal("SIGSTOP"),
    thaw: () => running.child!.signal("SIGCONT"),
    stop: () => running.stop(),
  };
}

export interface BreakableRedis extends Breakable {
  command(...words: string[]): Promise<unknown>;
}

export async function breakableRedis(): Promise<BreakableRedis> {
  const server = await breakable(startRedis);
  return {
    ...server,
    async command(name, ...rest) {
      const client = new Redis(server.port, { commandTimeout: REDIS_COMMAND_MS, maxRetriesPerRequest: 1 });
      try {
        return await client.call(name, ...rest);
      } finally {
        client.disconnect();
      }
    },
  };
}

export const breakableNats = (): Promise<Breakable> => breakable(startNats);
