/** Servers of a cluster that can be killed, frozen and restored. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import pg from "pg";
import type { NatsNode } from "../support/nats-cluster.ts";
import { type Postgres15, startPostgres15 } from "../support/postgres15.ts";
import { startRedis } from "../support/servers.ts";
import { untilDatabaseStarts } from "../support/service-process.ts";

const REDIS_COMMAND_MS = 5_000;
const QUERY_MS = 30_000;

export interface Breakable {
  port: number;
  /** URL of the server; callers replace its port by a proxy's. */
  url: string;
  kill(): Promise<void>;
  /** Restarts it after `kill`. */
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
      // The process may have ended already.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
};

export interface BreakablePostgres extends Breakable {
  query<T>(sql: string, values?: unknown[], timeoutMs?: number): Promise<T[]>;
  /** Promotes the replica after `kill`; returns its port. */
  takeOver(): Promise<number>;
  /** Gives the promoted server a new replica. */
  replicate(): Promise<void>;
}

async function queryAt<T>(url: string, sql: string, values: unknown[] = [], timeoutMs = QUERY_MS): Promise<T[]> {
  const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const client = new pg.Client({ connectionString: url, ...limits });
  // Without a listener, a connection lost while idle would throw.
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(sql, values)).rows as T[];
  } finally {
    await client.end();
  }
}

/** The postmaster and its backends. */
function processesOf(postmaster: number): number[] {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim();
  return [postmaster, ...children.split(" ").filter(Boolean).map(Number)];
}

const REPLICATED = ["max_connections=400", "wal_keep_size=512MB", "wal_retrieve_retry_interval=500ms"];
const STREAMS = "select count(*)::int as n from pg_stat_replication where state = 'streaming'";

/** A server with a synchronous replica, which therefore has everything that was acknowledged. */
export async function replicatedPostgres(): Promise<BreakablePostgres> {
  let primary: Postgres15 = await startPostgres15({ settings: REPLICATED });
  let replica: Postgres15 | undefined;
  const url = () => primary.url("postgres");
  // Set with ALTER SYSTEM on the primary only: with this setting a promoted replica would wait for a standby that does
  // not exist.
  const waitFor = async (standbys: string) => {
    await queryAt(url(), `alter system set synchronous_standby_names = '${standbys}'`);
    await queryAt(url(), "select pg_reload_conf()");
  };
  const replicate = async () => {
    replica = await startPostgres15({ settings: REPLICATED, replicaOf: primary.port });
    const deadline = Date.now() + QUERY_MS;
    while ((await queryAt<{ n: number }>(url(), STREAMS))[0]!.n === 0) {
      if (Date.now() > deadline) throw new Error("The replica does not stream");
      await sleep(50);
    }
    await waitFor("*");
  };
  await replicate();
  return {
    port: primary.port,
    url: url(),
    kill: () => primary.kill("SIGKILL"),
    start: () => untilDatabaseStarts(() => primary.start()),
    freeze: () => signalAll(processesOf(primary.pid()), "SIGSTOP"),
    thaw: () => signalAll(processesOf(primary.pid()).reverse(), "SIGCONT"),
    async stop() {
      await replica?.stop();
      await primary.stop();
    },
    query: (sql, values, timeoutMs) => queryAt(url(), sql, values, timeoutMs),
    async takeOver() {
      const gone = primary;
      primary = replica!;
      replica = undefined;
      await primary.promote();
      await waitFor("");
      await gone.stop();
      return primary.port;
    },
    replicate,
  };
}

export interface BreakableRedis extends Breakable {
  command(...words: string[]): Promise<unknown>;
}

export async function breakableRedis(): Promise<BreakableRedis> {
  let running = await startRedis({ own: true });
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
      running = await startRedis({ own: true, port });
    },
    freeze: () => running.child!.signal("SIGSTOP"),
    thaw: () => running.child!.signal("SIGCONT"),
    stop: () => running.stop(),
    async command(name, ...rest) {
      const client = new Redis(port, { commandTimeout: REDIS_COMMAND_MS, maxRetriesPerRequest: 1 });
      try {
        return await client.call(name, ...rest);
      } finally {
        client.disconnect();
      }
    },
  };
}

/** One of several NATS servers, which are stopped together. */
export const breakableNats = (node: NatsNode): Breakable => ({
  port: node.port,
  url: node.url,
  async kill() {
    node.child.signal("SIGKILL");
    await node.child.ended;
  },
  start: () => node.start(),
  freeze: () => node.child.signal("SIGSTOP"),
  thaw: () => node.child.signal("SIGCONT"),
  stop: () => node.child.stop(),
});
