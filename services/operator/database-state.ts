/** Reads PostgreSQL's state for `doctor`: settings, capacity, long-running statements and leftovers. */
import { query, queryOne, type Row, transaction } from "../../models/database/db.ts";
import { type DatabaseRole, databaseRole } from "../../models/database/role.ts";

/** Shorter than a check's timeout: a slow statement then fails in the database and does not keep running. */
const SETTINGS = { statement_timeout: 4_000, lock_timeout: 1_000 };

export const readRows = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  transaction((client) => query<T>(text, values, client), { settings: SETTINGS });
export const readRow = async <T>(text: string, values?: unknown[]): Promise<T> => (await readRows<T>(text, values))[0]!;

export interface ServerFacts {
  version: string;
  version_number: number;
  /** Null if the role may not see it. */
  tls: boolean | null;
  /** The server's address of this connection; null for a Unix socket. */
  address: string | null;
  role: DatabaseRole;
  max_connections: number;
  reserved_connections: number;
  connections: number;
  autovacuum: boolean;
  fsync: boolean;
  full_page_writes: boolean;
  /** "off" means that acknowledged data can be lost when the server crashes. */
  synchronous_commit: string;
  /** Transactions since the oldest unfrozen row; PostgreSQL stops at two billion. */
  oldest_transaction_age: number;
}

const SERVER = `
  select current_setting('server_version') as version, current_setting('server_version_num')::int as version_number,
    (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as tls, host(inet_server_addr()) as address,
    current_setting('max_connections')::int as max_connections,
    current_setting('superuser_reserved_connections')::int
      + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved_connections,
    (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as connections,
    current_setting('autovacuum') = 'on' and current_setting('track_counts') = 'on' as autovacuum,
    current_setting('fsync') = 'on' as fsync, current_setting('full_page_writes') = 'on' as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    (select age(datfrozenxid) from pg_database where datname = current_database())::float8 as oldest_transaction_age`;

export const serverFacts = (): Promise<ServerFacts> =>
  transaction(
    async (client) => ({
      ...(await queryOne<Omit<ServerFacts, "role">>(SERVER, [], client))!,
      role: await databaseRole(client),
    }),
    { settings: SETTINGS },
  );

/** Share of used campaign numbers, from 0 to 1. Null if the role may not see it. */
const NUMBERS_USED = `
  select (select last_value::float8 / max_value from pg_sequences
    where schemaname = current_schema() and sequencename = 'campaign_no') as used`;

export const campaignNumbersUsed = async (): Promise<number | null> =>
  (await readRow<{ used: number | null }>(NUMBERS_USED)).used;

export interface LongWork {
  /** Open for more than five minutes; includes other roles only if visible to this one. */
  transactions: number;
  oldest_seconds: number;
  oldest_application: string | null;
  /** Prepared transactions (two-phase commit) that nobody finished. */
  prepared: number;
  /** Unused replication slots, which keep the server from deleting log files. */
  idle_slots: number;
  kept_bytes: number;
}

const LONG_WORK = `
  with long as (
    select xact_start, application_name from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid() and xact_start < now() - interval '5 minutes')
  select (select count(*) from long)::int as transactions,
    coalesce(extract(epoch from now() - (select min(xact_start) from long)), 0)::float8 as oldest_seconds,
    (select application_name from long order by xact_start limit 1) as oldest_application,
    (select count(*) from pg_prepared_xacts where prepared < now() - interval '5 minutes')::int as prepared,
    (select count(*) from pg_replication_slots where not active)::int as idle_slots,
    coalesce((select max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) from pg_replication_slots where not active),
      0)::float8 as kept_bytes`;

export const longWork = (): Promise<LongWork> => readRow<LongWork>(LONG_WORK);

export interface TableState {
  name: string;
  live: number;
  dead: number;
  was_analyzed: boolean;
}

// Small tables are vacuumed and analysed in no time, so their ratios are meaningless.
const LARGE_TABLES = `
  select relname as name, n_live_tup::float8 as live, n_dead_tup::float8 as dead,
    coalesce(last_analyze, last_autoanalyze) is not null as was_analyzed
  from pg_stat_user_tables where n_live_tup + n_dead_tup > 50000 order by n_dead_tup desc limit 200`;

export const largeTables = (): Promise<TableState[]> => readRows<TableState>(LARGE_TABLES);

export interface Storage {
  bytes: number;
  /** Left by interrupted index builds: unused, but maintained by every write. */
  broken_indexes: string[];
}

const STORAGE = `
  select pg_database_size(current_database())::float8 as bytes,
    coalesce((select array_agg(i.indexrelid::regclass::text) from pg_index i join pg_class c on c.oid = i.indexrelid
      where not i.indisvalid and c.relkind = 'i' and c.relnamespace = current_schema()::regnamespace), '{}') as broken_indexes`;

export const storage = (): Promise<Storage> => readRow<Storage>(STORAGE);

/** True if the partition of recipients after the current one exists. */
const PART_AHEAD = `
  select (select max(no) from recipient_parts) > (select last_value >> 20 from campaign_no) as is_there`;

export const isPartAhead = async (): Promise<boolean> => (await readRow<{ is_there: boolean }>(PART_AHEAD)).is_there;

/** True if next month's partition of hits exists. */
const HIT_PART_AHEAD = `
  select exists (select from hit_parts
    where month = date_trunc('month', now() at time zone 'UTC')::date + interval '1 month') as is_there`;

export const isHitPartAhead = async (): Promise<boolean> =>
  (await readRow<{ is_there: boolean }>(HIT_PART_AHEAD)).is_there;

/** Names of the applied migrations. */
export const appliedMigrations = async (): Promise<string[]> =>
  (await readRows<Row & { name: string }>("select name from migrations")).map(({ name }) => name);

/** The database's clock, in milliseconds since 1970. */
export async function databaseClock(): Promise<number> {
  const row = await queryOne<{ ms: number }>("select extract(epoch from clock_timestamp())::float8 * 1000 as ms");
  return row!.ms;
}
