/**
 * The process's connections to PostgreSQL: Sequelize for plain row work, a pg pool for SQL that is written as SQL
 * (everything hot, set-based or streamed). One database per process, opened by mixins/database.middleware.ts.
 */
import pg from "pg";
import { Sequelize } from "sequelize";
import { bindModels } from "../index.ts";
import { BY_KEY } from "./by-key.ts";
import { allowSilence, endInSilence, SILENT_MS, STATEMENT_TIMEOUT_MS } from "./silence.ts";

export type Client = pg.PoolClient;
export type Row = Record<string, unknown>;
/** What runs a statement: the pool, or one client within a transaction. */
export type Queryable = Pick<pg.Pool, "query">;

const CONNECT_TIMEOUT_MS = 5_000;

// bigint (count, sum) as a number: exact up to 2^53, and no count here comes near it.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Of those in the pool's share: enough for two batches in the air, and for conflicts. */
const PLANNED_CONNECTIONS = 3;

/** A plan made while a table was nearly empty may read all of it once it is large. */
const PLANS_LIVE_SECONDS = 30;

interface Open {
  pool: pg.Pool;
  /** For `prepared` statements: a plan is made once per connection, and is good for whatever values come. */
  planned: pg.Pool;
  sequelize: Sequelize;
}
let open: Open | undefined;

export function openDatabase(url: string, connections: number, silentMs = SILENT_MS): Open {
  if (open) throw new Error("The database is open already");
  const planned = Math.min(PLANNED_CONNECTIONS, Math.max(1, Math.floor(connections / 5)));
  const rowWork = Math.max(1, Math.floor((connections - planned) / 2));
  const settings = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: "flockmail",
  };
  const pools = {
    pool: new pg.Pool({ ...settings, max: Math.max(1, connections - rowWork - planned) }),
    planned: new pg.Pool({
      ...settings,
      max: planned,
      options: Object.entries(BY_KEY)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(" "),
      maxLifetimeSeconds: PLANS_LIVE_SECONDS,
    }),
  };
  for (const pool of Object.values(pools)) {
    // A connection that breaks, idle or in the middle of a transaction, fails the statement that is sent over it and is
    // replaced at the next use; without these listeners it would end the process.
    pool.on("error", () => {});
    pool.on("connect", (client) => {
      client.on("error", () => {});
      endInSilence(client, silentMs);
    });
    pool.on("release", (_error, client) => allowSilence(client, silentMs));
  }
  const sequelize = new Sequelize(url, {
    dialect: "postgres",
    logging: false,
    pool: { max: rowWork, acquire: CONNECT_TIMEOUT_MS },
    dialectOptions: { statement_timeout: STATEMENT_TIMEOUT_MS, application_name: "flockmail" },
    define: { underscored: true },
    hooks: { afterConnect: (connection) => endInSilence(connection as object, silentMs) },
  });
  bindModels(sequelize);
  open = { ...pools, sequelize };
  return open;
}

export async function closeDatabase(): Promise<void> {
  const closing = open;
  open = undefined;
  await Promise.all([closing?.pool.end(), closing?.planned.end(), closing?.sequelize.close()]);
}

function current(): Open {
  if (!open) throw new Error("The database is not open");
  return open;
}

export const pool = (): pg.Pool => current().pool;
export const sequelize = (): Sequelize => current().sequelize;

/** The rows of one statement. `$1`-style parameters only; values are never concatenated. */
export async function query<T = Row>(text: string, values: unknown[] = [], on: Queryable = pool()): Promise<T[]> {
  return (await on.query(text, values)).rows as T[];
}

/** The first row of one statement, or undefined. */
export async function queryOne<T = Row>(
  text: string,
  values: unknown[] = [],
  on: Queryable = pool(),
): Promise<T | undefined> {
  return (await query<T>(text, values, on))[0];
}

/**
 * The rows of a statement that each connection plans once. For what runs hundreds of times a second: planning a statement
 * of several parts costs more than running it.
 */
export async function prepared<T = Row>(
  name: string,
  text: string,
  values: unknown[],
  on: Client | pg.Pool = current().planned,
): Promise<T[]> {
  return (await on.query({ name, text, values })).rows as T[];
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export const transaction = <T>(work: (client: Client) => Promise<T>): Promise<T> => within(pool(), work);

/** The same on a connection for `prepared` statements. */
export const preparedTransaction = <T>(work: (client: Client) => Promise<T>): Promise<T> =>
  within(current().planned, work);

async function within<T>(from: pg.Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await from.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin");
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
