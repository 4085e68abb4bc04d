/** The oldest supported PostgreSQL, from Debian, with its backup tools. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import type { Certificate } from "./certificate.ts";
import { type Child, startChild, untilListening } from "./child.ts";
import { program } from "./programs.ts";

const PACKAGES = ["postgresql-15", "postgresql-client-15"];
const TOOL_TIMEOUT_MS = 60_000;

export interface Postgres15 {
  readonly port: number;
  url(database: string): string;
  /** Makes a replica writable. */
  promote(): Promise<void>;
  /** Kills the server and its backends at once; after SIGKILL the backends end by themselves. */
  kill(signal?: "SIGQUIT" | "SIGKILL"): Promise<void>;
  /** Restarts it after `kill`, with the same data and port. */
  start(): Promise<void>;
  pid(): number;
  /** Runs one of its tools to completion. */
  run(tool: string, ...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

/**
 * PostgreSQL refuses to run as root. In a user namespace without a mapping the process is nobody, yet owns the same
 * files.
 */
export const asNonRoot = (command: string[]) =>
  process.getuid?.() === 0 ? ["unshare", "--user", ...command] : command;

/** The port opens before the server accepts sessions. */
async function untilStarted(url: string): Promise<void> {
  const deadline = Date.now() + TOOL_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client(url);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(25);
    } finally {
      await client.end();
    }
  }
}

export interface Postgres15Options {
  /** "name=value" */
  settings?: readonly string[];
  /** Requires TLS from clients, with this certificate. */
  tls?: Certificate;
  /** Replicates from the server on this port, starting as its copy. */
  replicaOf?: number;
}

export async function startPostgres15({
  settings: more = [],
  tls,
  replicaOf,
}: Postgres15Options = {}): Promise<Postgres15> {
  const run = async (tool: string, ...args: string[]) => {
    const { path, env } = await program(tool, PACKAGES);
    const [command, ...rest] = asNonRoot([path, ...args]);
    const options = { env: { ...process.env, ...env }, timeout: TOOL_TIMEOUT_MS };
    return (await promisify(execFile)(command!, rest, options)).stdout;
  };
  const postgres = await program("postgres", PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "flockmail-pg15-"));
  const data = join(folder, "data");
  if (replicaOf) {
    const source = ["--host", "127.0.0.1", "--port", `${replicaOf}`, "--username", "test"];
    await run("pg_basebackup", "--pgdata", data, ...source, "--write-recovery-conf", "--checkpoint", "fast");
  } else {
    await run(
      "initdb",
      "--pgdata",
      data,
      "--username",
      "test",
      "--auth",
      "trust",
      "--encoding",
      "UTF8",
      "--locale",
      "C",
    );
  }
  const port = await unusedPort();
  const settings = ["fsync=off", "unix_socket_directories=", "listen_addresses=127.0.0.1", `port=${port}`, ...more];
  if (tls) {
    settings.push("ssl=on");
    writeFileSync(join(data, "server.crt"), tls.cert);
    writeFileSync(join(data, "server.key"), tls.key, { mode: 0o600 });
    writeFileSync(join(data, "pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n");
  }
  const [command, ...args] = asNonRoot([postgres.path, "-D", data, ...settings.flatMap((one) => ["-c", one])]);
  const url = (database: string) => `postgres://test@127.0.0.1:${port}/${database}`;
  let child: Child;
  const start = async () => {
    child = startChild(command!, args, { env: postgres.env });
    await untilListening(child, port);
    await untilStarted(url("postgres") + (tls ? "?sslmode=no-verify" : ""));
  };
  await start();
  return {
    port,
    url,
    promote: async () => void (await run("pg_ctl", "promote", "-D", data)),
    run,
    async kill(signal = "SIGQUIT") {
      child.signal(signal);
      await child.ended;
    },
    start,
    pid: () => child.pid,
    stop: async () => {
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
