/**
 * Real servers for tests and benchmarks: given by an environment variable (TEST_REDIS_URL, TEST_NATS_URL), else started
 * on a free port from PATH or Debian packages. `npm run servers` downloads them in advance.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { type Child, startChild, untilListening } from "./child.ts";
import { type Program, program } from "./programs.ts";

export interface Server {
  url: string;
  /** Undefined if the environment names the server, which must not be signalled then. */
  child?: Child;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Port for a restart. */
  port?: number;
  /** Never the environment's server: for tests that stop, kill or flush it. */
  own?: boolean;
  /** Listens on all addresses; only inside a test's own network. */
  open?: boolean;
}

const given = (url: string | undefined, { own }: ServerOptions): Server | undefined =>
  url && !own ? { url, stop: async () => {} } : undefined;

/** Another process may take a free port, or its neighbour (Redis' cluster bus), before it is used. */
const PORTS_TRIED = 5;

async function start(
  { path, env }: Program,
  args: (port: number) => string[],
  wantedPort?: number,
): Promise<{ child: Child; port: number }> {
  for (let tried = 1; ; tried++) {
    const port = wantedPort ?? (await unusedPort());
    const child = startChild(path, args(port), { env });
    try {
      await untilListening(child, port);
      return { child, port };
    } catch (error) {
      const isPortTaken = /address already in use/i.test(child.output());
      if (wantedPort || !isPortTaken || tried === PORTS_TRIED) throw error;
    }
  }
}

const redisProgram = () => program("redis-server", ["redis-server", "redis-tools"]);
const natsProgram = () => program("nats-server", ["nats-server"]);

export interface RedisServerOptions extends ServerOptions {
  /** Further arguments, which take precedence. */
  args?: (port: number) => string[];
  /** A program that replaces redis-server and takes the same arguments. */
  command?: string[];
}

/** Redis without persistence. */
export async function startRedis(options: RedisServerOptions = {}): Promise<Server> {
  const givenServer = given(process.env.TEST_REDIS_URL, options);
  if (givenServer) return givenServer;
  const folder = mkdtempSync(join(tmpdir(), "flockmail-redis-"));
  const where = options.open ? "0.0.0.0 --protected-mode no" : "127.0.0.1";
  const args = (port: number) => `--bind ${where} --port ${port} --appendonly no --dir ${folder}`.split(" ");
  const [path, ...before] = options.command ?? [];
  const runs = path ? { path, env: {} } : await redisProgram();
  const all = (p: number) => [...before, ...args(p), "--save", "", ...(options.args?.(p) ?? [])];
  const { child, port } = await start(runs, all, options.port);
  const stop = async () => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `redis://127.0.0.1:${port}`, child, stop };
}

/** Watches the primary of a group and promotes a replica after its failure. Runs alone, without a quorum. */
export async function startSentinel(group: string, master: { port: number; password: string }): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-sentinel-"));
  const file = join(folder, "sentinel.conf");
  writeFileSync(
    file,
    `sentinel monitor ${group} 127.0.0.1 ${master.port} 1
sentinel auth-pass ${group} ${master.password}
sentinel down-after-milliseconds ${group} 500
sentinel failover-timeout ${group} 3000
`,
  );
  const args = (port: number) => [file, "--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder, "--sentinel"];
  const { child, port } = await start(await redisProgram(), args);
  const stop = async () => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `redis://127.0.0.1:${port}`, child, stop };
}

export async function startNats(options: ServerOptions = {}): Promise<Server> {
  const givenServer = given(process.env.TEST_NATS_URL, options);
  if (givenServer) return givenServer;
  const args = (port: number) => ["--addr", options.open ? "0.0.0.0" : "127.0.0.1", "--port", `${port}`];
  const { child, port } = await start(await natsProgram(), args, options.port);
  return { url: `nats://127.0.0.1:${port}`, child, stop: () => child.stop() };
}

/** Postfix's `smtp-sink` (a server that accepts and discards) and `smtp-source` (a client that sends at full speed). */
export async function postfixTools(): Promise<{ sink: Program; source: Program }> {
  return { sink: await program("smtp-sink", ["postfix"]), source: await program("smtp-source", ["postfix"]) };
}

/** A running smtp-sink; `sessions` limits its concurrent connections. */
export async function startSmtpSink(options: { port?: number; sessions?: number } = {}): Promise<Server> {
  const { sink } = await postfixTools();
  // Running as root, it needs a user to change to; the backlog is its last argument.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const sessions = `${options.sessions ?? 1000}`;
  const args = (port: number) => [...user, "-m", sessions, `127.0.0.1:${port}`, "1024"];
  const { child, port } = await start(sink, args, options.port);
  return { url: `smtp://127.0.0.1:${port}`, child, stop: () => child.stop() };
}

/** Downloads everything that is missing on this machine. */
export async function fetchServers(): Promise<Record<string, string>> {
  const found = [await redisProgram(), await natsProgram(), ...Object.values(await postfixTools())];
  return Object.fromEntries(found.map(({ path }) => [path.split("/").at(-1)!, path]));
}
