/**
 * What is set for each of our connections, so that nothing it holds for us outlives us: a process that is
 * frozen or cut off says no goodbye, and by default TCP holds its connection, and that connection its locks, for two hours.
 *
 * | what is gone                                            | noticed by                                            | within |
 * |---------------------------------------------------------|-------------------------------------------------------|--------|
 * | frozen or cut off between two statements of a transaction | idle_in_transaction_session_timeout                  | 4 s    |
 * | cut off while a statement runs                          | keepalives, looked at by client_connection_check_interval | 10 s |
 * | cut off, or frozen, while it is sent an answer          | tcp_user_timeout                                      | 8 s    |
 * | anything else in a transaction                          | transaction_timeout (PostgreSQL 17)                   | 70 s   |
 *
 * The first needs no network, so it also holds behind a proxy or a NAT that goes on acknowledging. A statement that runs by
 * itself is committed when it ends, whether anybody listens or not: what many wait for is therefore written as one statement.
 *
 * SESSION also fixes the formats and the isolation level that statements rely on.
 */
import { escapeLiteral } from "pg";

export type Settings = Readonly<Record<string, string | number>>;

export const STATEMENT_TIMEOUT_MS = 60_000;
/** Beyond the statement's own time-out: for its answer, and for the other statements of its transaction. */
export const GRACE_MS = 10_000;

const IDLE_IN_TRANSACTION_MS = 4_000;
/** Longer than any lock of one that is gone is held: whoever waits beyond it waits for somebody who is at work. */
const LOCK_TIMEOUT_MS = 15_000;

/** For all connections; a name that the server does not have yet is left out. */
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
  // How texts are read and written, whatever the server, the database or the role has.
  datestyle: "ISO, MDY",
  intervalstyle: "postgres",
  timezone: "UTC",
  bytea_output: "hex",
  extra_float_digits: 1,
  standard_conforming_strings: "on",
  transform_null_equals: "off",
  array_nulls: "on",
  // A statement that waited for a lock reads the row as it is then; under stricter levels it would fail.
  default_transaction_isolation: "read committed",
};

/** A migration takes the time it takes, and waits for one that another node applies. */
export const MIGRATION: Settings = { statement_timeout: 0, lock_timeout: 0, transaction_timeout: 0 };

/** The settings $1 (names) with the values $2, in their order. What the server does not have is left out. */
const SET = `from unnest($1::text[], $2::text[]) s (name, value) where current_setting(name, true) is not null`;

/** As statements, to go in one message with the one that begins a transaction. Only our own names and values. */
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
 * For the session, unless a pooler stands between (then the session is not ours). It gives its clients a process id of
 * its own: $3 is the one that this client got.
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
  /** Behind a pooler: the settings that the server has. */
  known: string[] | null;
}
