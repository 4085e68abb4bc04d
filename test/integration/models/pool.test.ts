import pg from "pg";
import { costlyRead, writeManyRows } from "../../../models/database/bulk.ts";
import {
  bulkPool,
  closeDatabase,
  INTERACTIVE,
  openDatabase,
  prepared,
  type Queryable,
  query,
  queryOne,
  sequelize,
  transaction,
} from "../../../models/database/db.ts";
import { shareConnections } from "../../../models/database/shares.ts";
import { asOwner } from "../../../services/lib/owner.ts";
import { PinnedConnection } from "../../../services/smtp-sender/engine/pinned-connection.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const CONNECTIONS = 16;
const SHARE = shareConnections(CONNECTIONS);
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

/** The most connections that did what `condition` says while `busy` went on. */
async function mostDuring(busy: Promise<unknown>, condition: string): Promise<number> {
  const observer = new pg.Client({ connectionString: database.url, application_name: "observer" });
  await observer.connect();
  let most = 0;
  let done = false;
  busy.finally(() => (done = true)).catch(() => {});
  while (!done) {
    const { rows } = await observer.query(
      `select count(*)::int n from pg_stat_activity
       where datname = current_database() and application_name = 'flockmail' and ${condition}`,
    );
    most = Math.max(most, rows[0].n);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await observer.end();
  await busy;
  return most;
}

const each = (ask: () => Promise<unknown>) => Array.from({ length: CONNECTIONS }, ask);

test("a process opens at most DATABASE_POOL connections under any load, and each use at most its share", async () => {
  const busy = Promise.all([
    ...each(() => query(SLEEP)),
    ...each(() => bulkPool().query(SLEEP)),
    ...each(() => prepared("sleep", SLEEP, [])),
    ...each(() => sequelize().query(SLEEP)),
  ]);
  expect(await mostDuring(busy, "true")).toBe(CONNECTIONS);
});

test("one company has at most half of the connections, and a later request need not wait for all earlier ones of that company", async () => {
  const done: string[] = [];
  const noisy = each(() => asOwner("noisy", () => query(SLEEP).then(() => done.push("noisy"))));
  const busy = Promise.all([...noisy, asOwner("quiet", () => query(SLEEP).then(() => done.push("quiet")))]);
  expect(await mostDuring(busy, "state = 'active'")).toBe(SHARE.sql / 2 + 1);
  expect(done.indexOf("quiet")).toBeLessThanOrEqual(SHARE.sql / 2);
});

test("a kept connection counts for no company, whichever caused it to be opened", async () => {
  const lines = [new PinnedConnection(), new PinnedConnection()];
  await asOwner("noisy", () => Promise.all(lines.map((line) => line.run("one", "select 1", []))));
  const held = () => transaction((client) => query("select 1", [], client));
  await asOwner("noisy", () => Promise.all(each(held)));
  for (const line of lines) line.close();
});

test("a broken or refused connection releases its slot", async () => {
  const broken = each(() => asOwner("noisy", () => query("select pg_terminate_backend(pg_backend_pid())")));
  for (const { status } of await Promise.allSettled(broken)) expect(status).toBe("rejected");
  expect(await asOwner("noisy", () => Promise.all(each(() => query(SLEEP))))).toHaveLength(CONNECTIONS);
});

test("a transaction's own settings end with it", async () => {
  const setting = (name: string) => `select current_setting('${name}') as value`;
  const ofRead = await costlyRead("company", (client) => queryOne(setting("statement_timeout"), [], client));
  expect(ofRead).toEqual({ value: "5s" });
  expect(await transaction((client) => queryOne(setting("lock_timeout"), [], client), INTERACTIVE)).toEqual({
    value: "2s",
  });
  const after = await Promise.all(
    each(async () => (await bulkPool().query<{ value: string }>(setting("statement_timeout"))).rows[0]!.value),
  );
  expect(new Set(after)).toEqual(new Set(["1min"]));
});

test("a company's bulk changes run one at a time, and requests that cannot wait are asked to retry", async () => {
  const write = async (client: Queryable) => void (await query(SLEEP, [], client));
  const ofNoisy = each(() => writeManyRows("noisy", { ids: ["some"], slice: 1, write }));
  expect(await mostDuring(Promise.all(ofNoisy), "state = 'active'")).toBe(1);
  const refused = await Promise.allSettled(
    each(() => costlyRead("noisy", (client) => query(SLEEP, [], client), { waitMs: 1 })),
  );
  const [first, ...others] = refused;
  expect(first!.status).toBe("fulfilled");
  for (const one of others) expect(one).toMatchObject({ reason: { code: "THROTTLED" } });
});

test("a read that takes too long fails as an error that can be retried", async () => {
  await expect(costlyRead("company", (client) => query(SLEEP, [], client), { statementMs: 50 })).rejects.toMatchObject({
    code: "57014",
  });
});
