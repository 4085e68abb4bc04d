/**
 * Provides one PostgreSQL for the whole run: TEST_DATABASE_URL if set, else an embedded one in its own folder. It
 * contains a migrated template from which each test file clones its database.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import { migrate } from "../../models/database/migrate.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { memoryFolder } from "./memory-folder.ts";

export const TEMPLATE = "flockmail_template";

/** Limit of the compile cache. A full run writes 2,500 files, and one more per source file after each change. */
const MOST_COMPILED = 20_000;

/**
 * Shares compiled code between the processes that tests start (some 250), which saves CPU time on each start. A process
 * writes the cache when it ends normally.
 */
function compileCache(): string {
  const folder = resolve(import.meta.dirname, "../../.cache/compile");
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder, { recursive: true }).length > MOST_COMPILED) rmSync(folder, { recursive: true });
  return folder;
}

const PREFIX = "flockmail-test-";

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Longer than a start or an end takes. */
const ORPHAN_AFTER_MS = 600_000;

/** Removes databases of killed runs, which would keep the machine's memory. */
function removeOrphans(parent: string): void {
  for (const name of readdirSync(parent).filter((name) => name.startsWith(PREFIX))) {
    const folder = join(parent, name);
    try {
      if (Date.now() - statSync(folder).mtimeMs < ORPHAN_AFTER_MS) continue;
      const pidFile = join(folder, "postgres/postmaster.pid");
      if (existsSync(pidFile) && isRunning(Number.parseInt(readFileSync(pidFile, "utf8"), 10))) continue;
      rmSync(folder, { recursive: true });
    } catch {
      // Another run removes it at this moment.
    }
  }
}

export default async function globalSetup(): Promise<void> {
  // Only this machine may connect, because anybody may register, as tests do.
  process.env.HOST ??= "127.0.0.1";
  process.env.NODE_COMPILE_CACHE ??= compileCache();
  let server = process.env.TEST_DATABASE_URL;
  if (!server) {
    const parent = memoryFolder();
    removeOrphans(parent);
    const folder = mkdtempSync(join(parent, PREFIX));
    const postgres = await startEmbeddedPostgres(folder, {
      fsync: "off",
      max_connections: 300,
      max_wal_size: "512MB",
    });
    server = postgres.url;
    (globalThis as Record<string, unknown>).stopTestDatabase = async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    };
  }
  process.env.TEST_SERVER_URL = server;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`drop database if exists ${TEMPLATE}`);
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  const template = new URL(server);
  template.pathname = `/${TEMPLATE}`;
  await migrate(template.href);
}
