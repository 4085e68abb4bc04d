import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const TEMPLATE = "flockmail_template";

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Runs a statement as the server's administrator, in its own database. */
export async function admin<T>(statement: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: process.env.TEST_SERVER_URL });
  await client.connect();
  try {
    return (await client.query(statement, values)).rows as T[];
  } finally {
    await client.end();
  }
}

/** Time that the server may take to notice that a connection was closed. */
const CLOSED_WITHIN_MS = 5_000;

const CONNECTIONS = `
  select a.application_name || ', ' || coalesce(a.state, '?') || ', ' || left(a.query, 120)
    || coalesce((select ', holds advisory lock ' || string_agg(l.objid::text, ' ') from pg_locks l
                 where l.pid = a.pid and l.locktype = 'advisory'), '') as text
  from pg_stat_activity a where a.datname = $1 and a.backend_type = 'client backend'`;

/** Connections to the database that were never closed. Waits first for those that are closing. */
async function openConnections(name: string): Promise<string[]> {
  const deadline = performance.now() + CLOSED_WITHIN_MS;
  for (;;) {
    const open = await admin<{ text: string }>(CONNECTIONS, [name]);
    if (open.length === 0 || performance.now() > deadline) return open.map(({ text }) => text);
    await sleep(20);
  }
}

/** Databases of this test file; leak-environment.ts reports those that remain at its end. */
const registered = globalThis as { testDatabases?: Set<string> };

export interface DatabaseOptions {
  /** "template1" is a template without tables. */
  template?: string;
  /** An existing role. */
  owner?: string;
}

/**
 * Creates a migrated, empty database, cloned from the run's template. `drop` throws if connections are still open: they
 * would keep their locks, and the service would never return them.
 */
export async function createDatabase({ template = TEMPLATE, owner }: DatabaseOptions = {}): Promise<TestDatabase> {
  const name = `flockmail_${randomBytes(6).toString("hex")}`;
  await admin(`create database ${name} template ${template}${owner ? ` owner ${owner}` : ""}`);
  registered.testDatabases ??= new Set();
  registered.testDatabases.add(name);
  const url = new URL(process.env.TEST_SERVER_URL!);
  url.pathname = `/${name}`;
  const drop = async () => {
    const open = await openConnections(name);
    await admin(`drop database if exists ${name} with (force)`);
    registered.testDatabases?.delete(name);
    if (open.length > 0) throw new Error(`Connections to the test's database were left open:\n  ${open.join("\n  ")}`);
  };
  return { url: url.href, drop };
}
