import pg from "pg";
import { startEmbeddedPostgres } from "../../../services/lib/processes/embedded-postgres.ts";
import { dataFolder } from "../../support/service-process.ts";

jest.setTimeout(60_000);

const data = dataFolder();
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

test("an end that takes too long is cut short, and nothing that was committed is lost", async () => {
  // An orderly end waits for an archive that is slow to take the log: here for longer than the test may take.
  const slow = { archive_mode: "on", archive_command: "sleep 200" };
  const first = await startEmbeddedPostgres(data.path, slow);
  await ask(first.url, "create table kept (n int)", "insert into kept values (42)", "select pg_switch_wal()");
  await first.stop(500);

  const second = await startEmbeddedPostgres(data.path);
  expect(await ask(second.url, "select n from kept")).toEqual([{ n: 42 }]);
  await second.stop();
});
