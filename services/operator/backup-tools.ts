/** Runs PostgreSQL's backup programs and finds the database that they work on. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type pg from "pg";
import { DatabaseClient } from "../../models/database/client.ts";
import { MIGRATION } from "../../models/database/session-settings.ts";
import type { Config } from "../lib/config.ts";
import { startEmbeddedPostgres } from "../lib/processes/embedded-postgres.ts";
import { writableHost } from "../lib/processes/postgres-hosts.ts";
import { holdDirectory } from "../lib/processes/single-instance.ts";

/** The database's address: DATABASE_URL, or the embedded database, which runs as long as its service. */
export function databaseUrl({ DATABASE_URL, DATA_DIR }: Config): string {
  if (DATABASE_URL) return DATABASE_URL;
  try {
    const password = readFileSync(join(DATA_DIR, "postgres.password"), "utf8").trim();
    // The fourth line of the file is the port.
    const port = readFileSync(join(DATA_DIR, "postgres/postmaster.pid"), "utf8").split("\n")[3]!.trim();
    return `postgresql://flockmail:${password}@127.0.0.1:${port}/flockmail`;
  } catch {
    throw new Error(
      `No Flockmail runs on ${resolve(DATA_DIR)} (DATA_DIR), and DATABASE_URL is not set. While it is stopped, copy the folder itself.`,
    );
  }
}

/** Connects without timeouts: a backup can take hours. */
export async function withDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new DatabaseClient(url, {
    settings: { ...MIGRATION, idle_in_transaction_session_timeout: 0 },
    silentMs: 0,
  });
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Works while the service is stopped, too: then it starts the embedded database for the duration of `work`. */
export async function withServiceDatabase<T>(settings: Config, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { DATABASE_URL, DATA_DIR } = settings;
  const isEmbedded = DATABASE_URL === undefined && existsSync(join(DATA_DIR, "postgres"));
  const release = isEmbedded ? await holdDirectory(DATA_DIR).catch(() => undefined) : undefined;
  if (!release) return withDatabase(databaseUrl(settings), work);
  try {
    const postgres = await startEmbeddedPostgres(DATA_DIR);
    return await withDatabase(postgres.url, work).finally(() => postgres.stop());
  } finally {
    await release();
  }
}

/** Passes the connection to libpq by environment variables, so that the password is not visible in process lists. */
async function environmentFor(url: string): Promise<Record<string, string>> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(await writableHost(url));
  const mode = searchParams.get("sslmode");
  const values = {
    PGHOST: hostname || (searchParams.get("host") ?? ""),
    PGPORT: port || (searchParams.get("port") ?? ""),
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    // libpq does not know `no-verify`.
    PGSSLMODE: mode === "no-verify" ? "require" : (mode ?? ""),
    PGSSLROOTCERT: searchParams.get("sslrootcert") ?? "",
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

const LAST_WORDS = 2_000;

async function run(tool: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(tool, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out = (out + chunk).slice(-LAST_WORDS);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err = (err + chunk).slice(-LAST_WORDS);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${tool} failed: ${err.trim() || `exit code ${code}`}`);
  return out;
}

/** Throws a sentence that says what to install or to run instead. */
async function requireTool(tool: "pg_dump" | "pg_restore", serverMajor: number): Promise<void> {
  const advice = `Install the package postgresql-client-${serverMajor} (the tools come with PostgreSQL, not with Flockmail), or run \`${tool}\` of PostgreSQL ${serverMajor} as docs/backup.md describes.`;
  const version = await run(tool, ["--version"]).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new Error(`There is no ${tool} on PATH. ${advice}`);
    throw error;
  });
  const major = Number(/ (\d+)/.exec(version)?.[1]);
  if (major < serverMajor) {
    throw new Error(`The ${tool} on PATH is of PostgreSQL ${major}, and the server is ${serverMajor}. ${advice}`);
  }
}

const majorOf = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query<{ server_version_num: string }>("show server_version_num");
  return Math.floor(Number(rows[0]!.server_version_num) / 10_000);
};

/** True if there is a pg_dump for this server's version. */
export const canDump = async (client: pg.Client): Promise<boolean> =>
  requireTool("pg_dump", await majorOf(client)).then(
    () => true,
    () => false,
  );

export async function dump(client: pg.Client, url: string, file: string, snapshot: string): Promise<void> {
  await requireTool("pg_dump", await majorOf(client));
  const args = ["--format=custom", "--no-password", `--snapshot=${snapshot}`, `--file=${file}`];
  await run("pg_dump", args, await environmentFor(url));
}

export async function restore(client: pg.Client, url: string, file: string): Promise<void> {
  await requireTool("pg_restore", await majorOf(client));
  const env = await environmentFor(url);
  const args = [
    "--exit-on-error",
    "--no-owner",
    "--no-privileges",
    "--no-password",
    `--dbname=${env.PGDATABASE}`,
    file,
  ];
  await run("pg_restore", args, env);
}
