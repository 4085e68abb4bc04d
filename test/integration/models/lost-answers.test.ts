/** After a network lost answers, waiting statements fail at once, and those that PostgreSQL still executes continue. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { DatabaseClient } from "../../../models/database/client.ts";
import { closeDatabase, closeLostConnections, openDatabase, query } from "../../../models/database/db.ts";
import { closeUnanswered } from "../../../models/database/lost-answers.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type SilentProxy, startSilentProxy } from "../../support/silent-proxy.ts";

const SLOW = "select pg_sleep(2)";

let database: TestDatabase;
let proxy: SilentProxy;

beforeAll(async () => {
  database = await createDatabase();
  const url = new URL(database.url);
  proxy = await startSilentProxy(Number(url.port));
  url.port = `${proxy.port}`;
  openDatabase(url.href, 10);
});
afterAll(async () => {
  await closeDatabase();
  await proxy.stop();
  await database.drop();
});

/** Statements at which PostgreSQL works, as it says itself and not through the proxy. */
async function working(client: pg.Client): Promise<string[]> {
  const sql =
    "select query from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()";
  return (await client.query<{ query: string }>(sql)).rows.map((row) => row.query);
}

test("a statement whose answer is lost fails as an outage; one that PostgreSQL still executes gets its answer", async () => {
  const settled: string[] = [];
  const settle = (what: string, statement: Promise<unknown>) =>
    statement.then(
      () => settled.push(`${what} is answered`),
      (error: Error) => settled.push(`${what}: ${error.message}`),
    );
  await Promise.all([query("select 1"), query("select 2")]);
  const slow = settle("the slow one", query(SLOW));
  proxy.swallow("toClient");
  const lost = settle("the lost one", query("select pg_sleep(0.01)"));
  const direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  while ((await working(direct)).join() !== SLOW) await sleep(10);
  await direct.end();
  await proxy.pass();
  // Connections that lost bytes stay silent, so this query uses another.
  expect(await closeLostConnections()).toBe(1);
  await Promise.all([slow, lost]);
  expect(settled).toEqual(["the lost one: The database has not answered: it is lost.", "the slow one is answered"]);
});

test("a statement that had not begun when PostgreSQL was asked, and is executing later, does not count as lost", async () => {
  const destroy = jest.fn();
  const client = { pooled: false, _activeQuery: {}, processID: 7, connection: { stream: { destroy } } };
  const answers = [[], [{ pid: 7 }]];
  const given = await closeUnanswered([client as unknown as DatabaseClient], async () => answers.shift()!);
  expect({ given, asked: 2 - answers.length, destroyed: destroy.mock.calls.length }).toEqual({
    given: 0,
    asked: 2,
    destroyed: 0,
  });
});
