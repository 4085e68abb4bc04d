/**
 * Reads which history the database has. A promoted replica continues without its primary's last transactions if they
 * were not replicated (asynchronous replication), and starts a new timeline. A restored dump is another system.
 *
 * Both functions may be called by every role of PostgreSQL itself. Where they may not, or do not exist (some hosted
 * databases), the history is null: a lost one cannot be noticed there.
 */
import { query } from "./db.ts";

/** Not read from the control file, whose checkpoint still has the old timeline until the first new checkpoint. */
const TIMELINE = "left(pg_walfile_name(pg_current_wal_lsn()), 8)";

/**
 * Ids of the database and of a table in it: a restored dump gets new ones, even if restored in place. Replicas and file
 * copies keep them.
 */
const DATABASE = `(select oid::text from pg_database where datname = current_database())
  || '.' || to_regclass('installation')::oid::text`;

/** SQL: this is (still) the timeline and database $param, as `positionOf` names them; null: any. */
export const isOnTimeline = (param: string) =>
  `(${param}::text is null or (select ${TIMELINE} || '/' || ${DATABASE}) = ${param})`;

/** Position for `isOnTimeline`. */
export const positionOf = ({ history, database }: DatabaseState): string | null =>
  history && `${history.timeline}/${database}`;

/** The server, the database and a table in it. A part that may not be read is unknown to all senders. */
export const identityOf = ({ history, database }: DatabaseState): string => `${history?.system ?? "?"}/${database}`;

export interface DatabaseState {
  /** The database's clock. */
  at: string;
  /** Another one, where a dump was restored. */
  database: string;
  /** The identity that senders recorded last (models/statements/restored-database.ts). */
  workedOn: string | null;
  history: { system: string; timeline: string } | null;
}

const MOMENT = `now()::text as at, ${DATABASE} as database, (select worked_on from installation) as worked_on`;
const HISTORY = `(select system_identifier::text from pg_control_system()) as system, ${TIMELINE} as timeline`;

interface StateRow {
  at: string;
  database: string;
  worked_on: string | null;
  found: boolean | null;
  system: string;
  timeline: string;
}

/** Not allowed; no such function; not supported. */
const UNREADABLE = /^(42501|42883|0A000)$/;
let readable = true;

/** `question`: an expression that is answered in the same statement, as `found`. */
export async function readDatabaseState(question = "null::boolean"): Promise<DatabaseState & { found: boolean }> {
  if (readable) {
    try {
      const sql = `select ${MOMENT}, ${HISTORY}, ${question} as found`;
      const { at, database, worked_on: workedOn, system, timeline, found } = (await query<StateRow>(sql))[0]!;
      return { at, database, workedOn, history: { system, timeline }, found: found === true };
    } catch (error) {
      if (!UNREADABLE.test((error as { code?: string }).code ?? "")) throw error;
      readable = false;
    }
  }
  const sql = `select ${MOMENT}, ${question} as found`;
  const { at, database, worked_on: workedOn, found } = (await query<StateRow>(sql))[0]!;
  return { at, database, workedOn, history: null, found: found === true };
}

export type Replication = "none" | "synchronous" | "asynchronous";

/**
 * Tells whether commits are also on a replica. Undefined: this role may not see it (it is not a member of pg_monitor,
 * and synchronous replication is configured). Settings of the role or database can override the server's.
 */
const REPLICATION = `
  select count(*)::int as replicas, count(sync_state)::int as visible,
    count(*) filter (where sync_state in ('sync', 'quorum'))::int as synchronous,
    current_setting('synchronous_commit') not in ('off', 'local') as waits,
    current_setting('synchronous_standby_names') <> '' as named
  from pg_stat_replication where coalesce(state, '') <> 'backup'`;

interface ReplicationRow {
  replicas: number;
  visible: number;
  synchronous: number;
  waits: boolean;
  named: boolean;
}

export async function readReplication(): Promise<Replication | undefined> {
  const { replicas, visible, synchronous, waits, named } = (await query<ReplicationRow>(REPLICATION))[0]!;
  if (replicas === 0) return "none";
  if (!waits || !named) return "asynchronous";
  if (visible === 0) return undefined;
  return synchronous > 0 ? "synchronous" : "asynchronous";
}
