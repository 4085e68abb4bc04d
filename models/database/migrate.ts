/**
 * Migrations: numbered SQL files, forward only, never edited once released. Applied at start under an advisory lock,
 * so that any number of nodes may start at once; each file in one transaction together with its record, or in steps
 * (run-steps.ts) where a table is large.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { DatabaseClient } from "./client.ts";
import { UnusableDatabase } from "./pooler.ts";
import { AGAIN_MS, hasSteps, isBusy, runSteps, type StepClient, WAIT_SHORTLY } from "./run-steps.ts";
import { MIGRATION } from "./session-settings.ts";

const FOLDER = join(import.meta.dirname, "../migrations");
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

/** Those of this code, in order: name → checksum. */
export const knownMigrations = (): Map<string, string> =>
  new Map(migrations().map(({ name, checksum }) => [name, checksum]));

const TABLE =
  "create table if not exists migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())";

async function applied(client: pg.Client): Promise<Map<string, string>> {
  const { rows: found } = await client.query("select to_regclass('migrations') is not null as exists");
  if (!found[0].exists) return new Map();
  const { rows } = await client.query("select name, checksum from migrations");
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/** SQLSTATE insufficient_privilege. */
const FORBIDDEN = "42501";

/** What a role may not do is a matter of configuration: it ends the start in one line. */
function explained(error: unknown, what: string, help: string): unknown {
  const { code, message } = error as { code?: string; message: string };
  return code === FORBIDDEN ? new UnusableDatabase(`${what}: ${message}. ${help}`) : error;
}

/** Names of the migrations that this code has and the database has not. A node with a pending one must not serve. */
export async function pending(url: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const done = await applied(client).catch((error) => {
      throw explained(error, "the migrations cannot be read", "The rights of roles: models/database-roles.sql.");
    });
    return migrations().flatMap(({ name }) => (done.has(name) ? [] : [name]));
  });
}

/** Applies what is pending and returns its names. Throws when an applied file was edited afterwards. */
export async function migrate(url: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const done = await applied(client);
    const fresh: string[] = [];
    for (const migration of migrations()) {
      if (done.get(migration.name) === migration.checksum) continue;
      const apply = hasSteps(migration.sql) ? applyInSteps(url, client, migration) : applyOnce(client, migration);
      const isFresh = await apply.catch((error) => {
        throw explained(error, `migration ${migration.name}`, "The tables' owner may: MIGRATION_DATABASE_URL.");
      });
      if (isFresh) fresh.push(migration.name);
    }
    return fresh;
  });
}

const WAIT_MS = 200;

/**
 * Begins a transaction that holds the lock, which ends with it, so that it holds behind a pooler, too. It is asked for again
 * and again: whoever waited for it within a statement would have a snapshot, and an index that another node builds
 * concurrently waits for every older snapshot, so both would wait for ever (no cycle that PostgreSQL could see).
 */
async function beginLocked(client: pg.Client): Promise<void> {
  for (;;) {
    await client.query("begin");
    await client.query("set local idle_in_transaction_session_timeout = 0");
    // Without a parameter: the portal of a statement that has one stays open, and its snapshot with it.
    const { rows } = await client.query(`select pg_try_advisory_xact_lock(${LOCK}) as held`);
    if (rows[0].held) return;
    await client.query("rollback");
    await sleep(WAIT_MS);
  }
}

/**
 * False if it was applied before. While the version before is at work its locks are waited for as in a quick step (run-steps.ts),
 * and a deadlock with it is only a reason to begin anew: nothing of the transaction stays.
 */
async function applyOnce(client: pg.Client, migration: Migration): Promise<boolean> {
  for (;;) {
    try {
      return await tryOnce(client, migration);
    } catch (error) {
      if (!isBusy(error)) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

async function tryOnce(client: pg.Client, { name, sql, checksum }: Migration): Promise<boolean> {
  await beginLocked(client);
  try {
    await client.query(TABLE);
    const recorded = (await applied(client)).get(name);
    if (recorded && recorded !== checksum) throw new Error(`Migration ${name} was edited after it had been applied`);
    if (!recorded) {
      await client.query(WAIT_SHORTLY);
      await client.query(sql);
      await client.query("insert into migrations (name, checksum) values ($1, $2)", [name, checksum]);
    }
    await client.query("commit");
    return !recorded;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** The lock is held by a transaction of a connection of its own. */
async function applyInSteps(url: string, client: StepClient, migration: Migration): Promise<boolean> {
  return withClient(url, async (holder) => {
    await beginLocked(holder);
    const { name, sql, checksum } = migration;
    const recorded = (await applied(client)).get(name);
    if (recorded && recorded !== checksum) throw new Error(`Migration ${name} was edited after it had been applied`);
    if (!recorded) {
      await runSteps(client, name, sql);
      await client.query("insert into migrations (name, checksum) values ($1, $2)", [name, checksum]);
    }
    await holder.query("commit");
    return !recorded;
  });
}

async function withClient<T>(url: string, work: (client: StepClient) => Promise<T>): Promise<T> {
  const client = new DatabaseClient(url, { settings: MIGRATION, silentMs: 0 });
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
