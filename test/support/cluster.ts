/** Runs Flockmail at scale on one machine: one process per service over a real NATS. */
import { setTimeout as sleep } from "node:timers/promises";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import type { Child } from "./child.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

export interface Backends {
  databaseUrl: string;
  redisUrl: string;
  natsUrl: string;
}

export interface ClusterOptions extends Backends {
  senders: number;
  /** Service folders by process, besides the senders. Default: one process per service. */
  layout?: Record<string, string[]>;
  env?: NodeJS.ProcessEnv;
  /** Environment of single processes, such as their own address of a server. */
  envOf?: (name: string) => NodeJS.ProcessEnv;
  /** Called for each process that becomes ready, with the total number, and for one that ends unexpectedly. */
  ready?: (name: string, processes: number) => void;
  died?: (name: string, child: Child, how: number | NodeJS.Signals) => void;
}

export interface Cluster {
  url: string;
  processes: Map<string, ServiceProcess>;
  /** Environment of every process, for tools that attach. */
  env: NodeJS.ProcessEnv;
  /** Starts the process of this name (again), with the same settings. */
  start(name: string): Promise<ServiceProcess>;
  /** Resolves when the gateway reaches the other services. */
  joined(): Promise<void>;
  stop(): Promise<void>;
}

export const APART = ["gateway", "accounts", "subscribers", "campaigns", "tracking", "webhooks", "bounces", "operator"];
// Console pages are rendered in the gateway's process.
export const GATEWAY = ["gateway", "console"];
const layoutApart = { ...Object.fromEntries(APART.map((name) => [name, [name]])), gateway: GATEWAY };
/** Few processes, for machines with few cores. */
export const layoutTogether = { gateway: GATEWAY, core: APART.filter((name) => name !== "gateway") };

// A sender runs its own renderer, so rendering a chunk is a local call.
const SENDER = ["smtp-sender", "renderer"];
const POOL = "8";
const JOINED_WITHIN_MS = 45_000;

export const senderName = (n: number) => `sender-${n}`;

/**
 * Polls with an unknown key: 503 until the gateway knows the accounts service, 401 afterwards. A call published before
 * the other side subscribed is lost, so no request waits for long.
 */
async function untilJoined(url: string): Promise<void> {
  const deadline = Date.now() + JOINED_WITHIN_MS;
  let requests = 0;
  const ask = () =>
    fetch(`${url}/api/emails/campaigns/`, {
      // A new key each time: requests with the same key share one answer.
      headers: { "x-api-key": `fm_${Date.now()}` },
      signal: AbortSignal.timeout(1_000),
    }).catch(() => undefined);
  for (;;) {
    const status = (await ask())?.status;
    if (status === 401) return;
    if (Date.now() > deadline) throw new Error(`The gateway does not reach the other services: it answers ${status}`);
    // Invalid keys are limited to 60 a minute, after which the answer is always 429.
    await sleep(++requests < 20 ? 50 : 2_000);
  }
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { senders, layout = layoutApart } = options;
  const port = options.env?.PORT ?? `${await unusedPort()}`;
  const env: NodeJS.ProcessEnv = {
    TRANSPORTER: options.natsUrl,
    REDIS_URL: options.redisUrl,
    DATABASE_URL: options.databaseUrl,
    DATABASE_POOL: POOL,
    SECRET_KEY: "a cluster on one machine, for trying out",
    ALLOW_PRIVATE_NETWORKS: "true",
    HOST: "127.0.0.1",
    BASE_URL: `http://localhost:${port}`,
    LOGLEVEL: "warn",
    DRAIN_SECONDS: "4",
    ...options.env,
  };
  const services = new Map(Object.entries(layout));
  for (let n = 1; n <= senders; n++) services.set(senderName(n), SENDER);

  const processes = new Map<string, ServiceProcess>();
  const start = async (name: string) => {
    const settings = {
      ...env,
      ...(services.get(name)!.includes("gateway") ? { PORT: port } : {}),
      ...options.envOf?.(name),
    };
    const service = await startService({ services: services.get(name)!, env: settings });
    processes.set(name, service);
    void service.child.ended.then((how) => {
      if (!stopping) options.died?.(name, service.child, how);
    });
    try {
      await service.ready();
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`);
    }
    options.ready?.(name, services.size);
    return service;
  };
  let stopping = false;
  const stop = async () => {
    stopping = true;
    await Promise.all([...processes.values()].map(({ child }) => child.stop()));
  };
  const url = `http://localhost:${port}`;
  const joined = () => untilJoined(url);
  try {
    await Promise.all([...services.keys()].map(start));
    await joined();
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, processes, env, start, joined, stop };
}

const TRIES = 6;
const TRY_AGAIN_MS = 5_000;

/**
 * Retries on 503 as clients should: the processes started a moment ago, beside other tests. Throws with their output.
 */
export async function whenAvailable<T>({ processes }: Cluster, step: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step();
    } catch (error) {
      const outputs = [...processes].map(([name, { child }]) => `${name}: ${child.output().slice(-1_000)}`);
      if (!/was answered 503/.test(String(error)) || tries === TRIES) throw error;
      process.stdout.write(`${(error as Error).message}\n${outputs.join("\n")}\n`);
      await sleep(TRY_AGAIN_MS);
    }
  }
}
