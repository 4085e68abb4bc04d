/** Joined NATS servers that can be frozen or killed, and the clients connected to each. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { type Child, startChild, untilListening } from "./child.ts";
import { program } from "./programs.ts";

export interface NatsNode {
  url: string;
  port: number;
  child: Child;
  /** Restarts it on the same port after a kill. */
  start(): Promise<void>;
  /** Names of connected clients; fails while the server is frozen. */
  clients(): Promise<string[]>;
}

export interface NatsCluster {
  nodes: NatsNode[];
  /** Servers in the format of TRANSPORTER. */
  url: string;
  stop(): Promise<void>;
}

const JOINED_WITHIN_MS = 20_000;
const ASK_TIMEOUT_MS = 2_000;

/** Reads a page of a server's monitoring port. */
async function ask<T>(monitorPort: number, page: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${monitorPort}/${page}`, {
    signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
  });
  return (await response.json()) as T;
}

async function untilJoined(monitorPorts: number[]): Promise<void> {
  const deadline = Date.now() + JOINED_WITHIN_MS;
  const remotes = async (port: number) => {
    const { routes } = await ask<{ routes?: { remote_id: string }[] }>(port, "routez").catch(() => ({ routes: [] }));
    return new Set(routes?.map(({ remote_id }) => remote_id)).size;
  };
  for (const port of monitorPorts) {
    while ((await remotes(port)) < monitorPorts.length - 1) {
      if (Date.now() > deadline) throw new Error("The NATS servers do not find each other");
      await sleep(50);
    }
  }
}

/** `advertise: false` limits clients to the addresses that they were given, for servers behind proxies. */
export async function startNatsCluster(size: number, { advertise = true } = {}): Promise<NatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-nats-"));
  const { path, env } = await program("nats-server", ["nats-server"]);
  const ports: { client: number; route: number; monitor: number }[] = [];
  for (let n = 0; n < size; n++) {
    ports.push({ client: await unusedPort(), route: await unusedPort(), monitor: await unusedPort() });
  }
  const start = async ({ client, route, monitor }: (typeof ports)[number], n: number): Promise<NatsNode> => {
    const others = ports.filter((other) => other.route !== route).map((other) => `nats://127.0.0.1:${other.route}`);
    const file = join(folder, `${n}.conf`);
    writeFileSync(
      file,
      `server_name: n${n}\nhost: 127.0.0.1\nport: ${client}\nhttp: 127.0.0.1:${monitor}\n` +
        `cluster { name: test, host: 127.0.0.1, port: ${route}, no_advertise: ${!advertise}, routes: [${others.join(", ")}] }\n`,
    );
    const run = async () => {
      const child = startChild(path, ["-c", file], { env });
      await untilListening(child, client);
      return child;
    };
    const node: NatsNode = {
      url: `nats://127.0.0.1:${client}`,
      port: client,
      child: await run(),
      async start() {
        node.child = await run();
      },
      async clients() {
        const { connections } = await ask<{ connections: { name?: string }[] }>(monitor, "connz");
        return connections.map(({ name }) => name ?? "");
      },
    };
    return node;
  };
  const nodes = await Promise.all(ports.map(start));
  await untilJoined(ports.map(({ monitor }) => monitor));
  return {
    nodes,
    url: nodes.map(({ url }) => url).join(","),
    async stop() {
      await Promise.all(nodes.map(({ child }) => child.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts one server on a free port with these configuration lines (users, TLS …). */
export async function startNatsWith(lines: string): Promise<{ port: number; child: Child; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-nats-"));
  const { path, env } = await program("nats-server", ["nats-server"]);
  const port = await unusedPort();
  const file = join(folder, "nats.conf");
  writeFileSync(file, `host: 127.0.0.1\nport: ${port}\n${lines}\n`);
  const child = startChild(path, ["-c", file], { env });
  await untilListening(child, port);
  const stop = async () => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, child, stop };
}
