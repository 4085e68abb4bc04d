import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "../../../services/lib/processes/embedded-postgres.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { dataFolder } from "../../support/service-process.ts";

jest.setTimeout(60_000);

const data = dataFolder(memoryFolder());
afterAll(() => data.remove());

async function ask(url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

test("a stop that takes too long is cut short, and nothing committed is lost", async () => {
  // A graceful stop waits for log archiving, which takes longer here than the test may.
  const slow = { archive_mode: "on", archive_command: "sleep 200" };
  const first = await startEmbeddedPostgres(data.path, slow);
  await ask(first.url, "create table kept (n int)", "insert into kept values (42)", "select pg_switch_wal()");
  await first.stop(500);

  const second = await startEmbeddedPostgres(data.path);
  expect(await ask(second.url, "select n from kept")).toEqual([{ n: 42 }]);
  await second.stop();
});

// Only root can change a folder's owner.
const testAsRoot = process.getuid?.() === 0 ? test : test.skip;
testAsRoot("a database created by another user is refused with that user's name", async () => {
  const foreign = dataFolder(memoryFolder());
  mkdirSync(join(foreign.path, "postgres"), { mode: 0o700 });
  chownSync(join(foreign.path, "postgres"), 4_242, 4_242);
  await expect(startEmbeddedPostgres(foreign.path)).rejects.toThrow("belongs to another user (uid 4242, this is 0)");
  foreign.remove();
});
