/**
 * The process's connections to PostgreSQL: Sequelize for CRUD and settings, pg pools for statements written as SQL
 * (everything hot, set-based or streamed). One database per process, opened by mixins/database.middleware.ts.
 */
import pg from "pg";
import { Sequelize } from "sequelize";
import { asOwner, currentOwner } from "../../services/lib/owner.ts";
import { bindModels } from "../index.ts";
import { BY_KEY } from "./by-key.ts";
import { CONNECT_TIMEOUT_MS, DatabaseClient } from "./client.ts";
import { closeUnanswered } from "./lost-answers.ts";
import { localSettings, type Settings } from "./session-settings.ts";
import { SharedPool } from "./shared-pool.ts";
import { shareConnections } from "./shares.ts";
import { allowSilence, SILENT_MS } from "./silence.ts";

export type Client = pg.PoolClient;
export type Row = Record<string, unknown>;
/** Runs statements: the pool, or one client within a transaction. */
export type Queryable = Pick<pg.Pool, "query">;

// bigint (count, sum) as a number: exact up to 2^53, and no count here comes near it.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** A plan made while a table was nearly empty may read all of it once it is large. */
const PLANS_LIVE_SECONDS = 30;
const PROBE_SILENT_MS = 3_000;

interface Connections {
  pool: pg.Pool;
  /**
   * Pool for long work of one company (bulk.ts); the same pool if there are too few connections to divide. Its
   * transactions of receivers use `prepared` statements, too.
   */
  bulk: pg.Pool;
  /** Pool for `prepared` statements, which each connection plans once for all values. */
  prepared: pg.Pool;
  sequelize: Sequelize;
  /** Reserved connection for health checks: work that uses all others must not make the database look unavailable. */
  probe: pg.Pool;
}
let open: Connections | undefined;

interface PoolOptions {
  max: number;
  silentMs: number;
  settings?: Settings;
  maxLifetimeSeconds?: number;
}

function openPool(url: string, { max, silentMs, settings, maxLifetimeSeconds = 0 }: PoolOptions): pg.Pool {
  const pool = new SharedPool({
    Client: DatabaseClient.of(url, { settings, silentMs }),
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    maxLifetimeSeconds,
  });
  // A connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on("error", () => {});
  pool.on("release", (_error, client) => allowSilence(client, silentMs));
  return pool;
}

/** `silentMs`: a connection on which the database says nothing for that long while it should is given up. */
export function openDatabase(url: string, connections: number, silentMs = SILENT_MS): Connections {
  if (open) throw new Error("The database is open already");
  const share = shareConnections(connections);
  const planned = { silentMs, maxLifetimeSeconds: PLANS_LIVE_SECONDS };
  const pool = openPool(url, { max: share.sql, ...(share.bulk > 0 ? { silentMs } : planned) });
  const bulk = share.bulk > 0 ? openPool(url, { max: share.bulk, ...planned }) : pool;
  const prepared = openPool(url, { max: share.prepared, ...planned, settings: BY_KEY });
  const sequelize = new Sequelize({
    dialect: "postgres",
    dialectModule: { ...pg, Client: DatabaseClient.of(url, { silentMs }) },
    logging: false,
    pool: { max: share.models, acquire: CONNECT_TIMEOUT_MS },
    define: { underscored: true },
    // No session settings, because behind a pooler sessions are shared.
    ...{ keepDefaultTimezone: true },
    dialectOptions: { clientMinMessages: "ignore" },
  });
  const probe = openPool(url, { max: 1, silentMs });
  // Health checks are fast, so a short time-out applies: a connection that lost an answer must not block the next
  // check.
  probe.on("acquire", (client) => allowSilence(client, PROBE_SILENT_MS));
  bindModels(sequelize);
  open = { pool, bulk, prepared, sequelize, probe };
  return open;
}

export async function closeDatabase(): Promise<void> {
  const closing = open;
  open = undefined;
  if (!closing) return;
  const pools = new Set([closing.pool, closing.bulk, closing.prepared, closing.probe]);
  await Promise.all([...[...pools].map((pool) => pool.end()), closing.sequelize.close()]);
}

function current(): Connections {
  if (!open) throw new Error("The database is not open");
  return open;
}

const opened = (client: Client) => client as unknown as DatabaseClient;
/** Settings for the client's life: it must not return to the pool. */
export const applySettings = (client: Client, settings: Settings): Promise<void> => opened(client).apply(settings);
/** Returns whether each transaction may run in a different session. */
export const isPooled = (client: Client): boolean => opened(client).pooled;

export const pool = (): pg.Pool => current().pool;
export const bulkPool = (): pg.Pool => current().bulk;
export const sequelize = (): Sequelize => current().sequelize;

/** Checks over a separate connection whether the database answers. */
export const askDatabase = async (): Promise<void> => void (await current().probe.query("select 1"));

/** Closes connections whose statements will never be answered after an outage, to make room for others. */
export const closeLostConnections = (): Promise<number> =>
  closeUnanswered(DatabaseClient.open, (text, values) => query(text, values, current().probe));

/** The rows of one statement. `$1`-style parameters only; values are never concatenated. */
export async function query<T = Row>(text: string, values: unknown[] = [], client: Queryable = pool()): Promise<T[]> {
  return (await client.query(text, values)).rows as T[];
}

/** The first row of one statement, or undefined. */
export async function queryOne<T = Row>(
  text: string,
  values: unknown[] = [],
  client: Queryable = pool(),
): Promise<T | undefined> {
  return (await query<T>(text, values, client))[0];
}

/**
 * Runs a statement that each connection plans once, for statements that run hundreds of times per second: planning
 * complex ones costs more than running them. On a client of another pool its transaction must be `BY_KEY`.
 */
export async function prepared<T = Row>(
  name: string,
  text: string,
  values: unknown[],
  client: Client | pg.Pool = current().prepared,
): Promise<T[]> {
  return (await client.query({ name, text, values })).rows as T[];
}

interface TransactionOptions {
  from?: pg.Pool;
  /** Company whose share the connection uses, if not the caller's: for an anonymous request about a company. */
  owner?: string;
  /** Settings for this transaction. */
  settings?: Settings;
}

/**
 * Somebody waits for the answer: a lock that is not free by then (an import at its merge, say) fails the request, which
 * may come again, instead of keeping the connection.
 */
export const INTERACTIVE: TransactionOptions = { settings: { lock_timeout: 2_000 } };

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export function transaction<T>(work: (client: Client) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
  const { from = pool(), owner = currentOwner(), settings } = options;
  return asOwner(owner, () => within(from, work, settings));
}

/** The same on a connection for `prepared` statements. */
export const preparedTransaction = <T>(work: (client: Client) => Promise<T>): Promise<T> =>
  within(current().prepared, work);

async function within<T>(from: pg.Pool, work: (client: Client) => Promise<T>, settings?: Settings): Promise<T> {
  const client = await from.connect();
  let broken: Error | undefined;
  try {
    await client.query(settings ? `begin; ${localSettings(settings)}` : "begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    // A client whose rollback failed is in an unknown state and must not be used again.
    client.release(broken);
  }
}

/** PostgreSQL refused what a statement said (a value, a constraint, a limit), and would refuse it again. */
export const isRefusal = (error: unknown): boolean => /^(22|23|54)/.test((error as { code?: string }).code ?? "");
