/** Builds an index while others read and write its table: CREATE INDEX CONCURRENTLY, which runs outside of a transaction. */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

/** Limits lock waits for the rest of a transaction, so that others queue behind us only briefly. */
export const SHORT_LOCK_TIMEOUT = "set local lock_timeout = '2s'";
export const RETRY_MS = 500;
/** SQLSTATE lock_not_available, deadlock_detected. */
const BUSY = /^(55P03|40P01)$/;
export const isBusy = (error: unknown): boolean => BUSY.test((error as { code?: string }).code ?? "");

export interface MigrationClient extends pg.Client {
  queryAlone(text: string): Promise<unknown>;
}

/** SQLSTATE duplicate_table: the server finished the build of a process that was killed. */
const EXISTS = "42P07";
const STATE = "select i.indisvalid as valid from pg_index i where i.indexrelid = to_regclass($1)";

/** Returns once the index is there and valid; an interrupted build is dropped and begun again. */
export async function buildIndex(client: MigrationClient, sql: string): Promise<void> {
  const name = /index concurrently (\w+) on/.exec(sql)?.[1];
  if (!name) throw new Error(`Not a statement that creates an index concurrently: ${sql}`);
  for (;;) {
    const { rows } = await client.query<{ valid: boolean }>(STATE, [name]);
    if (rows[0]?.valid) return;
    if (rows[0]) await client.queryAlone(`drop index concurrently if exists ${name}`);
    try {
      await client.queryAlone(sql);
    } catch (error) {
      // A deadlock leaves an index that is not valid.
      if ((error as { code?: string }).code !== EXISTS && !isBusy(error)) throw error;
      await sleep(RETRY_MS);
    }
  }
}
