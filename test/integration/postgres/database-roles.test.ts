/**
 * Three database roles (models/database-roles.sql): their rights and limits, the whole service with the application's
 * role, and the migration from a single role.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import type pg from "pg";
import { parseAllDocuments } from "yaml";
import { database as databaseMiddleware } from "../../../mixins/database.middleware.ts";
import { type Queryable, query, queryOne, transaction } from "../../../models/database/db.ts";
import { migrate, pending } from "../../../models/database/migrate.ts";
import { databaseRole } from "../../../models/database/role.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { type App, startApp } from "../../support/app.ts";
import { startChild } from "../../support/child.ts";
import { fileForm, newCompany, type TestCompany } from "../../support/client.ts";
import { admin, createDatabase, type TestDatabase } from "../../support/database.ts";
import { as, connected, makeRoles, type Names, PASSWORD, roleName, threeNames } from "../../support/database-roles.ts";
import { longTest } from "../../support/long.ts";
import { startPostgres15 } from "../../support/postgres15.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "../campaigns/world.ts";

jest.setTimeout(240_000);

const ROOT = join(import.meta.dirname, "../../..");
const FORBIDDEN = "42501";

const SCHEMA_CHANGES = [
  "create table stray (id integer)",
  "create schema stray",
  "create view stray as select 1",
  "create function stray() returns integer language sql as 'select 1'",
  "create extension citext",
  "create index stray on campaigns (name)",
  "create trigger stray before insert on campaigns for each row execute function set_address_key()",
  "create or replace function drop_recipient_part(part integer) returns boolean language sql as 'select true'",
  "alter table campaigns add column stray integer",
  "alter table audit_log disable trigger audit_log_append_only",
  "alter table sent_emails detach partition sent_emails_0",
  "alter function drop_recipient_part(integer) security invoker",
  "drop table campaigns",
  "drop table sent_emails",
  "drop function drop_recipient_part(integer)",
  "truncate audit_log",
  "truncate sent_emails",
  "select setval('campaign_no', 1)",
  "select add_recipient_part(99)",
  "insert into migrations (name, checksum) values ('9999_stray.sql', '')",
  "update recipient_parts set month = '2000-01-01'",
  "update hit_parts set month = '2000-01-01'",
  "alter table hits detach partition hits_2000_01",
  "select add_hit_part('2000-01-01')",
];

async function refusedTo(url: string, statements: readonly string[]): Promise<void> {
  await connected(url, async (role) => {
    const allowed: string[] = [];
    for (const statement of statements) {
      // This runs in a transaction, so that wrongly permitted changes are rolled back.
      await role.query("begin");
      const code = await role.query(statement).then(
        () => "allowed",
        (error: pg.DatabaseError) => error.code,
      );
      await role.query("rollback");
      if (code !== FORBIDDEN) allowed.push(`${statement}: ${code}`);
    }
    expect(allowed).toEqual([]);
  });
}

/** KEDA's query, from the manifest. */
const scalingQuery = (): string => {
  const [, scaled] = parseAllDocuments(
    readFileSync(join(ROOT, "k8s/overlays/cluster/smtp-sender-scaling.yaml"), "utf8"),
  ).map((document) => document.toJS());
  return scaled.spec.triggers[0].metadata.query;
};

/** A test's database and roles. */
interface Stage {
  names: Names;
  database: TestDatabase;
  /** URL of the role that runs the script. */
  adminUrl: string;
  drop(): Promise<void>;
}

async function stage(names: Names, before: { role: string; attributes: string }): Promise<Stage> {
  await admin(`create role ${before.role} login password '${PASSWORD}' ${before.attributes}`);
  const database = await createDatabase({ template: "template1", owner: before.role });
  return {
    names,
    database,
    adminUrl: as(before.role, database.url),
    drop: async () => {
      await database.drop();
      await admin(`drop role if exists ${[...new Set([...Object.values(names), before.role])].join(", ")}`);
    },
  };
}

describe("an installation that begins with three roles, created by an administrator who is not a superuser", () => {
  const names = threeNames();
  const API = "/api/emails";
  let place: Stage;
  let url: (role: keyof Names) => string;
  let app: App;
  let server: SmtpServer;
  let company: TestCompany;
  let job: { code: unknown; output: string };
  const notes: string[][] = [];

  beforeAll(async () => {
    place = await stage(names, { role: roleName(), attributes: "createrole" });
    url = (role) => as(names[role], place.database.url);
    notes.push(await makeRoles(place.adminUrl, names));
    const migrating = startChild(process.execPath, ["models/database/apply-migrations.ts"], {
      cwd: ROOT,
      env: { MIGRATION_DATABASE_URL: url("owner"), DATABASE_URL: "" },
    });
    job = { code: await migrating.ended, output: migrating.output() };
    notes.push(await makeRoles(place.adminUrl, names), await makeRoles(place.adminUrl, names));
    server = await startSmtpServer();
    app = await startApp({
      env: { MIGRATIONS: "wait" },
      database: { url: url("application"), drop: place.drop },
    });
    company = await newCompany(app);
  });
  afterAll(async () => {
    await (app ? app.stop() : place?.drop());
    await server?.stop();
  });

  test("the job migrates with the owner's URL alone; the script reports that it must be run again, and may be run at any time", () => {
    expect(job).toEqual({ code: 0, output: expect.stringMatching(/^Applied 0001_baseline\.sql.*\.$/m) });
    expect(notes).toEqual([["Run this once more after the first migration."], [], []]);
  });

  test("the service's role owns and creates nothing", async () => {
    expect(await databaseRole()).toEqual({
      name: names.application,
      superuser: false,
      ownsTables: false,
      mayCreate: false,
    });
  });

  test("people are imported, analysed, found, mailed and erased, and old partitions are dropped", async () => {
    const list = (await company.api.post(`${API}/lists/`, { name: "All" })).body.id;
    // Imports of 5,000 rows and more analyse their tables.
    const people = Array.from({ length: 10_000 }, (_, n) => `p${n}@example.com,Person ${n}`);
    const form = fileForm(["email,first_name", ...people].join("\n"), "people.csv", { list_id: list });
    expect((await company.api.post(`${API}/subscribers/bulk/`, form)).body).toMatchObject({ created: 10_000 });
    const analysed = await queryOne("select from pg_stats where tablename = 'subscribers' and attname = 'email_key'");
    expect(analysed).toBeDefined();
    const found = await company.api.get(`${API}/subscribers/`, { query: { search: "person 4711" } });
    expect(found.body).toMatchObject({ count: 1, results: [{ email: "p4711@example.com" }] });

    const smtp = await company.api.post(`${API}/smtp-configs/`, {
      ...{ name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false },
      sender_email: "news@acme.example",
    });
    const few = (await company.api.post(`${API}/lists/`, { name: "Few" })).body.id;
    await query(
      `insert into list_members (company_id, list_id, subscriber_id)
       select company_id, $2, id from subscribers where company_id = $1 order by email limit 20`,
      [company.id, few],
    );
    const template = await company.api.post(`${API}/templates/`, { name: "T", subject: "Hi", body: "<p>Hello</p>" });
    const campaign = async (): Promise<string> => {
      const { body } = await company.api.post(`${API}/send/to-list/`, {
        ...{ name: "News", list_id: few, template_id: template.body.id, smtp_config_id: smtp.body.id },
      });
      const sent = await until(
        async () => (await company.api.get(`${API}/campaigns/${body.id}/`)).body,
        ({ status }) => status === "completed",
      );
      expect(sent.sent_count).toBe(20);
      return body.id;
    };
    const first = await campaign();
    const results = (await company.api.get(`${API}/campaigns/${first}/export/`)).text;
    expect(results.match(/@example\.com,sent/g)).toHaveLength(20);
    const part = (await queryOne<{ part: number }>("select no >> 20 as part from campaigns where id = $1", [first]))!
      .part;
    await company.api.post(`${API}/subscribers/erase/`, { email: "p1@example.com" });
    await until(
      () => query("select from subscribers where company_id = $1 and email = 'p1@example.com'", [company.id]),
      (rows) => rows.length === 0,
    );

    // A month later, the next partition is created in advance, and the previous one is dropped after its recipients'
    // retention.
    await connected(url("owner"), (owner) =>
      owner.query("update recipient_parts set month = month - interval '1 month' where no = $1", [part]),
    );
    await query("select prepare_recipient_parts()");
    await query("update campaigns set updated_at = now() - interval '61 days' where id = $1", [first]);
    await company.api.patch(`/api/companies/${company.id}/`, { retention_days: { sent_emails: 60 } });
    await app.broker.call("campaigns.removeOld");
    const tables =
      "select to_regclass('sent_emails_' || $1::int) is null as gone, to_regclass('sent_emails_' || ($1::int + 1))::text as next";
    expect(await queryOne(tables, [part])).toEqual({ gone: true, next: `sent_emails_${part + 1}` });
    await campaign();
    expect([server.messages.length, await pending(url("application"))]).toEqual([40, []]);
  });

  test("it cannot create, change, drop or empty a table, nor change the list of migrations", () =>
    refusedTo(url("application"), [...SCHEMA_CHANGES, `set role ${names.owner}`]));

  test("it migrates nothing: exits with one line and the code for a wrong configuration", async () => {
    expect(await migrate(url("application"))).toEqual([]);
    const last = await connected(url("owner"), async (owner) => {
      const { rows } = await owner.query(
        "delete from migrations where name = (select max(name) from migrations) returning name, checksum",
      );
      return rows[0];
    });
    const refused = await migrate(url("application")).catch((error: Error) => error);
    await connected(url("owner"), (owner) =>
      owner.query("insert into migrations (name, checksum) values ($1, $2)", [last.name, last.checksum]),
    );
    expect(refused).toMatchObject({
      exitCode: 78,
      message: `migration ${last.name}: permission denied for schema public. The tables' owner may: MIGRATION_DATABASE_URL.`,
    });
  });

  test.each(["-2147483648", "-1", "99", "2147483647", "null", "(select max(no) from recipient_parts)"])(
    "drop_recipient_part(%s) drops nothing",
    async (part) => {
      const tables =
        "select array_agg(oid::regclass::text order by oid) as all from pg_class where relname ~ '^sent_emails'";
      const before = await queryOne(tables);
      expect((await query(`select drop_recipient_part(${part}) as dropped`))[0]).toEqual({ dropped: false });
      expect(await queryOne(tables)).toEqual(before);
    },
  );

  /** Partition of a finished campaign whose month is over. */
  async function pastPart(): Promise<number> {
    const { part } = (await queryOne<{ part: number }>(
      `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, no)
       values (uuid_v7(), $1, 'Past', 'custom', 'completed', $1, $1, next_campaign_no()) returning no >> 20 as part`,
      [company.id],
    ))!;
    await connected(url("owner"), (owner) =>
      owner.query("update recipient_parts set month = month - interval '1 month' where no = $1", [part]),
    );
    await query("select prepare_recipient_parts()");
    return part;
  }
  const drop = (part: number, on?: Queryable) => query("select drop_recipient_part($1) as dropped", [part], on);
  /** Retries while locks of others delay it too long. */
  async function dropAtLast(part: number): Promise<unknown> {
    for (;;) {
      const answer = await drop(part).catch((error: pg.DatabaseError) => error);
      if (!(answer instanceof Error)) return answer;
      if (answer.code !== "55P03") throw answer;
    }
  }
  const isThere = async (part: number) =>
    (await queryOne<{ there: boolean }>("select to_regclass('sent_emails_' || $1) is not null as there", [part]))!
      .there;

  test("a partition with a kept campaign stays, even if temporary tables say otherwise", async () => {
    const part = await pastPart();
    await transaction(async (role) => {
      await role.query(
        `create temporary table campaigns (no integer, recipients_state text) on commit drop;
         create temporary table recipient_parts (no integer, month date) on commit drop;
         create temporary table sent_emails (id uuid) on commit drop;
         insert into recipient_parts select generate_series(-1, 99), '2000-01-01'`,
      );
      for (const no of [part, part + 1, 50]) expect(await drop(no, role)).toEqual([{ dropped: false }]);
    });
    expect([await isThere(part), await isThere(part + 1)]).toEqual([true, true]);
  });

  test("a drop that must wait gives up soon, so that no query waits behind it; a later one finishes", async () => {
    const part = await pastPart();
    await query("update campaigns set recipients_state = 'removed' where no >> 20 = $1", [part]);
    await transaction(async (reader) => {
      await reader.query("select from sent_emails limit 1");
      await expect(drop(part)).rejects.toMatchObject({ code: "55P03" });
    });
    expect(await dropAtLast(part)).toEqual([{ dropped: true }]);
    expect([await isThere(part), await isThere(part + 1)]).toEqual([false, true]);
  });

  test("a campaign being written into a past partition keeps it, even before its commit", async () => {
    const part = await pastPart();
    let dropped: Promise<unknown> | undefined;
    await transaction(async (writer) => {
      const no = (part + 1) * 2 ** 20 - 1;
      await writer.query(
        `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, no)
         values (uuid_v7(), $1, 'Late', 'custom', 'completed', $1, $1, $2)`,
        [company.id, no],
      );
      await writer.query("insert into sent_emails (campaign_no, seq, email) values ($1, 1, 'late@example.com')", [no]);
      // This is not done earlier, because the service drops such partitions every minute.
      await query("update campaigns set recipients_state = 'removed' where no >> 20 = $1", [part]);
      dropped = dropAtLast(part);
      const waits = "select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'drop_recipient_part'";
      // Checked outside of the writer: a transaction keeps its first view of other sessions.
      while ((await query(waits)).length === 0) await sleep(5);
    });
    expect(await dropped).toEqual([{ dropped: false }]);
    expect(await query("select from sent_emails where email = 'late@example.com'")).toHaveLength(1);
  });

  test("KEDA's role may run its query and nothing else", async () => {
    await connected(url("scaling"), async (role) => {
      expect((await role.query(scalingQuery())).rows).toEqual([{ coalesce: 0 }]);
    });
    await refusedTo(url("scaling"), [
      ...SCHEMA_CHANGES,
      "update send_chunks set state = 0",
      "select from subscribers",
      "select from companies",
      "select nextval('campaign_no')",
      "select prepare_recipient_parts()",
      "select next_campaign_no()",
      "select drop_recipient_part(0)",
      "select analyze_subscribers()",
      "select prepare_hit_parts()",
      "select detach_hit_part('2000-01-01', 1)",
      "select drop_hit_part('2000-01-01')",
    ]);
  });
});

describe("an installation with one role for everything", () => {
  const one = roleName();
  const names = { ...threeNames(), owner: one };
  let place: Stage;
  beforeAll(async () => {
    place = await stage(names, { role: one, attributes: "" });
  });
  afterAll(() => place.drop());

  const settings = { SECRET_KEY: "0123456789abcdef", HOST: "127.0.0.1" };
  const broker = { logger: { info: () => {}, warn: () => {} }, metadata: {} } as unknown as ServiceBroker;
  /** Opens the database as a starting process does. */
  async function started<T>(urls: Record<string, string>, work: () => Promise<T>): Promise<T> {
    const middleware = databaseMiddleware(readConfig({ ...settings, ...urls })) as unknown as Record<
      "starting" | "stopped",
      (of: ServiceBroker) => Promise<void>
    >;
    await middleware.starting(broker);
    try {
      return await work();
    } finally {
      await middleware.stopped(broker);
    }
  }

  test("works as before, and changes to three while it runs; later tables are usable by the application, too", async () => {
    const company = "018f0000-0000-7000-8000-000000000001";
    const campaign = `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, no)
      values (uuid_v7(), $1, 'N', 'custom', 'completed', $1, $1, next_campaign_no()) returning no`;
    await started({ DATABASE_URL: place.adminUrl }, async () => {
      expect(await databaseRole()).toEqual({ name: one, superuser: false, ownsTables: true, mayCreate: true });
      await query("insert into companies (id, name, plan) select $1, 'A', name from plans limit 1", [company]);
      expect(await query(campaign, [company])).toEqual([{ no: 1 }]);
      await query("update campaigns set recipients_state = 'removed'");
      await query("update recipient_parts set month = month - interval '1 month' where no = 0");
      await query("select prepare_recipient_parts()");
      expect(await query("select drop_recipient_part(0) as dropped")).toEqual([{ dropped: true }]);
      expect(await makeRoles(place.database.url, names)).toEqual([]);
      // A process of the earlier version continues as the owner.
      expect(await query(campaign, [company])).toEqual([{ no: 2 ** 20 }]);
    });

    // Simulates a pending migration.
    const asOwner = (sql: string) => connected(place.adminUrl, (owner) => owner.query(sql));
    await asOwner("create table kept as table migrations; truncate migrations");
    const DATABASE_URL = as(names.application, place.database.url);
    await expect(started({ DATABASE_URL }, async () => {})).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(/^migration 0001_baseline\.sql: permission denied .*MIGRATION_DATABASE_URL\.$/),
    });
    await asOwner("insert into migrations table kept; drop table kept; create table later (n integer)");
    await started({ DATABASE_URL, MIGRATION_DATABASE_URL: place.adminUrl }, async () => {
      expect(await databaseRole()).toMatchObject({ name: names.application, ownsTables: false, mayCreate: false });
      expect(await query(campaign, [company])).toEqual([{ no: 2 ** 20 + 1 }]);
      expect(await query("insert into later values (1) returning n")).toEqual([{ n: 1 }]);
      expect(await query("delete from later returning n")).toEqual([{ n: 1 }]);
    });
    await refusedTo(DATABASE_URL, SCHEMA_CHANGES);
  });

  test("the script refuses an owner who does not own the tables, and an application that may act as the owner", async () => {
    const refusal = (wrong: Partial<Names>) =>
      makeRoles(place.database.url, { ...names, ...wrong }).then(
        () => "taken",
        (error: Error) => error.message,
      );
    expect(await refusal({ owner: "somebody_else" })).toBe(`The tables belong to the role ${one}`);
    expect(await refusal({ application: one })).toBe(`The role ${one} may act as the owner, ${one}`);
    const superuser = new URL(process.env.TEST_SERVER_URL!).username;
    expect(await refusal({ application: superuser })).toBe(`The role ${superuser} may act as the owner, ${one}`);
    expect(await admin("select from pg_roles where rolname = 'somebody_else'")).toEqual([]);
  });
});

longTest("works on the oldest supported PostgreSQL and in a restored database", async () => {
  const server = await startPostgres15();
  const folder = mkdtempSync(join(tmpdir(), "flockmail-roles-"));
  const dump = join(folder, "flockmail.dump");
  const names = { owner: "flockmail_owner", application: "flockmail_application", scaling: "flockmail_scaling" };
  try {
    await connected(server.url("postgres"), async (superuser) => {
      await superuser.query("create role keeper login createrole");
      await superuser.query("create database flockmail owner keeper");
    });
    const keeper = as("keeper", server.url("flockmail"));
    await makeRoles(keeper, names);
    await migrate(as(names.owner, keeper));
    await makeRoles(keeper, names);
    await refusedTo(as(names.application, keeper), SCHEMA_CHANGES);
    await connected(as(names.application, keeper), (role) =>
      role.query(
        `select prepare_recipient_parts(), drop_recipient_part(0), analyze_subscribers(), next_campaign_no(),
             prepare_hit_parts(), detach_hit_part('2000-01-01', 1), drop_hit_part('2000-01-01')`,
      ),
    );
    await connected(as(names.scaling, keeper), (role) => role.query(scalingQuery()));
    await refusedTo(as(names.scaling, keeper), [...SCHEMA_CHANGES, "select next_campaign_no()"]);

    // A restored dump belongs to the owner again, as in docs/kubernetes.md.
    await connected(server.url("postgres"), (superuser) => superuser.query("create database restored owner keeper"));
    const restored = as("keeper", server.url("restored"));
    await makeRoles(restored, names);
    await server.run("pg_dump", "--format=custom", "--file", dump, server.url("flockmail"));
    const asOwner = ["--no-owner", "--no-acl", "--exit-on-error", "--dbname", as(names.owner, restored)];
    await server.run("pg_restore", ...asOwner, dump);
    await makeRoles(restored, names);
    expect(await migrate(as(names.application, restored))).toEqual([]);
    await refusedTo(as(names.application, restored), SCHEMA_CHANGES);
    await refusedTo(as(names.scaling, restored), [...SCHEMA_CHANGES, "select next_campaign_no()"]);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
});
