/** Migrations run while nodes of the previous version work, once each, and never on an incompatible database. */
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { migrate, pending } from "../../../models/database/migrate.ts";
import { admin, createDatabase, type TestDatabase } from "../../support/database.ts";

const MIGRATIONS = resolve(import.meta.dirname, "../../../models/migrations");
const COLUMN = "9001_column.sql";
const INDEX = "9002_index.sql";

let database: TestDatabase;
let folder: string;
let clients: pg.Client[];

async function connected(): Promise<pg.Client> {
  const client = new pg.Client(database.url);
  clients.push(client);
  await client.connect();
  return client;
}

const add = (name: string, sql: string) => writeFileSync(join(folder, name), sql);
const addColumn = () => add(COLUMN, "alter table campaigns add column later integer;");
const addIndex = () => add(INDEX, "-- concurrently\ncreate index concurrently campaigns_later on campaigns (name);\n");

beforeEach(async () => {
  clients = [];
  database = await createDatabase();
  folder = mkdtempSync(join(tmpdir(), "flockmail-migrations-"));
  for (const name of readdirSync(MIGRATIONS)) copyFileSync(join(MIGRATIONS, name), join(folder, name));
});
afterEach(async () => {
  for (const client of clients) await client.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

async function untilWaited(client: pg.Client): Promise<void> {
  const waits = "select from pg_locks where relation = 'campaigns'::regclass and not granted";
  while ((await client.query(waits)).rowCount === 0) await sleep(10);
}

test("a migration that waits for a lock lets others pass, and is applied once it gets the lock", async () => {
  addColumn();
  const [holder, writer] = [await connected(), await connected()];
  await holder.query("begin; lock table campaigns in row exclusive mode");
  const applying = migrate(database.url, folder);
  await untilWaited(writer);
  // This statement waits behind the migration for as long as that waits.
  await writer.query("set lock_timeout = '30s'");
  await writer.query("update campaigns set name = name");
  await holder.query("commit");
  expect(await applying).toEqual([COLUMN]);
});

test("nodes that start at the same moment apply each migration once", async () => {
  addColumn();
  addIndex();
  const nodes = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url, folder)));
  expect(nodes.flat().toSorted()).toEqual([COLUMN, INDEX]);
  expect(await migrate(database.url, folder)).toEqual([]);
});

test("an index is built while the table is written, and again if a build was interrupted", async () => {
  addIndex();
  const client = await connected();
  await client.query("create index campaigns_later on campaigns (name)");
  await client.query("update pg_index set indisvalid = false where indexrelid = 'campaigns_later'::regclass");
  expect(await migrate(database.url, folder)).toEqual([INDEX]);
  const { rows } = await client.query("select indisvalid from pg_index where indexrelid = 'campaigns_later'::regclass");
  expect(rows).toEqual([{ indisvalid: true }]);
});

test("a node that waits for another's migration does not prevent an index from being built", async () => {
  addColumn();
  const [holder, client] = [await connected(), await connected()];
  // Holds the lock of all migrations, like a node that builds an index.
  await holder.query("begin; select pg_advisory_xact_lock(7305512061)");
  const waiting = migrate(database.url, folder);
  const asks =
    "select from pg_stat_activity where datname = $1 and application_name = 'flockmail' and query ~ 'advisory'";
  const name = new URL(database.url).pathname.slice(1);
  while ((await admin(asks, [name])).length === 0) await sleep(5);
  await client.query("set statement_timeout = '20s'");
  await client.query("create index concurrently while_others_wait on campaigns (name)");
  await holder.query("commit");
  expect(await waiting).toEqual([COLUMN]);
});

test("a migration that was edited after it had been applied is refused", async () => {
  addColumn();
  await migrate(database.url, folder);
  add(COLUMN, "alter table campaigns add column other integer;");
  await expect(migrate(database.url, folder)).rejects.toThrow(
    `Migration ${COLUMN} was edited after it had been applied`,
  );
});

test.each(["0001_foundations.sql", "0001_baseline.sql"])(
  "a database of an unreleased version, whose first migration is another %s, is refused in one sentence and not changed",
  async (first) => {
    const client = await connected();
    await client.query("delete from migrations");
    await client.query("insert into migrations (name, checksum) values ($1, 'x')", [first]);
    const refusal = {
      exitCode: 78,
      message: expect.stringMatching(
        /unreleased version .*not this version's 0001_baseline\.sql.* has changed nothing/,
      ),
    };
    await expect(migrate(database.url)).rejects.toMatchObject(refusal);
    await expect(pending(database.url)).rejects.toMatchObject(refusal);
    expect((await client.query("select name from migrations")).rows).toEqual([{ name: first }]);
  },
);
