/** Runs work that is abandoned if it takes too long; its transaction continues. */
import type { Client } from "./db.ts";
import { isQueryCanceled } from "./outage.ts";
import { localSettings } from "./session-settings.ts";

const limit = (ms: number) => localSettings({ statement_timeout: ms });

/** Limits each further statement of the transaction. */
export const limitStatements = async (client: Client, ms: number): Promise<void> =>
  void (await client.query(limit(ms)));

/**
 * Runs `work` with a limit per statement. If one takes longer, undoes the work, restores the earlier limit and returns
 * undefined.
 */
export async function withinTime<T>(client: Client, ms: number, work: () => Promise<T>): Promise<T | undefined> {
  // The limit is set after the savepoint, so that the rollback removes it: it would otherwise interrupt the rollback on
  // a busy machine.
  await client.query(`savepoint before_work; ${limit(ms)}`);
  try {
    return await work();
  } catch (error) {
    if (!isQueryCanceled(error)) throw error;
    await client.query("rollback to savepoint before_work");
    return undefined;
  }
}
