/** The migration that gives every mailbox one key, over a database as the version before left it, while that version goes on. */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { DatabaseClient } from "../../../models/database/client.ts";
import { migrate, pending } from "../../../models/database/migrate.ts";
import { hasSteps, runSteps } from "../../../models/database/run-steps.ts";
import { MIGRATION } from "../../../models/database/session-settings.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../models/migrations");
const KEYS = "0019_quota_and_address_keys.sql";
const LETTERS = "b\u00fccher.example";
const ON_THE_WIRE = "xn--bcher-kva.example";
const DECOMPOSED = "bu\u0308cher.example";
const company = "0a000000-0000-7000-8000-000000000001";
const other = "0a000000-0000-7000-8000-000000000002";

let url: string;
let admin: pg.Client;
let client: pg.Client;
const name = `flockmail_keys_${randomBytes(6).toString("hex")}`;

/** The schema of the version before. */
async function makeOld(): Promise<void> {
  await client.query(
    "create table migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())",
  );
  const steps = new DatabaseClient(url, { settings: MIGRATION, silentMs: 0 });
  await steps.connect();
  try {
    for (const file of readdirSync(MIGRATIONS).sort()) {
      if (file >= KEYS || !file.endsWith(".sql")) continue;
      const sql = readFileSync(join(MIGRATIONS, file), "utf8");
      if (hasSteps(sql)) await runSteps(steps, file, sql);
      else await client.query(sql);
      const checksum = createHash("sha256").update(sql).digest("hex");
      await client.query("insert into migrations (name, checksum) values ($1, $2)", [file, checksum]);
    }
  } finally {
    await steps.end();
  }
  await client.query(
    "insert into companies (id, name, plan) select c, 'A', p.name from unnest($1::uuid[]) c, (select name from plans limit 1) p",
    [[company, other]],
  );
}

const subscriber = async (email: string, status: string, more: { first_name?: string; of?: string } = {}) => {
  const { rows } = await client.query(
    "insert into subscribers (company_id, email, status, first_name) values ($1, $2, $3, $4) returning id",
    [more.of ?? company, email, status, more.first_name ?? ""],
  );
  return rows[0].id as string;
};
const suppression = (email: string, kind: string, reason = "") =>
  client.query("insert into suppressions (company_id, email, kind, reason) values ($1, $2, $3, $4)", [
    company,
    email,
    kind,
    reason,
  ]);
const rowsOf = async (sql: string) => (await client.query(sql)).rows;

beforeAll(async () => {
  admin = new pg.Client({ connectionString: process.env.TEST_SERVER_URL });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const own = new URL(process.env.TEST_SERVER_URL!);
  own.pathname = `/${name}`;
  url = own.href;
  client = new pg.Client({ connectionString: url });
  await client.connect();
  await makeOld();
});
afterAll(async () => {
  await client.end();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

test("spellings of one mailbox become one subscriber and one suppression, the more careful status wins, and nothing else changes", async () => {
  const ann = await subscriber(`ann@${LETTERS}`, "active", { first_name: "Ann" });
  const annOnTheWire = await subscriber(`ann@${ON_THE_WIRE}`, "unsubscribed");
  const annDecomposed = await subscriber(`ann@${DECOMPOSED}`, "bounced");
  const bob = await subscriber(`bob@${LETTERS}`, "active");
  const plain = await subscriber("Plain@Example.com", "active");
  const elsewhere = await subscriber(`ann@${ON_THE_WIRE}`, "active", { of: other });
  const lists = ["0b000000-0000-7000-8000-000000000001", "0b000000-0000-7000-8000-000000000002"];
  await client.query("insert into lists (id, company_id, name) select l, $1, 'L' from unnest($2::uuid[]) l", [
    company,
    lists,
  ]);
  await client.query(
    `insert into list_members (company_id, list_id, subscriber_id, left_at) values
       ($1, $2, $4, null), ($1, $2, $5, now()), ($1, $3, $5, null), ($1, $3, $6, null)`,
    [company, ...lists, ann, annOnTheWire, annDecomposed],
  );
  await client.query(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, no, expansion_began_at)
     values ($1, $1, 'N', 'to_list', 'completed', $1, $1, next_campaign_no(), now())`,
    [company],
  );
  await client.query(
    `insert into sent_emails (campaign_no, seq, subscriber_id, id, opens, clicks, created_at)
     select no, n, s, null, null, null, null from campaigns, unnest($1::uuid[]) with ordinality x (s, n)`,
    [[ann, annOnTheWire, annDecomposed]],
  );
  await suppression(`ann@${LETTERS}`, "unsubscribed", "old");
  await suppression(`ann@${ON_THE_WIRE}`, "bounced", "dead");
  await suppression(`eve@${DECOMPOSED}`, "complained", "spam");
  await suppression(`eve@${LETTERS}`, "unsubscribed");
  await suppression("Zed@Example.com", "manual");

  // A statement of the version before waits for no lock of the migration: it runs beside it.
  const meanwhile = { written: 0, stop: false };
  const before = (async () => {
    const old = new pg.Client({ connectionString: url });
    await old.connect();
    while (!meanwhile.stop) {
      await old.query(
        "insert into subscribers (company_id, email) values ($1, $2) on conflict (company_id, email_key) do update set updated_at = now()",
        [other, `n${meanwhile.written++ % 50}@${DECOMPOSED}`],
      );
    }
    await old.end();
  })();
  expect(await migrate(url)).toContain(KEYS);
  meanwhile.stop = true;
  await before;
  expect(await pending(url)).toEqual([]);

  expect(
    await rowsOf(
      `select id, email_key, status, first_name from subscribers where company_id = '${company}' order by email_key`,
    ),
  ).toEqual([
    { id: ann, email_key: `ann@${ON_THE_WIRE}`, status: "bounced", first_name: "Ann" },
    { id: bob, email_key: `bob@${ON_THE_WIRE}`, status: "active", first_name: "" },
    { id: plain, email_key: "plain@example.com", status: "active", first_name: "" },
  ]);
  expect(await rowsOf(`select id from subscribers where id = '${elsewhere}'`)).toHaveLength(1);
  expect(await rowsOf("select list_id, left_at is null as stays, subscriber_id from list_members order by 1")).toEqual([
    { list_id: lists[0], stays: false, subscriber_id: ann },
    { list_id: lists[1], stays: true, subscriber_id: ann },
  ]);
  // Each mail keeps the address that it was sent to.
  expect(await rowsOf("select seq, subscriber_id, email from sent_emails order by seq")).toEqual([
    { seq: 1, subscriber_id: ann, email: null },
    { seq: 2, subscriber_id: ann, email: `ann@${ON_THE_WIRE}` },
    { seq: 3, subscriber_id: ann, email: `ann@${DECOMPOSED}` },
  ]);
  expect(await rowsOf("select email_key, kind, reason from suppressions order by email_key")).toEqual([
    { email_key: `ann@${ON_THE_WIRE}`, kind: "bounced", reason: "dead" },
    { email_key: `eve@${ON_THE_WIRE}`, kind: "complained", reason: "spam" },
    { email_key: "zed@example.com", kind: "manual", reason: "" },
  ]);
  const counts = `select name, n from (select c.name, count_of('${company}', c.name, '${company}')::int as n
    from unnest(array['subscribers', 'suppressions']) c (name)) x order by 1`;
  expect(await rowsOf(counts)).toEqual([
    { name: "subscribers", n: 3 },
    { name: "suppressions", n: 3 },
  ]);
  expect(await rowsOf(`select count(*)::int from subscribers where company_id = '${other}'`)).toEqual([
    { count: 1 + Math.min(50, meanwhile.written) },
  ]);
  expect(
    await rowsOf("select count(*)::int from subscribers where email_key is distinct from address_key(email)"),
  ).toEqual([{ count: 0 }]);
}, 120_000);
