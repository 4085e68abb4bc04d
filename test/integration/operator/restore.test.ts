/** Backup and restore as in docs/backup.md, on the oldest supported PostgreSQL. */
import { appendFileSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { closeDatabase, openDatabase, query } from "../../../models/database/db.ts";
import { identityOf, readDatabaseState } from "../../../models/database/history.ts";
import { migrate, pending } from "../../../models/database/migrate.ts";
import { MARK_RESTORED } from "../../../models/statements/restored-database.ts";
import { settle } from "../../../services/campaigns/lifecycle/settle.ts";
import type { Config } from "../../../services/lib/config.ts";
import { backup } from "../../../services/operator/backup.ts";
import { type Check, checkBackup } from "../../../services/operator/backup-check.ts";
import { recogniseDatabase } from "../../../services/smtp-sender/engine/restored-database.ts";
import { type Postgres15, startPostgres15 } from "../../support/postgres15.ts";
import { program } from "../../support/programs.ts";

jest.setTimeout(180_000);

const OWN = { SECRET_KEY: "test-secret-test-secret-test-secret" } as Config;
process.env.SECRET_KEY = OWN.SECRET_KEY;

const FILL = `
  with company as (insert into companies (id, name, plan) values (uuid_v7(), 'Łódź & Sons', 'pro') returning id),
  list as (insert into lists (id, company_id, name) select uuid_v7(), id, 'Readers' from company returning id, company_id),
  people as (
    insert into subscribers (company_id, email, first_name, attributes)
    select id, 'u' || n || '@example.com', 'Zoë', '{"city": "Liège"}' from company, generate_series(1, 1000) n
    returning id, company_id),
  members as (
    insert into list_members (company_id, list_id, subscriber_id)
    select p.company_id, l.id, p.id from people p join list l on l.company_id = p.company_id),
  campaign as (
    insert into campaigns (id, company_id, name, campaign_type, status, total_emails, sent_count, smtp_config_id, worker_task_id, no)
    select uuid_v7(), id, 'News', 'to_list', 'completed', 1000, 1000, uuid_v7(), uuid_v7(), next_campaign_no() from company
    returning id, company_id, no),
  mails as (
    insert into sent_emails (campaign_no, seq, email, status)
    select no, n, 'u' || n || '@example.com', 2 from campaign, generate_series(1, 1000) n returning email)
  insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, is_first)
  select c.company_id, c.id, uuid_v7(), 'opened', m.email, true from mails m, campaign c`;

/**
 * Four campaigns: a newsletter with one of three recipients sent, a due one, a scheduled one, a transactional one; and
 * a pending copy.
 */
const UNDER_WAY = `
  with company as (select id from companies limit 1),
  campaign as (
    insert into campaigns (id, company_id, name, campaign_type, status, is_transactional, scheduled_for, total_emails,
      sent_count, smtp_config_id, worker_task_id, expanded_at, no)
    select uuid_v7(), company.id, c.name, 'to_list', c.status, c.transactional, c.at, 3, c.sent, uuid_v7(), uuid_v7(), now(),
      next_campaign_no()
    from company, (values
      ('sending', 'sending', false, null::timestamptz, 1), ('due', 'scheduled', false, now() - interval '1 second', 0),
      ('later', 'scheduled', false, now() + interval '1 day', 0), ('receipt', 'sending', true, null, 0)
    ) c (name, status, transactional, at, sent)
    returning id, company_id, no, name, is_transactional),
  mails as (
    insert into sent_emails (campaign_no, seq, email, status)
    select no, n, 'u' || n || '@example.com', case when n = 1 and name = 'sending' then 2 else 0 end
    from campaign, generate_series(1, 3) n where name in ('sending', 'receipt')),
  chunks as (
    insert into send_chunks (campaign_id, company_id, no, smtp_config_id, is_transactional, lo, hi, marked_to)
    select id, company_id, 1, uuid_v7(), is_transactional, 1, 3, 1 from campaign where name in ('sending', 'receipt'))
  insert into sent_email_copies (campaign_id, seq, no, company_id, email, kind, next_attempt_at)
  select id, 1, 1, company_id, 'copy@example.com', 'cc', now() from campaign where name = 'sending'`;

const STATES = `
  select c.name, c.status || coalesce(': ' || (
    select string_agg(n || ' ' || (array['queued', 'sending', 'sent', 'failed', 'bounced', 'suppressed', 'unknown'])[1 + e.status],
      ', ' order by e.status)
    from (select status, count(*) as n from sent_emails where campaign_no = c.no group by status) e), '')
    || case when c.restored and c.error is not null and c.status in ('pending', 'sending') then ', stopped' else '' end as state
  from campaigns c where c.name <> 'News'`;

const BEFORE = {
  sending: "sending: 2 queued, 1 sent",
  due: "scheduled",
  later: "scheduled",
  receipt: "sending: 3 queued",
};
const STOPPED = { ...BEFORE, sending: "sending: 2 queued, 1 sent, stopped", due: "pending, stopped" };

describe("a database that was dumped and restored", () => {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-dump-"));
  let server: Postgres15;
  const clients: pg.Client[] = [];

  async function connected(database: string): Promise<pg.Client> {
    const client = new pg.Client(server.url(database));
    clients.push(client);
    await client.connect();
    return client;
  }

  async function contentsOf(client: pg.Client): Promise<Record<string, string>> {
    const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public' order by 1");
    const contents: Record<string, string> = {};
    for (const { tablename } of rows) {
      const { rows: digests } = await client.query(
        `select count(*) || ' rows, ' || coalesce(md5(string_agg(t::text, e'\\n' order by t::text)), '') as digest from ${tablename} t`,
      );
      contents[tablename] = digests[0].digest;
    }
    return contents;
  }

  beforeAll(async () => {
    server = await startPostgres15();
    const admin = await connected("postgres");
    await admin.query("create database flockmail");
    await admin.query("create database restored");
    await migrate(server.url("flockmail"));
  });
  afterAll(async () => {
    for (const client of clients) await client.end();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  test("has every row and correct counters, and needs no migration", async () => {
    const source = await connected("flockmail");
    await source.query(FILL);
    const file = join(folder, "flockmail.dump");
    await server.run("pg_dump", "--format=custom", "--file", file, server.url("flockmail"));
    await server.run("pg_restore", "--exit-on-error", "--dbname", server.url("restored"), file);
    const restored = await connected("restored");

    const contents = await contentsOf(restored);
    expect(contents).toEqual(await contentsOf(source));
    expect(contents.sent_emails).toMatch(/^1000 rows/);
    expect(await pending(server.url("restored"))).toEqual([]);

    const { rows } = await restored.query(
      `with added as (insert into subscribers (company_id, email) select id, 'new@example.com' from companies returning company_id)
       select company_id from added`,
    );
    const { rows: counted } = await restored.query("select count_of($1, 'subscribers', $1)::int as n", [
      rows[0].company_id,
    ]);
    expect(counted[0].n).toBe(1_001);
  });

  describe("with operator commands:", () => {
    const file = join(folder, "by-ops.dump");
    const before = { ...process.env };
    const empty = async (database: string) => {
      await (await connected("postgres")).query(`create database ${database}`);
      return server.url(database);
    };
    const results = (checks: Check[]) => Object.fromEntries(checks.map(({ check, result }) => [check, result]));

    beforeAll(async () => {
      const { path, env } = await program("pg_dump", ["postgresql-15", "postgresql-client-15"]);
      Object.assign(process.env, env, { PATH: `${dirname(path)}:${process.env.PATH}` });
    });
    afterAll(() => {
      process.env.PATH = before.PATH;
      if (before.LD_LIBRARY_PATH === undefined) delete process.env.LD_LIBRARY_PATH;
      else process.env.LD_LIBRARY_PATH = before.LD_LIBRARY_PATH;
    });

    test("backup writes a manifest and never overwrites a file, and restore-check accepts the backup", async () => {
      const settings = { DATABASE_URL: server.url("flockmail") } as Config;
      const manifest = await backup(settings, file);
      expect(manifest).toMatchObject({ rows: { sent_emails: 1_000, companies: 1 }, bytes: statSync(file).size });
      expect(manifest.schema).toMatch(/^\d{4}_/);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await expect(backup(settings, file)).rejects.toThrow("never overwrites a file");

      const checks = await checkBackup(OWN, file, await empty("checked"));
      expect(results(checks)).toEqual({
        file: "ok",
        migrations: "ok",
        rows: "ok",
        "keys and indexes": "ok",
        SECRET_KEY: "ok",
        campaigns: "ok",
      });
      await expect(checkBackup(OWN, file, server.url("checked"))).rejects.toThrow("not empty");
    });

    test("restore-check creates no SECRET_KEY and reports what would need one", async () => {
      const source = await connected("flockmail");
      const DATA_DIR = join(folder, "nothing-here");
      const sealed = join(folder, "sealed.dump");
      await source.query("update installation set mail_key_sealed = '\\x00'");
      await backup({ DATABASE_URL: server.url("flockmail") } as Config, sealed);
      await source.query("update installation set mail_key_sealed = null");
      const secretOf = async (dump: string, database: string) => {
        const checks = await checkBackup({ DATA_DIR } as Config, dump, await empty(database));
        return checks.find((one) => one.check === "SECRET_KEY");
      };
      expect(await secretOf(file, "unsealed")).toMatchObject({
        result: "ok",
        detail: expect.stringMatching(/^not set here/),
      });
      expect(await secretOf(sealed, "sealed")).toMatchObject({
        result: "failed",
        detail: expect.stringMatching(/; 1 stored/),
      });
      expect(existsSync(DATA_DIR)).toBe(false);
    });

    test("missing rows, a newer version's migration, another SECRET_KEY and an altered file are found", async () => {
      const source = await connected("flockmail");
      await source.query("update installation set mail_key_sealed = '\\x00'");
      await source.query("insert into migrations (name, checksum) values ('9999_of_tomorrow.sql', '')");
      const faulty = join(folder, "faulty.dump");
      const manifest = await backup({ DATABASE_URL: server.url("flockmail") } as Config, faulty);
      await source.query("delete from migrations where name like '9999%'");
      await source.query("update installation set mail_key_sealed = null");
      writeFileSync(`${faulty}.json`, JSON.stringify({ ...manifest, rows: { ...manifest.rows, companies: 2 } }));
      const checks = await checkBackup(OWN, faulty, await empty("faulty"));
      expect(results(checks)).toMatchObject({ file: "ok", migrations: "failed", rows: "failed", SECRET_KEY: "failed" });
      appendFileSync(faulty, "x");
      expect(results(await checkBackup(OWN, faulty, server.url("faulty")))).toEqual({ file: "failed" });
    });
  });

  describe("during a newsletter", () => {
    const log = { error: () => {}, warn: () => {}, info: () => {} };
    /** Checks of a starting or running sender before its first claim. */
    const recognise = async (wasRunning = false) =>
      recogniseDatabase(await readDatabaseState(), { log, peers: undefined, wasRunning });
    const states = async () =>
      Object.fromEntries(
        (await query<{ name: string; state: string }>(STATES)).map(({ name, state }) => [name, state]),
      );
    const file = join(folder, "sending.dump");
    let admin: pg.Client;

    async function on<T>(database: string, work: () => Promise<T>): Promise<T> {
      openDatabase(server.url(database), 3);
      try {
        return await work();
      } finally {
        await closeDatabase();
      }
    }

    beforeAll(async () => {
      admin = await connected("postgres");
      const source = await connected("flockmail");
      await source.query(UNDER_WAY);
      await on("flockmail", async () => {
        await recognise();
        await recognise();
        expect(await states()).toEqual(BEFORE);
      });
      await server.run("pg_dump", "--format=custom", "--file", file, server.url("flockmail"));
      await admin.query("create database dumped");
      await server.run("pg_restore", "--exit-on-error", "--dbname", server.url("dumped"), file);
    });

    /** Copies the restored database with CREATE DATABASE … TEMPLATE, which is faster than restoring the dump again. */
    const restoredAs = async (database: string) => {
      await admin.query(`drop database if exists ${database} with (force)`);
      await admin.query(`create database ${database} template dumped`);
    };

    test("stops all newsletters before a sender claims work; recipients who may have got the mail become in doubt", async () => {
      await restoredAs("sending");
      await on("sending", async () => {
        await recognise();
        expect(await states()).toEqual(STOPPED);
        const [sending] = await query<{ id: string }>("select id from campaigns where name = 'sending'");
        expect(await settle(sending!.id)).toBe(true);
        expect(await states()).toEqual({ ...STOPPED, sending: "partial: 1 sent, 2 unknown" });
        expect(await query("select status, next_attempt_at from sent_email_copies")).toEqual([
          { status: 6, next_attempt_at: null },
        ]);
        expect(await query("select detail from audit_log where action = 'campaign.stopped'")).toHaveLength(2);
        // This happens once: the second start recognises its database.
        await query("update campaigns set error = null, status = 'sending' where name = 'sending'");
        await recognise();
        expect((await states()).sending).toMatch(/^sending/);
      });
    });

    test("is recognised, too, when restored in place, into the same database", async () => {
      await server.run("pg_restore", "--clean", "--exit-on-error", "--dbname", server.url("sending"), file);
      await on("sending", async () => {
        await recognise();
        expect(await states()).toEqual(STOPPED);
      });
    });

    test("can be marked as restored by an operator if that cannot be detected", async () => {
      await restoredAs("sending");
      await on("sending", async () => {
        await query("update installation set worked_on = null");
        await recognise();
        const { workedOn, ...moment } = await readDatabaseState();
        expect([await states(), workedOn]).toEqual([BEFORE, identityOf({ workedOn, ...moment })]);
        await query(MARK_RESTORED);
        expect((await readDatabaseState()).workedOn).toBe("restored");
        await recognise();
        expect(await states()).toEqual(STOPPED);
      });
    });

    test("only makes a sender that starts as the only one stop newsletters after a timeline change; a running sender stops nothing", async () => {
      await restoredAs("sending");
      await on("sending", async () => {
        await query("update installation set worked_on = null");
        await recognise();
        const failOver = () => query("update installation set worked_on_timeline = '00000000'");
        await failOver();
        await recognise(true);
        expect(await states()).toEqual(BEFORE);
        await failOver();
        await recognise();
        expect(await states()).toEqual(STOPPED);
      });
    });
  });
});
