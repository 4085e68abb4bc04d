/** Migrations are applied while the version before is at work: what holds a lock, or waits for one, is not stopped by them. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { migrate } from "../../../models/database/migrate.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
const clients: pg.Client[] = [];

async function connected(): Promise<pg.Client> {
  const client = new pg.Client(database.url);
  clients.push(client);
  await client.connect();
  return client;
}

/** As if one had never been applied. */
async function undo(client: pg.Client): Promise<void> {
  await client.query("drop index campaigns_to_lists");
  await client.query("delete from migrations where name like '0050%'");
}

async function untilWaited(client: pg.Client): Promise<void> {
  const waits = "select from pg_locks where relation = 'campaigns'::regclass and not granted";
  while ((await client.query(waits)).rowCount === 0) await sleep(10);
}

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await database?.drop();
});

test("a migration lets others pass that want a lock behind it, and is applied once it gets its own", async () => {
  const [holder, writer] = [await connected(), await connected()];
  await undo(holder);
  await holder.query("begin; lock table campaigns in row exclusive mode");
  const applying = migrate(database.url);
  await untilWaited(writer);
  // It waits behind the migration, and for as long as that waits.
  await writer.query("set lock_timeout = '30s'");
  await writer.query("update campaigns set name = name");
  expect((await holder.query("select from migrations where name like '0050%'")).rowCount).toBe(0);
  await holder.query("commit");
  expect(await applying).toEqual([expect.stringMatching(/^0050/)]);
});
