/** Servers, and processes of two versions that use them, as in a cluster during an update. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { APART } from "../support/cluster.ts";
import { type Server, startNats, startRedis } from "../support/servers.ts";
import { dataFolder, type ServiceProcess, startService } from "../support/service-process.ts";
import { startWebServer, type WebServer } from "../support/web-server.ts";
import { type CountingSink, startCountingSink } from "./counting-sink.ts";

export const WINDOW_SECONDS = 10;
const SLOW_MS = 50;
const PRE_STOP_MS = 3_000;
/** Generous grace period, as orchestrators give. */
const GRACE_MS = 60_000;

export interface Version {
  name: string;
  /** Undefined for this version. */
  root: string | undefined;
}

export type Part = "core" | "sender" | "gateway";
const isOf = (part: Part, service: string) => (part === "gateway" ? service === "gateway" : service !== "gateway");

function servicesOf(part: Part): string[] {
  if (part === "sender") return ["smtp-sender", "renderer"];
  return [...APART, ...(part === "gateway" ? ["console"] : [])].filter(
    (service) => isOf(part, service) || service === "console",
  );
}

export interface Scene {
  databaseUrl: string;
  /** Mail servers without and with a delay. */
  quick: CountingSink;
  slow: CountingSink;
  hooks: WebServer;
  /** "campaign recipient" of mails whose delivery was reported by a webhook. */
  delivered: Set<string>;
  /** Addresses of gateways that accept requests. */
  gateways: string[];
  start(version: Version, ...parts: Part[]): Promise<void>;
  /** Stops in an orchestrator's order: a stopping gateway gets no more requests. */
  stopParts(version: Version, ...parts: Part[]): Promise<void>;
  query<T>(sql: string, values?: unknown[]): Promise<T[]>;
  /** Last output of all processes, running or ended. */
  said(): string;
  stop(): Promise<void>;
}

const key = (version: Version, part: Part) => `${version.name} ${part}`;

export async function openScene(): Promise<Scene> {
  const endings: (() => unknown)[] = [];
  const opened = <T extends { stop(): unknown }>(part: T): T => {
    endings.push(() => part.stop());
    return part;
  };
  const folder = dataFolder();
  endings.push(() => folder.remove());
  const postgres: EmbeddedPostgres = opened(
    await startEmbeddedPostgres(folder.path, { max_connections: 300, fsync: "off" }),
  );
  const redis: Server = opened(await startRedis({ own: true }));
  const nats: Server = opened(await startNats({ own: true }));
  const quick = opened(await startCountingSink(0));
  const slow = opened(await startCountingSink(SLOW_MS));
  const hooks = opened(await startWebServer());
  const delivered = new Set<string>();
  hooks.on = ({ body }) => {
    hooks.asked = [];
    const { type, recipient, campaign_id } = JSON.parse(body) as Record<"type" | "recipient" | "campaign_id", string>;
    if (type === "delivered") delivered.add(`${campaign_id} ${recipient}`);
    return { status: 200 };
  };

  const client = new pg.Pool({ connectionString: postgres.url, max: 2 });
  endings.push(() => client.end());
  const processes = new Map<string, ServiceProcess>();
  const past: string[] = [];
  endings.push(() => Promise.all([...processes.values()].map(({ child }) => child.stop())));
  const env: NodeJS.ProcessEnv = {
    TRANSPORTER: nats.url,
    REDIS_URL: redis.url,
    DATABASE_URL: postgres.url,
    DATABASE_POOL: "8",
    SECRET_KEY: "a cluster on one machine, for trying out",
    ALLOW_PRIVATE_NETWORKS: "true",
    HOST: "127.0.0.1",
    BASE_URL: "http://localhost:3000",
    LOGLEVEL: "warn",
    DRAIN_SECONDS: "10",
    LIMIT_WINDOW_SECONDS: `${WINDOW_SECONDS}`,
    SEND_LEASE_SECONDS: "10",
    RETRY_BASE_SECONDS: "1",
  };

  const scene: Scene = {
    databaseUrl: postgres.url,
    quick,
    slow,
    hooks,
    delivered,
    gateways: [],
    async start(version, ...parts) {
      for (const part of parts) {
        const services = servicesOf(part);
        const PORT = `${await unusedPort()}`;
        const service = await startService({
          services,
          env: { ...env, PORT },
          ...(version.root ? { root: version.root } : {}),
        });
        processes.set(key(version, part), service);
        // The start may exceed its time limit on a busy machine beside sending processes.
        await service.ready().catch(() => service.ready());
        if (part === "gateway") scene.gateways.push(service.url);
      }
    },
    async stopParts(version, ...parts) {
      for (const part of parts) {
        const service = processes.get(key(version, part))!;
        scene.gateways = scene.gateways.filter((url) => url !== service.url);
        // Pending requests have been answered by then.
        if (part === "gateway") await sleep(PRE_STOP_MS);
        service.child.signal("SIGTERM");
        const late = new AbortController();
        await Promise.race([service.child.ended, sleep(GRACE_MS, undefined, { signal: late.signal }).catch(() => {})]);
        late.abort();
        await service.child.stop();
        past.push(`${key(version, part)}:\n${service.child.output()}`);
        processes.delete(key(version, part));
      }
    },
    query: async <T>(sql: string, values: unknown[] = []) => (await client.query(sql, values)).rows as T[],
    said: () =>
      [...past, ...[...processes].map(([name, { child }]) => `${name}:\n${child.output()}`)].join("\n").slice(-30_000),
    async stop() {
      for (const end of endings.splice(0).reverse()) await end();
    },
  };
  return scene;
}
