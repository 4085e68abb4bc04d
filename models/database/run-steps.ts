/**
 * Migrations that rewrite a large table while mail is sent: a file that begins with "-- steps" is run step by step, each by
 * itself, and what is done is remembered, so that an interrupted one goes on where it was.
 *
 * | `-- step …` | is run                                                                                         |
 * |-------------|------------------------------------------------------------------------------------------------|
 * | quick       | in one transaction; a lock is waited for 2 s at most, and asked for again a little later: whoever comes behind us in the queue waits no longer |
 * | repeat      | again and again, each time in a transaction of its own, while it answers `more`                 |
 * | alone       | outside of a transaction: VALIDATE                                                             |
 * | index       | outside of a transaction: CREATE INDEX CONCURRENTLY; what an interrupted one has left is dropped |
 * | indexes     | answers the texts of such statements as `sql`, until there is none: for the parts of a table     |
 */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

/** For the rest of a transaction: who comes behind it in the queue waits no longer either. */
export const WAIT_SHORTLY = "set local lock_timeout = '2s'";
export const AGAIN_MS = 500;
/** SQLSTATE lock_not_available, deadlock_detected. */
const BUSY = /^(55P03|40P01)$/;
export const isBusy = (error: unknown): boolean => BUSY.test((error as { code?: string }).code ?? "");

export interface StepClient extends pg.Client {
  queryAlone(text: string): Promise<unknown>;
}

type Mode = "quick" | "repeat" | "alone" | "index" | "indexes";
interface Step {
  mode: Mode;
  sql: string;
}

export const hasSteps = (sql: string): boolean => sql.startsWith("-- steps\n");

function stepsOf(sql: string): Step[] {
  const [, ...parts] = sql.split(/^-- step (?=(?:quick|repeat|alone|index|indexes)$)/m);
  return parts.map((part) => ({
    mode: part.split("\n", 1)[0] as Mode,
    sql: part.slice(part.indexOf("\n") + 1).trim(),
  }));
}

const DONE = "create table if not exists migration_steps (name text, step integer, primary key (name, step))";
const REMEMBER = "insert into migration_steps (name, step) values ($1, $2)";

/** Until it has its locks. The step and the memory of it are one transaction. */
async function runQuick(client: StepClient, { sql }: Step, key: readonly unknown[]): Promise<void> {
  for (;;) {
    await client.query("begin");
    try {
      await client.query(WAIT_SHORTLY);
      await client.query(sql);
      await client.query(REMEMBER, [...key]);
      await client.query("commit");
      return;
    } catch (error) {
      await client.query("rollback");
      if (!isBusy(error)) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

async function runRepeat(client: StepClient, { sql }: Step): Promise<void> {
  for (let more = true; more; ) {
    try {
      more = (await client.query<{ more: boolean }>(sql)).rows[0]!.more;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await sleep(1);
  }
}

/** SQLSTATE duplicate_table: of a process that was killed, whose server went on with it. */
const EXISTS = "42P07";
const STATE = `select i.indisvalid as valid from pg_index i where i.indexrelid = to_regclass($1)`;

async function buildIndex(client: StepClient, { sql }: Pick<Step, "sql">): Promise<void> {
  const name = /index concurrently (\w+) on/.exec(sql)![1];
  for (;;) {
    const { rows } = await client.query<{ valid: boolean }>(STATE, [name]);
    if (rows[0]?.valid) return;
    if (rows[0]) await client.queryAlone(`drop index concurrently if exists ${name}`);
    try {
      await client.queryAlone(sql);
    } catch (error) {
      // A deadlock leaves an index that is not valid.
      if ((error as { code?: string }).code !== EXISTS && !isBusy(error)) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

async function buildIndexes(client: StepClient, { sql }: Step): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ sql: string }>(sql);
    if (rows.length === 0) return;
    for (const row of rows) await buildIndex(client, row);
  }
}

/** The caller sees to it that nobody else runs the same steps. */
export async function runSteps(client: StepClient, name: string, sql: string): Promise<void> {
  await client.query(DONE);
  const { rows } = await client.query<{ step: number }>("select step from migration_steps where name = $1", [name]);
  const done = new Set(rows.map(({ step }) => step));
  for (const [no, step] of stepsOf(sql).entries()) {
    if (done.has(no)) continue;
    if (step.mode === "quick") {
      await runQuick(client, step, [name, no]);
      continue;
    }
    if (step.mode === "repeat") await runRepeat(client, step);
    else if (step.mode === "index") await buildIndex(client, step);
    else if (step.mode === "indexes") await buildIndexes(client, step);
    else await client.queryAlone(step.sql);
    await client.query(REMEMBER, [name, no]);
  }
}
