import { setTimeout as sleep } from "node:timers/promises";
import { closeDatabase, openDatabase, queryOne, transaction } from "../../../models/database/db.ts";
import { withinTime } from "../../../models/database/within-time.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const LONG_MS = 60_000;
const BACKEND = "select pg_backend_pid() pid, current_setting('statement_timeout') as limit";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  openDatabase(database.url, 3);
});
afterAll(async () => {
  await closeDatabase();
  await database.drop();
});

/** Gives the backend the CPU in short slices, as on a busy machine, until `work` is done. */
async function inTurns(pid: number, work: () => Promise<void>): Promise<void> {
  let isDone = false;
  const working = work().finally(() => (isDone = true));
  while (!isDone) {
    process.kill(pid, "SIGSTOP");
    await sleep(2);
    process.kill(pid, "SIGCONT");
    await new Promise(setImmediate);
  }
  await working;
}

test("work that takes too long is abandoned, also on a busy machine, and its transaction continues", async () => {
  await transaction(async (client) => {
    const { pid, limit } = (await queryOne<{ pid: number; limit: string }>(BACKEND, [], client))!;
    await inTurns(pid, async () => {
      for (let round = 0; round < 200; round++) {
        expect(await withinTime(client, 1, () => client.query("select pg_sleep(60)"))).toBeUndefined();
      }
    });
    expect((await queryOne<{ limit: string }>(BACKEND, [], client))!.limit).toBe(limit);
  });
});

test("an error other than a time-out is passed on unchanged", async () => {
  const failed = transaction((client) => withinTime(client, LONG_MS, () => client.query("select 1/0")));
  await expect(failed).rejects.toThrow("division by zero");
});
