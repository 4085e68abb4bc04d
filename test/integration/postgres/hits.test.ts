/**
 * The migrations that number companies and make the tables of hits, over a database as the version before left it, while that version
 * goes on storing opens in full.
 */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { migrate, pending } from "../../../models/database/migrate.ts";
import { admin } from "../../support/database.ts";
import { repeated } from "../../support/repeated.ts";

const COMPANIES = 3_000;
const MIGRATIONS = join(import.meta.dirname, "../../../models/migrations");
const FIRST = "0054_company_numbers.sql";
const SECOND = "0055_hits.sql";

const name = `flockmail_hits_${randomBytes(6).toString("hex")}`;
let url: string;
let client: pg.Client;

const connect = async () => {
  const connected = new pg.Client({ connectionString: url });
  await connected.connect();
  return connected;
};

/** The schema of the version before, with companies and a campaign. */
beforeAll(async () => {
  await admin(`create database ${name} template template1`);
  const own = new URL(process.env.TEST_SERVER_URL!);
  own.pathname = `/${name}`;
  url = own.href;
  client = await connect();
  await client.query(
    "create table migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())",
  );
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith(".sql") && file < FIRST);
  for (const file of files.sort()) {
    const sql = readFileSync(join(MIGRATIONS, file), "utf8");
    for (const step of sql.split(/^-- step (?:quick|repeat|alone|index)$/m)) {
      await client.query(step.replaceAll("index concurrently", "index"));
    }
    const checksum = createHash("sha256").update(sql).digest("hex");
    await client.query("insert into migrations (name, checksum) values ($1, $2)", [file, checksum]);
  }
  await client.query(
    `insert into companies (id, name, plan) select uuid_v7(), 'A', p.name from (select name from plans limit 1) p, generate_series(1, ${COMPANIES});
     insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id)
       select uuid_v7(), id, 'N', 'to_list', 'sending', id, id from companies order by id limit 1`,
  );
}, 120_000);
afterAll(async () => {
  await client.end();
  await admin(`drop database ${name} with (force)`);
});

/** What a node of the version before does meanwhile: a company comes, and an open is stored with what it changes. */
async function oldNode() {
  const node = await connect();
  const round = async () => {
    await node.query("insert into companies (id, name, plan) select uuid_v7(), 'New', name from plans limit 1");
    await node.query("update companies set updated_at = now() where id = (select company_id from campaigns limit 1)");
    await node.query(
      `insert into email_events (company_id, campaign_id, type, recipient, is_first)
       select company_id, id, 'opened', 'a@example.com', true from campaigns limit 1`,
    );
  };
  return repeated(round, () => node.end());
}

const first = async (sql: string) => (await client.query(sql)).rows[0];

test("applied beside the version before, killed and begun again, they number each company once and lose no open", async () => {
  const load = await oldNode();
  try {
    let kills = 0;
    for (let done = false; !done; ) {
      const running = migrate(url).then(
        () => {
          done = true;
        },
        () => {},
      );
      while (kills < 2 && !done) {
        const killed = await admin(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'flockmail' and state = 'active'",
          [name],
        );
        if (killed.length > 0) {
          kills++;
          break;
        }
        await sleep(1);
      }
      await running;
    }
    expect(kills).toBe(2);
    const { written } = load;
    while (load.written < written + 5 && !load.isOver) await sleep(5);
  } finally {
    await load.stop();
  }
  expect(await pending(url)).toEqual([]);
  expect(await first("select count(*)::int as n, count(distinct no)::int as numbers from companies")).toEqual({
    n: COMPANIES + load.written,
    numbers: COMPANIES + load.written,
  });
  expect(await first("select sum(n)::int as n from campaign_counts where metric = 'opened'")).toEqual({
    n: load.written,
  });
  expect(await first("select sum(opens)::int as n from company_days")).toEqual({ n: load.written });
  expect(await first("select count(*)::int as n from hit_parts where detached_at is null")).toEqual({ n: 3 });
}, 300_000);

test("neither holds a lock that is waited for longer than two seconds", () => {
  for (const file of [FIRST, SECOND]) {
    const sql = readFileSync(join(MIGRATIONS, file), "utf8");
    expect(sql.startsWith("-- steps\n")).toBe(true);
    // Whatever is not quick takes no lock that a writer waits for.
    for (const [, mode, step] of sql.matchAll(/^-- step (repeat|alone|index)\n([\s\S]*?)(?=^-- step|(?![\s\S]))/gm)) {
      expect([mode, step!.trim()]).toEqual([
        mode,
        expect.stringMatching(/^(select \w+\(\) as more|create unique index concurrently|alter table \w+ validate)/),
      ]);
    }
  }
});
