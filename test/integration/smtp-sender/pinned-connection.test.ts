/** The connection that the engine keeps for its statements. */
import { closeDatabase, openDatabase } from "../../../models/database/db.ts";
import { PinnedConnection } from "../../../services/smtp-sender/engine/pinned-connection.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const CONNECTIONS = 6;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  // A statement ends soon after its connection was dropped, and not with its pg_sleep.
  openDatabase(`${database.url}?options=-c%20client_connection_check_interval%3D50`, CONNECTIONS);
});
afterAll(async () => {
  await database.drop();
});

test("statements run in order, and a failing one blocks none behind it", async () => {
  const line = new PinnedConnection();
  const [refused, behind] = await Promise.allSettled([
    line.run("refused", "select 1 / $1::int as n", [0]),
    line.run<{ n: number }>("behind", "select $1::int as n", [7]),
  ]);
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "22012" } });
  expect(behind).toEqual({ status: "fulfilled", value: [{ n: 7 }] });
  line.close();
});

test("a database that stops answering is queried again over another connection", async () => {
  const line = new PinnedConnection(200);
  // Longer than the test may take.
  await expect(line.run("silent", "select pg_sleep(100)", [])).rejects.toThrow(/terminated/);
  expect(await line.run("again", "select 1 as n", [])).toEqual([{ n: 1 }]);
  line.close();
});

test("waiting statements open no connection after it is closed, so that the database can be closed", async () => {
  const line = new PinnedConnection();
  await line.run("open", "select 1", []);
  const waiting = Promise.allSettled([
    line.run("slow", "select pg_sleep(200)", []),
    line.run("next", "select 1", []),
    line.run("last", "select 1", []),
  ]);
  await new Promise((done) => setTimeout(done, 100));
  line.close();
  expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await closeDatabase();
});
