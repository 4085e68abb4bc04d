/**
 * Applies migrations: numbered SQL files, forward only, never edited once released. They only add, so that nodes of the
 * previous version keep working. Applied at start under an advisory lock, so any number of nodes may start at once.
 *
 * | first line of the file | is run                                                                                            |
 * |------------------------|---------------------------------------------------------------------------------------------------|
 * | `-- concurrently`      | one CREATE INDEX CONCURRENTLY each, between semicolons, outside of a transaction (build-index.ts) |
 * | anything else          | in one transaction together with its record                                                       |
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { buildIndex, isBusy, type MigrationClient, RETRY_MS, SHORT_LOCK_TIMEOUT } from "./build-index.ts";
import { DatabaseClient } from "./client.ts";
import { UnusableDatabase } from "./pooler.ts";
import { MIGRATION } from "./session-settings.ts";

const FOLDER = join(import.meta.dirname, "../migrations");
const BASELINE = "0001_baseline.sql";
// Any constant will do; it must only be the same in every Flockmail process.
const LOCK = 7_305_512_061;

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

function migrations(folder = FOLDER): Migration[] {
  const names = readdirSync(folder).filter((name) => /^\d{4}_.*\.sql$/.test(name));
  return names.sort().map((name) => {
    const sql = readFileSync(join(folder, name), "utf8");
    return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
  });
}

/** Migrations of this code, in order: name → checksum. */
export const knownMigrations = (): Map<string, string> =>
  new Map(migrations().map(({ name, checksum }) => [name, checksum]));

const TABLE =
  "create table if not exists migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())";

async function recorded(client: pg.Client): Promise<Map<string, string>> {
  const { rows: found } = await client.query("select to_regclass('migrations') is not null as exists");
  if (!found[0].exists) return new Map();
  const { rows } = await client.query("select name, checksum from migrations");
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/**
 * Returns names and checksums of the applied migrations. Refuses a database from before the first release without
 * changing it.
 */
async function applied(client: pg.Client): Promise<Map<string, string>> {
  const recordedMigrations = await recorded(client);
  if (recordedMigrations.size > 0 && recordedMigrations.get(BASELINE) !== knownMigrations().get(BASELINE)) {
    throw new UnusableDatabase(
      `the database was made by an unreleased version of Flockmail (its first migration is not this version's ${BASELINE}). This version cannot upgrade it and has changed nothing. Use an empty database; to keep the people, export them with the version that made it and import them here.`,
    );
  }
  return recordedMigrations;
}

/** SQLSTATE insufficient_privilege. */
const FORBIDDEN = "42501";

/** A missing right is a matter of configuration: it ends the start in one line. */
function explained(error: unknown, what: string, help: string): unknown {
  const { code, message } = error as { code?: string; message: string };
  return code === FORBIDDEN ? new UnusableDatabase(`${what}: ${message}. ${help}`) : error;
}

/** Names of the migrations that this code has and the database has not. A node with a pending one must not serve. */
export async function pending(url: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const appliedMigrations = await applied(client).catch((error) => {
      throw explained(error, "the migrations cannot be read", "The rights of roles: models/database-roles.sql.");
    });
    return migrations().flatMap(({ name }) => (appliedMigrations.has(name) ? [] : [name]));
  });
}

/** Applies what is pending and returns its names. Throws when an applied file was edited afterwards. */
export async function migrate(url: string, folder = FOLDER): Promise<string[]> {
  return withClient(url, async (client) => {
    const appliedMigrations = await applied(client);
    const fresh: string[] = [];
    for (const migration of migrations(folder)) {
      if (appliedMigrations.get(migration.name) === migration.checksum) continue;
      const isFresh = await apply(url, client, migration).catch((error) => {
        throw explained(error, `migration ${migration.name}`, "The tables' owner may: MIGRATION_DATABASE_URL.");
      });
      if (isFresh) fresh.push(migration.name);
    }
    return fresh;
  });
}

const WAIT_MS = 200;

/**
 * Begins a transaction that holds the lock and ends with it, so that it holds behind a pooler, too. The lock is tried
 * again and again: a statement that waited for it would keep a snapshot, and an index that another node builds
 * concurrently waits for every older snapshot, so both would wait for ever (a cycle that PostgreSQL does not see).
 */
async function beginLocked(client: pg.Client): Promise<void> {
  for (;;) {
    await client.query("begin");
    await client.query("set local idle_in_transaction_session_timeout = 0");
    // Uses no parameter: the portal of a statement with parameters stays open and holds its snapshot.
    const { rows } = await client.query(`select pg_try_advisory_xact_lock(${LOCK}) as held`);
    if (rows[0].held) return;
    await client.query("rollback");
    await sleep(WAIT_MS);
  }
}

const RECORD = "insert into migrations (name, checksum) values ($1, $2)";

/** True if it was already applied. */
async function isApplied(client: pg.Client, { name, checksum }: Migration): Promise<boolean> {
  const recordedHash = (await applied(client)).get(name);
  if (recordedHash && recordedHash !== checksum)
    throw new Error(`Migration ${name} was edited after it had been applied`);
  return recordedHash !== undefined;
}

/**
 * False if it was applied before. Locks of the version at work are waited for shortly, and a deadlock with it only
 * begins the migration again: nothing of its transaction stays.
 */
async function apply(url: string, client: MigrationClient, migration: Migration): Promise<boolean> {
  if (migration.sql.startsWith("-- concurrently\n"))
    return withClient(url, (holder) => build(client, holder, migration));
  for (;;) {
    try {
      return await tryOnce(client, migration);
    } catch (error) {
      if (!isBusy(error)) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function tryOnce(client: pg.Client, migration: Migration): Promise<boolean> {
  await beginLocked(client);
  try {
    await client.query(TABLE);
    const isFresh = !(await isApplied(client, migration));
    if (isFresh) {
      await client.query(SHORT_LOCK_TIMEOUT);
      await client.query(migration.sql);
      await client.query(RECORD, [migration.name, migration.checksum]);
    }
    await client.query("commit");
    return isFresh;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** `holder`: a connection whose transaction holds the lock. */
async function build(client: MigrationClient, holder: pg.Client, migration: Migration): Promise<boolean> {
  await beginLocked(holder);
  const isFresh = !(await isApplied(client, migration));
  if (isFresh) {
    const statements = migration.sql.replace(/^--.*$/gm, "").split(";");
    for (const sql of statements) if (sql.trim() !== "") await buildIndex(client, sql.trim());
    await client.query(RECORD, [migration.name, migration.checksum]);
  }
  await holder.query("commit");
  return isFresh;
}

async function withClient<T>(url: string, work: (client: MigrationClient) => Promise<T>): Promise<T> {
  const client = new DatabaseClient(url, { settings: MIGRATION, silentMs: 0 });
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
