/**
 * Provides one PostgreSQL for the whole run: TEST_DATABASE_URL if set, else an embedded one in its own folder. It
 * contains a migrated template from which each test file clones its database.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { migrate } from "../../models/database/migrate.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";

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

export default async function globalSetup(): Promise<void> {
  // Only this machine may connect, because anybody may register, as tests do.
  process.env.HOST ??= "127.0.0.1";
  process.env.NODE_COMPILE_CACHE ??= compileCache();
  let server = process.env.TEST_DATABASE_URL;
  if (!server) {
    const folder = mkdtempSync(join(tmpdir(), "flockmail-test-"));
    const postgres = await startEmbeddedPostgres(folder, { fsync: "off", max_connections: 300 });
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
