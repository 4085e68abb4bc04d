/**
 * A cluster of real processes that each reach every server through their own proxy, with a counting mail server and
 * webhook receiver. Processes that end are restarted, as by an orchestrator.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { APART, type Cluster, GATEWAY, startCluster } from "../support/cluster.ts";
import { startNatsCluster } from "../support/nats-cluster.ts";
import { type SilentProxy, startSilentProxy } from "../support/silent-proxy.ts";
import { type Answer, type Command, type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { balance } from "./balance.ts";
import { CORES, GATEWAYS, LINKS, NATS, SENDERS } from "./kinds.ts";
import {
  type Breakable,
  type BreakablePostgres,
  type BreakableRedis,
  breakableNats,
  breakableRedis,
  replicatedPostgres,
} from "./servers.ts";

/** Long enough that some mails are always between hand-over and answer. */
const DOT_MS = 150;
const RESTART_PAUSE_MS = 500;
export const LEASE_SECONDS = 5;
export const WINDOW_SECONDS = 10;
export const MAX_IN_DOUBT = 50;

export interface Scene {
  cluster: Cluster;
  /** A gateway's address, as a load balancer chooses it. */
  url(): string;
  postgres: BreakablePostgres;
  redis: BreakableRedis;
  /** Processes by name, including PostgreSQL and Redis. */
  servers: Map<string, Breakable>;
  links: Map<string, SilentProxy>;
  /** Proxies for mail of the unlimited and the limited company. */
  mail: SilentProxy;
  limitedMail: SilentProxy;
  sink: SmtpServer;
  hooks: SilentProxy;
  /** Current abnormal behaviour of the mail server. */
  answering: { answer?: (command: Command) => Answer };
  /** Time when the message for this address was complete at the mail server, before any delay. */
  dotAt: Map<string, number>;
  hookReceived: (event: HookEvent) => void;
  /** Processes that ended without being killed or stopped: name, exit, and last output. */
  deaths: string[];
  /** Ends a process and keeps it down until `revive`. */
  end(name: string, signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  revive(name: string): Promise<void>;
  /** After PostgreSQL was killed, promotes its replica and gives it a new replica. */
  failOver(): Promise<void>;
  /** Resolves when all processes are ready and the gateway reaches them; returns those that failed to in time. */
  whole(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface HookEvent {
  id: string;
  type: string;
  recipient: string;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

async function startHookReceiver(received: (event: HookEvent) => void) {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const event = JSON.parse(await readBody(request)) as HookEvent;
    received(event);
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return { port: (server.address() as AddressInfo).port, stop };
}

const through = (url: string, port: number) => {
  const changed = new URL(url);
  changed.port = `${port}`;
  return changed.href;
};

const CORE = APART.filter((name) => name !== "gateway");

/** Sets everything up; if a step fails, everything opened is closed. */
export async function openScene(env: NodeJS.ProcessEnv = {}): Promise<Scene> {
  const endings: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  const opened = <T extends { stop(): unknown }>(part: T): T => {
    endings.push(() => part.stop());
    return part;
  };
  try {
    return await open(env, opened, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(
  env: NodeJS.ProcessEnv,
  opened: <T extends { stop(): unknown }>(part: T) => T,
  stop: () => Promise<void>,
): Promise<Scene> {
  const postgres = opened(await replicatedPostgres());
  const redis = opened(await breakableRedis());
  const { nodes } = opened(await startNatsCluster(NATS.length, { advertise: false }));
  const servers = new Map<string, Breakable>([
    ["postgres", postgres],
    ["redis", redis],
    ...NATS.map((name, n) => [name, breakableNats(nodes[n]!)] as const),
  ]);
  const answering: Scene["answering"] = {};
  const dotAt = new Map<string, number>();
  const sink = opened(
    await startSmtpServer({
      delayMs: { DOT: DOT_MS },
      answer(command) {
        if (command.verb === "DOT") dotAt.set(command.to, Date.now());
        return answering.answer?.(command);
      },
    }),
  );
  const receiver = opened(await startHookReceiver((event) => scene.hookReceived(event)));
  const [mail, limitedMail, hooks] = [
    opened(await startSilentProxy(sink.port)),
    opened(await startSilentProxy(sink.port)),
    opened(await startSilentProxy(receiver.port)),
  ];
  const links = new Map<string, SilentProxy>();
  for (const link of LINKS) {
    links.set(link, opened(await startSilentProxy(servers.get(link.split(">")[1]!)!.port)));
  }
  const way = (name: string, server: string) => through(servers.get(server)!.url, links.get(`${name}>${server}`)!.port);
  const gatewayPorts = new Map<string, string>();
  for (const name of GATEWAYS) gatewayPorts.set(name, `${await unusedPort()}`);

  const deaths: string[] = [];
  const down = new Set<string>();
  const restarts = new Map<string, Promise<void>>();
  const restart = async (name: string) => {
    await sleep(RESTART_PAUSE_MS);
    // If it ends again, that is reported separately.
    if (!down.has(name)) await cluster.start(name).catch(() => {});
  };
  const cluster: Cluster = await startCluster({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    natsUrl: nodes[0]!.url,
    senders: SENDERS.length,
    layout: Object.fromEntries([...GATEWAYS.map((name) => [name, GATEWAY]), ...CORES.map((name) => [name, CORE])]),
    env: {
      MAX_IN_DOUBT: `${MAX_IN_DOUBT}`,
      SEND_LEASE_SECONDS: `${LEASE_SECONDS}`,
      LIMIT_WINDOW_SECONDS: `${WINDOW_SECONDS}`,
      RETRY_BASE_SECONDS: "1",
      TRUST_PROXY: "1",
      PORT: gatewayPorts.get(GATEWAYS[0]!),
      ...env,
    },
    envOf: (name) => ({
      DATABASE_URL: way(name, "postgres"),
      REDIS_URL: way(name, "redis"),
      TRANSPORTER: NATS.map((server) => way(name, server)).join(","),
      ...(gatewayPorts.has(name) ? { PORT: gatewayPorts.get(name) } : {}),
    }),
    died(name, child, how) {
      if (down.has(name)) return;
      deaths.push(`${name} ended with ${how}: ${child.output().trim().split("\n").at(-1)?.slice(0, 300)}`);
      restarts.set(name, restart(name));
    },
  });
  opened({
    stop: async () => {
      for (const name of cluster.processes.keys()) down.add(name);
      await Promise.all(restarts.values());
      await cluster.stop();
    },
  });

  const front = opened(balance([...gatewayPorts.values()].map((port) => `http://localhost:${port}`)));
  const scene: Scene = {
    cluster,
    url: front.url,
    postgres,
    redis,
    servers,
    links,
    mail,
    limitedMail,
    sink,
    hooks,
    answering,
    dotAt,
    hookReceived: () => {},
    deaths,
    async end(name, signal) {
      down.add(name);
      const { child } = cluster.processes.get(name)!;
      child.signal(signal);
      await child.ended;
    },
    async revive(name) {
      down.delete(name);
      await cluster.start(name).catch(() => {});
    },
    async failOver() {
      const port = await postgres.takeOver();
      for (const [link, proxy] of links) {
        if (!link.endsWith(">postgres")) continue;
        proxy.target(port);
        proxy.cut();
      }
      await postgres.replicate();
    },
    async whole() {
      await Promise.all(restarts.values());
      const ready = [...cluster.processes].map(([name, service]) =>
        service.ready().then(
          () => [],
          (error: Error) => [`${name}: ${error.message.slice(-500)}`],
        ),
      );
      const missing = (await Promise.all(ready)).flat();
      const joined = await cluster.joined().then(
        () => [],
        (error: Error) => [error.message],
      );
      return [...missing, ...joined];
    },
    stop,
  };
  return scene;
}
