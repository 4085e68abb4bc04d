import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const TEMPLATE = "flockmail_template";

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** By the server's administrator, in its own database. */
export async function admin<T>(statement: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: process.env.TEST_SERVER_URL });
  await client.connect();
  try {
    return (await client.query(statement, values)).rows as T[];
  } finally {
    await client.end();
  }
}

/** What a closed connection may take to be gone on the server's side. */
const CLOSED_WITHIN_MS = 5_000;

const CONNECTIONS = `
  select a.application_name || ', ' || coalesce(a.state, '?') || ', ' || left(a.query, 120)
    || coalesce((select ', holds advisory lock ' || string_agg(l.objid::text, ' ') from pg_locks l
                 where l.pid = a.pid and l.locktype = 'advisory'), '') as text
  from pg_stat_activity a where a.datname = $1 and a.backend_type = 'client backend'`;

/** Connections to the database that somebody forgot to close, once those had their time that were closed. */
async function openConnections(name: string): Promise<string[]> {
  const deadline = performance.now() + CLOSED_WITHIN_MS;
  for (;;) {
    const open = await admin<{ text: string }>(CONNECTIONS, [name]);
    if (open.length === 0 || performance.now() > deadline) return open.map(({ text }) => text);
    await sleep(20);
  }
}

/** Of this test file: the guard in leak-environment.ts misses what is still in it at the end. */
const registered = globalThis as { testDatabases?: Set<string> };

export interface DatabaseOptions {
  /** One without tables: "template1". */
  template?: string;
  /** A role that is there. */
  owner?: string;
}

/**
 * A migrated, empty database of its own, cloned from the run's template. `drop` fails when connections to it are left
 * open: they would hold what they locked, and in the service they would never be given back.
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
