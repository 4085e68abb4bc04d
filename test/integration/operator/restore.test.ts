/** Backup and restore as the README describes them, on the oldest PostgreSQL that is supported. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { migrate, pending } from "../../../models/database/migrate.ts";
import { type Postgres15, startPostgres15 } from "../../support/postgres15.ts";

jest.setTimeout(180_000);

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
    insert into campaigns (id, company_id, name, campaign_type, status, total_emails, sent_count, smtp_config_id, worker_task_id)
    select uuid_v7(), id, 'News', 'to_list', 'completed', 1000, 1000, uuid_v7(), uuid_v7() from company
    returning id, company_id),
  mails as (
    insert into sent_emails (company_id, campaign_id, seq, email, status)
    select company_id, id, n, 'u' || n || '@example.com', 2 from campaign, generate_series(1, 1000) n
    returning id, company_id, campaign_id, email)
  insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, is_first)
  select company_id, campaign_id, id, 'opened', email, true from mails`;

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

  test("has every row, counts on, and needs no migration", async () => {
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
});
