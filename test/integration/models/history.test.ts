/** The database history that a sender reads with an ordinary role. */
import pg from "pg";
import { closeDatabase, openDatabase } from "../../../models/database/db.ts";
import { readDatabaseState, readReplication } from "../../../models/database/history.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const ROLE = `ordinary_${process.pid}`;
let database: TestDatabase;
let admin: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(`create role ${ROLE} login password 'ordinary'`);
  await admin.query(`grant select on installation to ${ROLE}`);
  const url = new URL(database.url);
  url.username = ROLE;
  url.password = "ordinary";
  openDatabase(url.href, 3);
});
afterAll(async () => {
  await closeDatabase();
  await admin.query(`drop owned by ${ROLE}`);
  await admin.query(`drop role ${ROLE}`);
  await admin.end();
  await database.drop();
});

test("a role that may only read tables reads the database's history and clock", async () => {
  const first = await readDatabaseState();
  const second = await readDatabaseState();
  expect(first.history).toEqual({
    system: expect.stringMatching(/^\d+$/),
    timeline: expect.stringMatching(/^[0-9A-F]{8}$/),
  });
  expect(first.database).toMatch(/^\d+\.\d+$/);
  expect([second.history, second.database]).toEqual([first.history, first.database]);
  expect(new Date(second.at).getTime()).toBeGreaterThanOrEqual(new Date(first.at).getTime());
});

test("a database without replicas is reported as having none", async () => {
  expect(await readReplication()).toBe("none");
});
