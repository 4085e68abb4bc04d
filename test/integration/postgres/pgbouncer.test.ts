/** The service behind a real pgbouncer: supported set-ups work as without it, unsupported ones are refused at start. */
import pg from "pg";
import { costlyRead } from "../../../models/database/bulk.ts";
import {
  closeDatabase,
  openDatabase,
  prepared,
  preparedTransaction,
  query,
  queryOne,
  sequelize,
  transaction,
} from "../../../models/database/db.ts";
import { migrate, pending } from "../../../models/database/migrate.ts";
import { refuseUnusable } from "../../../models/database/pooler.ts";
import { PinnedConnection } from "../../../services/smtp-sender/engine/pinned-connection.ts";
import { apiAt } from "../../support/api.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { long, longTest } from "../../support/long.ts";
import { type Pgbouncer, type PgbouncerOptions, startPgbouncer } from "../../support/pgbouncer.ts";
import { startService } from "../../support/service-process.ts";
import { startSmtpServer } from "../../support/smtp-server.ts";

jest.setTimeout(240_000);

const PEOPLE = 2_000;

let database: TestDatabase;
const poolers: Pgbouncer[] = [];
const started: { stop(): Promise<void> }[] = [];
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
  await closeDatabase();
  await Promise.all(poolers.splice(0).map((pooler) => pooler.stop()));
  await database.drop();
});

async function pooled(options: PgbouncerOptions): Promise<string> {
  const pooler = await startPgbouncer(options);
  poolers.push(pooler);
  return pooler.url(database.url);
}

const SETTINGS = "select name, setting from pg_settings where name = any ($1)";
const names = [
  "statement_timeout",
  "idle_in_transaction_session_timeout",
  "enable_seqscan",
  "transaction_timeout",
  "jit",
];
const OURS = {
  statement_timeout: "60000",
  idle_in_transaction_session_timeout: "4000",
  transaction_timeout: "70000",
  jit: "off",
};
/** This applies to one transaction only. */
const OWN = { settings: { statement_timeout: 7_000 } };
const asObject = (rows: { name: string; setting: string }[]) =>
  Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));

test("every statement has our settings behind PgBouncer 1.24 in transaction mode, and they do not leak to other clients", async () => {
  const url = await pooled({ version: "1.24", mode: "transaction" });
  await refuseUnusable(url);
  openDatabase(url, 20);
  const line = new PinnedConnection();
  const seen = async () => ({
    alone: asObject(await query(SETTINGS, [names])),
    named: asObject(await prepared("settings", SETTINGS, [names])),
    within: asObject(await transaction((client) => query(SETTINGS, [names], client))),
    planned: asObject(await preparedTransaction((client) => query(SETTINGS, [names], client))),
    pinned: asObject(await line.run("settings", SETTINGS, [names])),
    model: asObject((await sequelize().query(SETTINGS, { bind: [names] }))[0] as never),
    own: asObject(await transaction((client) => query(SETTINGS, [names], client), OWN)),
    costly: asObject(await costlyRead("company", (client) => query(SETTINGS, [names], client), { waitMs: 60_000 })),
    modelWithin: asObject(
      await sequelize().transaction(
        async (t) => (await sequelize().query(SETTINGS, { bind: [names], transaction: t }))[0] as never,
      ),
    ),
  });
  const plain = { ...OURS, enable_seqscan: "on" };
  const byKey = { ...OURS, enable_seqscan: "off" };
  const expected = {
    alone: plain,
    named: byKey,
    within: plain,
    planned: byKey,
    pinned: byKey,
    model: plain,
    modelWithin: plain,
    own: { ...plain, statement_timeout: "7000" },
    costly: { ...plain, statement_timeout: "5000" },
  };
  // The statements run concurrently, so that they share and change sessions.
  for (const one of await Promise.all(Array.from({ length: 30 }, seen))) expect(one).toEqual(expected);
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  for (let n = 0; n < 20; n++) {
    const { rows } = await other.query(SETTINGS, [names]);
    expect(asObject(rows)).toMatchObject({
      statement_timeout: "0",
      enable_seqscan: "on",
      transaction_timeout: "0",
      jit: "on",
    });
  }
  await other.end();
  line.close();
});

test("errors, rows and named statements are the same behind PgBouncer 1.24 in transaction mode", async () => {
  openDatabase(await pooled({ version: "1.24", mode: "transaction" }), 10);
  const line = new PinnedConnection();
  for (let n = 1; n <= 3; n++) {
    await expect(line.run("divide", "select 10 / $1::int as n", [0])).rejects.toMatchObject({ code: "22012" });
    expect(await line.run("divide", "select 10 / $1::int as n", [n])).toEqual([{ n: Math.floor(10 / n) }]);
    await expect(prepared("broken", "select nothing from nowhere", [])).rejects.toMatchObject({ code: "42P01" });
    expect(await prepared("fine", "select $1::int as n", [n])).toEqual([{ n }]);
    await expect(query("select 1 / $1::int", [0])).rejects.toMatchObject({ code: "22012" });
    expect(await query("select 7 as seven")).toEqual([{ seven: 7 }]);
  }
  line.close();
});

longTest(
  "a client lost within a transaction is detected behind PgBouncer 1.24, and its locks are released",
  async () => {
    openDatabase(await pooled({ version: "1.24", mode: "transaction" }), 10);
    const lock = "select pg_try_advisory_xact_lock(4711) held";
    const taken = () => transaction(async (client) => (await queryOne<{ held: boolean }>(lock, [], client))!.held);
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let held = () => {};
    const begun = new Promise<void>((resolve) => {
      held = resolve;
    });
    const gone = transaction(async (client) => {
      await query(lock, [], client);
      held();
      await asleep;
      await query("select 1", [], client);
    }).catch((error: Error) => error);
    await begun;
    expect(await taken()).toBe(false);
    const deadline = Date.now() + 30_000;
    while (!(await taken())) {
      if (Date.now() > deadline) throw new Error("The lock is still held");
      await new Promise((done) => setTimeout(done, 100));
    }
    wake();
    expect(await gone).toBeInstanceOf(Error);
  },
);

longTest("migrations: many nodes behind a pooler apply each once", async () => {
  const url = await pooled({ version: "1.24", mode: "transaction" });
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query("drop schema public cascade; create schema public");
  await admin.end();
  const applied = (await Promise.all(Array.from({ length: 4 }, () => migrate(url)))).flat();
  expect(applied.length).toBeGreaterThan(0);
  expect(new Set(applied).size).toBe(applied.length);
  expect(await pending(url)).toEqual([]);
});

test.each<PgbouncerOptions>([
  { version: "1.18", mode: "session" },
  { version: "1.24", mode: "session" },
  { version: "1.24", mode: "session", settings: { max_prepared_statements: 0 } },
  { version: "1.24", mode: "transaction", settings: { default_pool_size: 1, max_prepared_statements: 10 } },
])("its configuration is usable: %j", async (options) => {
  const url = await pooled({ settings: { default_pool_size: 20 }, ...options });
  await refuseUnusable(url);
  if (options.settings?.default_pool_size !== 1) openDatabase(url, 5);
  else return;
  for (let n = 0; n < 5; n++) expect(await prepared("fine", "select $1::int as n", [n])).toEqual([{ n }]);
});

const SMALLEST: [PgbouncerOptions, string] = [
  { version: "1.18", mode: "transaction", settings: { default_pool_size: 1 } },
  "does not keep prepared statements",
];

test.each<[PgbouncerOptions, string]>([
  [{ version: "1.18", mode: "transaction" }, "does not keep prepared statements"],
  [{ version: "1.18", mode: "transaction", settings: { server_round_robin: 1 } }, "does not keep prepared statements"],
  // Detected only after a wait of ten seconds.
  ...(long ? [SMALLEST] : []),
  [
    { version: "1.24", mode: "transaction", settings: { max_prepared_statements: 0 } },
    "does not keep prepared statements",
  ],
  [{ version: "1.24", mode: "statement" }, "statement mode"],
])("its configuration is refused: %j", async (options, reason) => {
  const url = await pooled(options);
  await expect(refuseUnusable(url)).rejects.toThrow(reason);
  await expect(refuseUnusable(url)).rejects.toMatchObject({ exitCode: 78 });
});

longTest(
  "a start behind an unsupported pooler exits with one line and the code for a wrong configuration",
  async () => {
    const url = await pooled({ version: "1.18", mode: "transaction" });
    const env = { DATABASE_URL: url, SECRET_KEY: "0123456789abcdef", LOGLEVEL: "fatal" };
    const { child } = await startService({ env });
    expect(await child.ended).toBe(78);
    expect(child.output().trim().split("\n")).toEqual([
      expect.stringMatching(
        /^Flockmail cannot start: PostgreSQL at 127\.0\.0\.1:\d+ \(DATABASE_URL\) is behind a pooler .* 1\.21 or newer/,
      ),
    ]);
  },
);

test("a whole campaign works behind PgBouncer 1.24: imported, expanded, sent once to each recipient, opened", async () => {
  const url = await pooled({ version: "1.24", mode: "transaction", settings: { default_pool_size: 8 } });
  const sink = await startSmtpServer();
  started.push(sink);
  const env = { DATABASE_URL: url, SECRET_KEY: "0123456789abcdef", ALLOW_PRIVATE_NETWORKS: "true", LOGLEVEL: "error" };
  const service = await startService({ env });
  started.unshift(service.child);
  await service.ready();
  const { company, access } = await apiAt(service.url)<{ company: { id: string }; access: string }>(
    "POST",
    "/api/auth/register/",
    { email: "ann@example.com", password: "a password for tests", company_name: "Pooled" },
  );
  const bearer = apiAt(service.url, { authorization: `Bearer ${access}` });
  const { key } = await bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name: "test" });
  const api = apiAt(service.url, { "x-api-key": key });
  const create = async (path: string, body: unknown) =>
    (await api<{ id: string }>("POST", `/api/emails/${path}/`, body)).id;
  const smtp_config_id = await create("smtp-configs", {
    name: "Sink",
    host: "127.0.0.1",
    port: sink.port,
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@pooled.example",
  });
  const template_id = await create("templates", { name: "T", subject: "Hello", body: "<p>Hello</p>" });
  const list_id = await create("lists", { name: "All" });
  const form = new FormData();
  form.set("list_id", list_id);
  const people = Array.from({ length: PEOPLE }, (_, n) => `p${n}@to.example`);
  form.set("file", new Blob([["email", ...people].join("\n")]), "people.csv");
  expect(await api("POST", "/api/emails/subscribers/bulk/", form)).toMatchObject({ created: PEOPLE });
  const id = await create("send/to-list", { name: "C", template_id, smtp_config_id, list_id });
  const deadline = Date.now() + 150_000;
  for (;;) {
    if (Date.now() > deadline) throw new Error(`Not sent in time: ${sink.accepted}. ${service.child.output()}`);
    const { status, sent_count } = await api<Record<string, unknown>>("GET", `/api/emails/campaigns/${id}/`);
    if (status === "completed") {
      expect(sent_count).toBe(PEOPLE);
      break;
    }
    expect(["pending", "sending"]).toContain(status);
    await new Promise((done) => setTimeout(done, 100));
  }
  expect([sink.accepted, sink.counts.size, sink.doubled]).toEqual([PEOPLE, PEOPLE, []]);
  expect(service.child.output()).toBe("");
});
