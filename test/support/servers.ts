/**
 * Real servers for tests and benches: the one an environment variable names (TEST_REDIS_URL, TEST_NATS_URL), else one
 * started here on a free port from a program on PATH or from Debian packages. `npm run servers` fetches them ahead.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { type Child, startChild, untilListening } from "./child.ts";
import { type Program, program } from "./programs.ts";

export interface Server {
  url: string;
  /** Undefined when the server was given by the environment and is not ours to signal. */
  child?: Child;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** To start it again where it was. */
  port?: number;
  /** Never the environment's: for tests that stop, kill or flush it. */
  own?: boolean;
  /** Listens on all addresses: in a network of the test's own alone. */
  open?: boolean;
}

const given = (url: string | undefined, { own }: ServerOptions): Server | undefined =>
  url && !own ? { url, stop: async () => {} } : undefined;

/** Between the look for a free port and its use another may have taken it, or the one beside it (Redis' cluster bus). */
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
      const taken = /address already in use/i.test(child.output());
      if (wantedPort || !taken || tried === PORTS_TRIED) throw error;
    }
  }
}

const redisProgram = () => program("redis-server", ["redis-server", "redis-tools"]);
const natsProgram = () => program("nats-server", ["nats-server"]);

export interface RedisServerOptions extends ServerOptions {
  /** More of the command line, which wins. */
  args?: (port: number) => string[];
  /** Another program than redis-server that takes the same arguments. */
  command?: string[];
}

/** Redis without persistence. */
export async function startRedis(options: RedisServerOptions = {}): Promise<Server> {
  const other = given(process.env.TEST_REDIS_URL, options);
  if (other) return other;
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

/** Watches the first of a group and promotes a replica of it when it is gone. Alone: it needs nobody's agreement. */
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
  const other = given(process.env.TEST_NATS_URL, options);
  if (other) return other;
  const args = (port: number) => ["--addr", options.open ? "0.0.0.0" : "127.0.0.1", "--port", `${port}`];
  const { child, port } = await start(await natsProgram(), args, options.port);
  return { url: `nats://127.0.0.1:${port}`, child, stop: () => child.stop() };
}

/** Postfix's `smtp-sink` (a server that accepts and forgets) and `smtp-source` (a client that sends as fast as it can). */
export async function postfixTools(): Promise<{ sink: Program; source: Program }> {
  return { sink: await program("smtp-sink", ["postfix"]), source: await program("smtp-source", ["postfix"]) };
}

/** A running smtp-sink; `sessions` is how many connections it takes at once. */
export async function startSmtpSink(options: { port?: number; sessions?: number } = {}): Promise<Server> {
  const { sink } = await postfixTools();
  // Root must name a user to become; the backlog is its last argument.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const sessions = `${options.sessions ?? 1000}`;
  const args = (port: number) => [...user, "-m", sessions, `127.0.0.1:${port}`, "1024"];
  const { child, port } = await start(sink, args, options.port);
  return { url: `smtp://127.0.0.1:${port}`, child, stop: () => child.stop() };
}

/** Fetches everything that is not on this machine. */
export async function fetchServers(): Promise<Record<string, string>> {
  const found = [await redisProgram(), await natsProgram(), ...Object.values(await postfixTools())];
  return Object.fromEntries(found.map(({ path }) => [path.split("/").at(-1)!, path]));
}
