/**
 * Settings of all our connections, so that nothing they hold outlives us: a frozen or disconnected process does not
 * close its connection, and by default TCP keeps it, with its locks, for two hours.
 *
 * | lost peer                                                 | noticed by                                              | within |
 * |-----------------------------------------------------------|---------------------------------------------------------|--------|
 * | frozen or cut off between two statements of a transaction | idle_in_transaction_session_timeout                     | 4 s    |
 * | cut off while a statement runs                            | keepalives, checked by client_connection_check_interval | 10 s   |
 * | cut off, or frozen, while it is sent an answer            | tcp_user_timeout                                        | 8 s    |
 * | anything else in a transaction                            | transaction_timeout (PostgreSQL 17)                     | 70 s   |
 *
 * The first needs no network, so it also works behind a proxy or NAT that keeps acknowledging. A single statement is
 * committed when it ends, whether or not its client is still connected: work that many wait for is therefore written as
 * one statement.
 *
 * SESSION also fixes the formats and the isolation level that statements rely on.
 */
import { escapeLiteral } from "pg";

export type Settings = Readonly<Record<string, string | number>>;

export const STATEMENT_TIMEOUT_MS = 60_000;
/** Beyond the statement's own time-out: for its answer, and for the other statements of its transaction. */
export const GRACE_MS = 10_000;

const IDLE_IN_TRANSACTION_MS = 4_000;
/** Longer than any lock of a lost peer is held: a longer wait is for an active transaction. */
const LOCK_TIMEOUT_MS = 15_000;

/** Settings of all connections; names unknown to the server are omitted. */
export const SESSION: Settings = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  transaction_timeout: STATEMENT_TIMEOUT_MS + GRACE_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  client_connection_check_interval: 2_000,
  tcp_user_timeout: 8_000,
  tcp_keepalives_idle: 4,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 2,
  // Compiles what the planner calls expensive: 20 ms for five expressions (PostgreSQL 15), each time. Where its estimate is
  // too high, and for statements of thousands of rows that take milliseconds, that is longer than the statement.
  jit: "off",
  // Text formats, independent of the server, database and role.
  datestyle: "ISO, MDY",
  intervalstyle: "postgres",
  timezone: "UTC",
  bytea_output: "hex",
  extra_float_digits: 1,
  standard_conforming_strings: "on",
  transform_null_equals: "off",
  array_nulls: "on",
  // A statement that waited for a lock must read the current row; it would fail under stricter levels.
  default_transaction_isolation: "read committed",
};

/** A migration takes the time it takes, and waits for one that another node applies. */
export const MIGRATION: Settings = { statement_timeout: 0, lock_timeout: 0, transaction_timeout: 0 };

/** The settings $1 (names) with the values $2, in their order. What the server does not have is left out. */
const SET = `from unnest($1::text[], $2::text[]) s (name, value) where current_setting(name, true) is not null`;

/**
 * Returns the settings as statements that are sent together with the start of a transaction. Contains only our own
 * names and values.
 */
export const localSettings = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `set local ${name} = ${escapeLiteral(String(value))}`)
    .join("; ");

const columns = (settings: readonly (readonly [string, string | number])[]) => [
  settings.map(([name]) => name),
  settings.map(([, value]) => String(value)),
];

export const setLocally = (settings: readonly (readonly [string, string | number])[]) => ({
  text: `select set_config(name, value, true) ${SET}`,
  values: columns(settings),
});

/**
 * Sets the settings for the session, but not through a pooler, which shares its sessions. A pooler is recognised
 * because it reports a process id of its own: $3 is the one that this client got.
 */
export const setForSession = (settings: Settings, processId: number) => ({
  text: `select pg_backend_pid() <> $3 as pooled, pg_is_in_recovery() as standby,
    (select array_agg(name) ${SET} and pg_backend_pid() <> $3) as known,
    (select count(set_config(name, value, false)) ${SET} and pg_backend_pid() = $3) as set`,
  values: [...columns(Object.entries(settings)), processId],
});

export interface SessionRow {
  pooled: boolean;
  standby: boolean;
  /** Names of the settings that the server knows; only set behind a pooler. */
  known: string[] | null;
}
