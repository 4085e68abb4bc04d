/**
 * Measures what a transactional mail to one receiver leaves in the database.
 *
 *     node test/bench receipt-rows [receipts=2000] [atOnce=16]
 *
 * One service process sends the 10 KB newsletter to one receiver per send, as a shop sends receipts, through the API
 * into a server that accepts everything. Prints bytes on disk by table and index, bytes of WAL, and CPU of the service
 * and PostgreSQL, per receipt.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { migrate } from "../../models/database/migrate.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { startSmtpServer } from "../support/smtp-server.ts";
import { type Api, type Ids, newAccount, post, prepare } from "./campaign.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";
import { serviceProcess } from "./resources.ts";
import { grown, type Size, sizesNow } from "./sizes.ts";

const [receipts = 2_000, atOnce = 16] = process.argv.slice(2).map(Number);
const WARM_UP = 200;
const STALLED_MS = 60_000;
const POLL_MS = 50;

let arrived = 0;
let asked = 0;

async function send(api: Api, ids: Ids, count: number): Promise<void> {
  const until = asked + count;
  const ask = async () => {
    while (asked < until) {
      const receivers = [{ email: `buyer.${asked++}@example.com`, first_name: "Ann" }];
      const what = { template_id: ids.template, smtp_config_id: ids.smtp, is_transactional: true };
      await post(api, "send/to-receivers", { name: "Receipt", ...what, receivers });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  for (let [seen, at] = [arrived, Date.now()]; arrived < until; await sleep(POLL_MS)) {
    if (arrived > seen) [seen, at] = [arrived, Date.now()];
    if (Date.now() - at > STALLED_MS) throw new Error(`${until - arrived} receipts did not arrive`);
  }
}

/** Results are recorded shortly after the mails were sent. */
async function untilSettled(database: pg.Client): Promise<void> {
  const open = "select from campaigns where status not in ('completed', 'partial', 'failed') limit 1";
  while ((await database.query(open)).rowCount) await sleep(POLL_MS);
}

const folder = dataFolder();
const shop = await startSmtpServer({
  answer: ({ verb }) => {
    if (verb === "DOT") arrived++;
    return undefined;
  },
});
const postgres = await startEmbeddedPostgres(folder.path);
const database = new pg.Client({ connectionString: postgres.url });
try {
  await migrate(postgres.url);
  await database.connect();
  const SECRET_KEY = "bench-secret-bench-secret-bench-secret";
  const loopback = { HOST: "127.0.0.1", ALLOW_PRIVATE_NETWORKS: "true", LOGLEVEL: "warn" };
  const service = await startService({ env: { DATABASE_URL: postgres.url, SECRET_KEY, ...loopback } });
  try {
    await service.ready();
    const api = await newAccount(service.url);
    const ids = await prepare(api, new URL(`smtp://127.0.0.1:${shop.port}`), 1, atOnce);
    await send(api, ids, Math.min(WARM_UP, receipts));
    await untilSettled(database);

    const pids = [serviceProcess(service.child.pid), postmasterOf(join(folder.path, "postgres"))];
    const look = async () => {
      const sizes = await sizesNow(async (sql) => (await database.query<Size>(sql)).rows);
      const { rows } = await database.query<{ wal: number }>(
        "select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal",
      );
      return { sizes, wal: rows[0]!.wal, cpu: pids.map(cpuUs) };
    };
    await database.query("checkpoint");
    const before = await look();
    await send(api, ids, receipts);
    await untilSettled(database);
    const after = await look();
    const { bytes, by } = grown(before.sizes, after.sizes, receipts);
    const wal = (after.wal - before.wal) / receipts;
    const [serviceUs, postgresUs] = after.cpu.map((us, n) => Math.round((us - before.cpu[n]!) / receipts));
    console.log(`${receipts} receipts; for each: ${bytes.toFixed(0)} bytes on disk, ${wal.toFixed(0)} bytes of WAL`);
    for (const one of by) console.log(`  ${one.name} ${one.bytes.toFixed(0)} bytes`);
    console.log(`CPU: service ${serviceUs} µs, PostgreSQL ${postgresUs} µs`);
  } finally {
    await service.child.stop();
  }
} finally {
  await database.end();
  await postgres.stop();
  await shop.stop();
  folder.remove();
}
