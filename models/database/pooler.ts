/**
 * Checks whether the service works with the server or pooler of DATABASE_URL. A pooler such as pgbouncer may give each
 * transaction another session: it must then prepare named statements wherever they run (pgbouncer from 1.21). Others
 * are refused at start, because the service would send some emails and then none.
 */
import pg from "pg";
import { newId } from "../../services/lib/ids.ts";
import { addressesOf, writableHost } from "../../services/lib/processes/postgres-hosts.ts";
import { CONNECT_TIMEOUT_MS } from "./client.ts";

/** The configuration is wrong (sysexits.h): starting again does not help. */
const EX_CONFIG = 78;
const OLDEST_VERSION = 15;
const ROUNDS = 3;

export class UnusableDatabase extends Error {
  readonly exitCode = EX_CONFIG;
}

/** Returns whether a pooler renames prepared statements, because it prepares them itself. */
async function isPreparedElsewhere(client: pg.Client): Promise<boolean> {
  const name = `probe ${newId()}`;
  const text = `select name from pg_prepared_statements where statement like '%${name}%'`;
  try {
    const { rows } = await client.query({ name, text });
    return rows.length > 0 && rows.every((row) => row.name !== name);
  } catch {
    return false;
  }
}

async function begin(client: pg.Client): Promise<number> {
  await client.query("begin");
  return (await client.query("select pg_backend_pid() as pid")).rows[0].pid;
}

/**
 * Two clients begin and commit alternately: with shared sessions the first gets the other's when it begins again,
 * whichever end of its list the pooler takes sessions from.
 */
async function keepsSession(one: pg.Client, other: pg.Client): Promise<boolean> {
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const pid = await begin(one);
    await begin(other);
    for (const client of round % 2 === 0 ? [one, other] : [other, one]) await client.query("commit");
    const secondPid = await begin(one);
    await one.query("commit");
    if (secondPid !== pid) return false;
  }
  return true;
}

async function fault(clients: readonly [pg.Client, pg.Client], oldest: number): Promise<string | undefined> {
  const [one, other] = clients;
  await one.connect();
  const { rows } = await one.query(
    "select pg_backend_pid() as pid, current_setting('server_version_num')::int as version",
  );
  const version = Math.floor(rows[0].version / 10_000);
  if (version < oldest) return `is version ${version}; it must be ${oldest} or newer`;
  if (rows[0].pid === (one as unknown as { processID: number }).processID) return undefined;
  try {
    await one.query("begin");
    await one.query("commit");
  } catch {
    return "is behind a pooler in statement mode, which has no transactions; it must be in transaction or session mode";
  }
  if (await isPreparedElsewhere(one)) return undefined;
  const kept = await other
    .connect()
    .then(() => keepsSession(one, other))
    .catch(() => false);
  if (kept) return undefined;
  return (
    "is behind a pooler in transaction mode that does not keep prepared statements; it must be pgbouncer 1.21 or newer with " +
    "max_prepared_statements above 0, or in session mode"
  );
}

/** Throws UnusableDatabase, with one sentence that says what is wrong. `variable`: where the URL comes from. */
export async function refuseUnusable(
  url: string,
  { oldest = OLDEST_VERSION, variable = "DATABASE_URL" } = {},
): Promise<void> {
  const connectionString = await writableHost(url);
  const limits = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CONNECT_TIMEOUT_MS };
  const client = () => new pg.Client({ connectionString, ...limits }).on("error", () => {});
  const clients = [client(), client()] as const;
  try {
    const found = await fault(clients, oldest);
    if (found) throw new UnusableDatabase(`PostgreSQL at ${addressesOf(url)} (${variable}) ${found}.`);
  } finally {
    await Promise.all(clients.map((one) => one.end().catch(() => {})));
  }
}
