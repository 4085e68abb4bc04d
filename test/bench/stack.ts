/** A cluster with its own servers for benchmarks, and the CPU of each process. */
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { type Cluster, layoutTogether, senderName, startCluster } from "../support/cluster.ts";
import { startNats, startRedis } from "../support/servers.ts";
import { dataFolder } from "../support/service-process.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";

const MAX_CONNECTIONS = 300;

export interface Stack {
  database: pg.Client;
  /** Process ids of the servers. */
  pids: Record<"PostgreSQL" | "Redis" | "NATS", number>;
  cluster(senders: number): Promise<Cluster>;
  stop(): Promise<void>;
}

export async function startStack(): Promise<Stack> {
  const endings: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const folder = dataFolder();
    endings.push(folder.remove);
    const postgres = await startEmbeddedPostgres(folder.path, { max_connections: MAX_CONNECTIONS });
    endings.push(postgres.stop);
    const redis = await startRedis({ own: true });
    endings.push(redis.stop);
    const nats = await startNats({ own: true });
    endings.push(nats.stop);
    const database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
    endings.push(() => database.end());
    const { BENCH_NODE_OPTIONS, DATABASE_POOL } = process.env;
    const env = {
      ...(BENCH_NODE_OPTIONS ? { NODE_OPTIONS: BENCH_NODE_OPTIONS } : {}),
      ...(DATABASE_POOL ? { DATABASE_POOL } : {}),
    };
    const cluster = (senders: number) =>
      startCluster({
        databaseUrl: postgres.url,
        redisUrl: redis.url,
        natsUrl: nats.url,
        senders,
        layout: layoutTogether,
        env,
      });
    const PostgreSQL = postmasterOf(join(folder.path, "postgres"));
    return { database, pids: { PostgreSQL, Redis: redis.child!.pid, NATS: nats.child!.pid }, cluster, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface Sender {
  name: string;
  pid: number;
  healthUrl: string;
}

export const sendersOf = ({ processes }: Cluster, senders: number): Sender[] =>
  Array.from({ length: senders }, (_, n) => {
    const name = senderName(n + 1);
    const { child, healthUrl } = processes.get(name)!;
    return { name, pid: child.pid, healthUrl };
  });

/** Mails that the sender's process has settled since its start. */
export async function mailsOf({ healthUrl }: Sender): Promise<number> {
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
  const counts = [...metrics.matchAll(/^flockmail_mails_total(?:\{[^}]*\})? (\S+)$/gm)];
  return counts.reduce((sum, [, n]) => sum + Number(n), 0);
}

/** Starts counting CPU; the returned function gives each process's µs since then. */
export function countCpu(pids: Record<string, number>): () => Record<string, number> {
  const used = () => Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuUs(pid)]));
  const before = used();
  return () => Object.fromEntries(Object.entries(used()).map(([name, us]) => [name, us - before[name]!]));
}
