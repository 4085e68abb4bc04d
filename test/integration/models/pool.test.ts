import pg from "pg";
import { closeDatabase, openDatabase, prepared, query, sequelize } from "../../../models/database/db.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const CONNECTIONS = 10;
const SLEEP = "select pg_sleep(0.3)";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  openDatabase(database.url, CONNECTIONS);
});
afterAll(async () => {
  await closeDatabase();
  await database.drop();
});

test("however much is asked at once, a process has no more connections than DATABASE_POOL, and each use its share", async () => {
  const each = (ask: () => Promise<unknown>) => Array.from({ length: CONNECTIONS }, ask);
  const busy = Promise.all([
    ...each(() => query(SLEEP)),
    ...each(() => prepared("sleep", SLEEP, [])),
    ...each(() => sequelize().query(SLEEP)),
  ]);
  const observer = new pg.Client({ connectionString: database.url, application_name: "observer" });
  await observer.connect();
  let most = 0;
  let done = false;
  busy.finally(() => (done = true)).catch(() => {});
  while (!done) {
    const { rows } = await observer.query(
      "select count(*)::int n from pg_stat_activity where datname = current_database() and application_name = 'flockmail'",
    );
    most = Math.max(most, rows[0].n);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await observer.end();
  await busy;
  expect(most).toBe(CONNECTIONS);
});
