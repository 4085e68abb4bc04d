/**
 * The migration that puts recipients into parts, over a database as the version before left it, while that version goes on
 * sending. `RECIPIENTS=1000000 npx jest test/integration/postgres/recipient-parts` prints how long it takes, and the longest
 * that a statement of the sender waited.
 */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { migrate, pending } from "../../../models/database/migrate.ts";
import { repeated } from "../../support/repeated.ts";

const RECIPIENTS = Number(process.env.RECIPIENTS ?? 20_000);
const CAMPAIGNS = 20;
const MIGRATIONS = join(import.meta.dirname, "../../../models/migrations");
const PARTS = "0018_recipient_parts.sql";

let url: string;
let admin: pg.Client;
let client: pg.Client;
const name = `flockmail_parts_${randomBytes(6).toString("hex")}`;

/** The schema of the version before, with campaigns and their recipients. */
async function makeOld(): Promise<void> {
  await client.query("drop schema public cascade; create schema public");
  await client.query(
    "create table migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())",
  );
  for (const file of readdirSync(MIGRATIONS).sort()) {
    if (file >= PARTS || !file.endsWith(".sql")) continue;
    const sql = readFileSync(join(MIGRATIONS, file), "utf8");
    await client.query(sql);
    const checksum = createHash("sha256").update(sql).digest("hex");
    await client.query("insert into migrations (name, checksum) values ($1, $2)", [file, checksum]);
  }
  await client.query(
    `insert into companies (id, name, plan) select gen_random_uuid(), 'A', name from plans limit 1;
     insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, next_seq)
       select uuid_v7(), id, 'N', 'to_list', 'sending', id, id, ${RECIPIENTS / CAMPAIGNS + 1} from companies, generate_series(1, ${CAMPAIGNS});
     insert into sent_emails (company_id, campaign_id, seq, email, status, smtp_response, sent_at)
       select company_id, id, n, n || '@example.com', 2, '2.0.0 Ok: queued as 4Zk3Wd1Xx2z9sd', now()
       from campaigns, generate_series(1, ${RECIPIENTS / CAMPAIGNS}) n;
     create table before as select id, campaign_id, seq, email from sent_emails`,
  );
}

beforeAll(async () => {
  admin = new pg.Client({ connectionString: process.env.TEST_SERVER_URL });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const own = new URL(process.env.TEST_SERVER_URL!);
  own.pathname = `/${name}`;
  url = own.href;
  client = new pg.Client({ connectionString: url });
  await client.connect();
});
beforeEach(makeOld);
afterAll(async () => {
  await client.end();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

/** What a sender of the version before does: writes recipients, and results to them, by statements that know no number. */
async function oldSender() {
  const sender = new pg.Client({ connectionString: url });
  await sender.connect();
  const { rows } = await sender.query("select id, company_id, next_seq from campaigns order by id limit 3");
  const statements = { longestMs: 0 };
  const timed = async (sql: string, values: unknown[]) => {
    const at = performance.now();
    await sender.query(sql, values);
    statements.longestMs = Math.max(statements.longestMs, performance.now() - at);
  };
  const round = async (n: number) => {
    const { id, company_id, next_seq } = rows[n % rows.length];
    const seq = next_seq + Math.floor(n / rows.length);
    await timed(
      "insert into sent_emails (company_id, campaign_id, seq, email) values ($1, $2, $3::int, $3::int || '@later.example')",
      [company_id, id, seq],
    );
    await timed(
      "update sent_emails set status = 2, sent_at = now() where campaign_id = $1 and seq = any ($2) and company_id is not distinct from $3",
      [id, [seq, 1 + (n % 100)], company_id],
    );
  };
  return { load: repeated(round, () => sender.end()), statements };
}

const count = async (sql: string): Promise<number> => Number((await client.query(sql)).rows[0].count);

async function holdToAll(written: number): Promise<void> {
  expect(await pending(url)).toEqual([]);
  expect(await count("select count(*) from sent_emails")).toBe(RECIPIENTS + written);
  expect(
    await count(
      "select count(*) from sent_emails e left join campaigns c on c.id = e.campaign_id and c.no = e.campaign_no where c.id is null",
    ),
  ).toBe(0);
  expect(
    await count(
      "select count(*) from before b join sent_emails e on e.id = b.id and e.campaign_id = b.campaign_id and e.seq = b.seq and e.email = b.email",
    ),
  ).toBe(RECIPIENTS);
  const { rows } = await client.query("select id from campaigns order by no");
  expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).toSorted());
}

test("recipients keep their ids and get their campaign's number while the version before goes on sending", async () => {
  const { load, statements } = await oldSender();
  const at = performance.now();
  try {
    expect(await migrate(url)).toContain(PARTS);
    if (process.env.RECIPIENTS) {
      const seconds = ((performance.now() - at) / 1_000).toFixed(1);
      process.stdout.write(
        `${RECIPIENTS} recipients in ${seconds} s; ${load.written} written meanwhile, the longest wait ${statements.longestMs.toFixed(0)} ms\n`,
      );
    }
    // It lives on beside nodes that know numbers.
    const written = load.written;
    while (load.written < written + 20 && !load.isOver) await sleep(5);
  } finally {
    await load.stop();
  }
  expect(load.written).toBeGreaterThan(20);
  await holdToAll(load.written);
}, 600_000);

/** Of migrations to this database. `each`: what is done with each of them. */
const connections = async (each = "pid"): Promise<number> =>
  (
    await admin.query(`select ${each} from pg_stat_activity where datname = $1 and application_name = 'flockmail'`, [
      name,
    ])
  ).rowCount!;

test("interrupted again and again it goes on where it was", async () => {
  let kills = 0;
  let applied: string[] = [];
  for (let done = false; !done; ) {
    const running = migrate(url).then(
      (names) => {
        applied = names;
        done = true;
      },
      () => {},
    );
    // However loaded the machine is, the first kills come while it has hardly begun.
    while (!done && (await connections()) === 0) await sleep(1);
    await sleep(15 * kills);
    if (!done && kills < 12) kills += Math.min(await connections("pg_terminate_backend(pid)"), 1);
    await running;
  }
  expect(applied.length).toBeGreaterThan(0);
  expect(kills).toBeGreaterThan(2);
  await holdToAll(0);
}, 600_000);

test("nodes that start at the same moment apply it once", async () => {
  const applied = (await Promise.all([migrate(url), migrate(url), migrate(url)])).flat();
  expect(applied).toContain(PARTS);
  expect(new Set(applied).size).toBe(applied.length);
  await holdToAll(0);
});

test("a node that waits for another's migration keeps no index from being built", async () => {
  const last = readdirSync(MIGRATIONS)
    .sort()
    .filter((file) => file < PARTS && file.endsWith(".sql"))
    .at(-1);
  const { rows } = await client.query("delete from migrations where name = $1 returning checksum", [last]);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  try {
    // The lock of all migrations, as the node has it that is building.
    await holder.query("begin; select pg_advisory_xact_lock(7305512061)");
    const waiting = migrate(url);
    const asks =
      "select from pg_stat_activity where datname = $1 and application_name = 'flockmail' and query ~ 'advisory'";
    while ((await admin.query(asks, [name])).rowCount === 0) await sleep(5);
    await client.query("set statement_timeout = '20s'");
    await client.query("create index concurrently while_others_wait on campaigns (name)");
    await client.query("insert into migrations (name, checksum) values ($1, $2)", [last, rows[0].checksum]);
    await holder.query("commit");
    expect((await waiting)[0]).toBe(PARTS);
  } finally {
    await holder.end();
    await client.query("reset statement_timeout");
  }
});

test("a month begins a part of its own, made ahead; a part that nobody made is made by the first campaign", async () => {
  await migrate(url);
  const drawn = async () => Number((await client.query("select next_campaign_no() as no")).rows[0].no);
  const parts = async () =>
    (await client.query("select no, month is not null as used from recipient_parts order by no")).rows;
  expect(await parts()).toEqual([
    { no: 0, used: true },
    { no: 1, used: false },
  ]);
  expect(await drawn()).toBe(1);
  await client.query("update recipient_parts set month = month - interval '1 month' where no = 0");
  await client.query("select prepare_recipient_parts()");
  expect(await drawn()).toBe(2 ** 20);
  await client.query("select prepare_recipient_parts()");
  expect(await drawn()).toBe(2 ** 20 + 1);
  expect((await parts()).map(({ no }) => no)).toEqual([0, 1, 2]);
  await client.query("select setval('campaign_no', 7 * (1 << 20) - 1)");
  expect(await drawn()).toBe(7 * 2 ** 20);
  await client.query(
    "insert into sent_emails (id, campaign_no, seq, email) values (null, 7 * (1 << 20), 1, 'a@b.example')",
  );
  expect(await count("select count(*) from sent_emails_7")).toBe(1);
});
