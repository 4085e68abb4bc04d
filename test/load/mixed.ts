/**
 * `npm run test:load -- [--minutes 10] [--senders 2] [--readers 2000]`: customers, newsletters, receipts, readers and webhooks
 * load a cluster on this machine while a sender is killed every 30 seconds. Prints the results; exits with 1 after a 5xx
 * answer, a mail that arrived twice, or a recipient without a result.
 *
 * `--soak` kills nothing and adds imports, bounces and console viewers, at a rate that two cores sustain for hours. It
 * compares early with late: memory, handles, connections, table sizes, response times.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { layoutTogether, senderName, startCluster } from "../support/cluster.ts";
import { startNats, startRedis } from "../support/servers.ts";
import { dataFolder } from "../support/service-process.ts";
import { startSmtpServer } from "../support/smtp-server.ts";
import { newLoadCompany } from "./company.ts";
import { everythingElse } from "./everything.ts";
import { periodOf } from "./period.ts";
import { Tables } from "./tables.ts";
import { Tally } from "./tally.ts";
import { drive, type Traffic } from "./traffic.ts";
import { Watch } from "./watch.ts";

const KILL_EVERY_MS = 30_000;
const LOOK_EVERY_MS = 2_000;
const TABLES_EVERY_MS = 60_000;
const SETTLED_WITHIN_MS = 90_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    senders: { type: "string", default: "2" },
    readers: { type: "string", default: "2000" },
    soak: { type: "boolean", default: false },
  },
});
const { soak } = values;
const PACE = soak ? { newsletterEveryMs: 20_000, apiPauseMs: 400 } : { newsletterEveryMs: 10_000, apiPauseMs: 40 };
const [minutes, senders, readers] = [values.minutes, values.senders, values.readers].map(Number);
const say = (text: string) => process.stdout.write(`${text}\n`);
const endings: (() => unknown)[] = [];

async function settled(database: pg.Client, campaigns: string[]): Promise<{ campaigns: object[]; open: number }> {
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { rows } = await database.query(
      `select status, count(*)::int as campaigns, sum(total_emails)::int as recipients, sum(sent_count)::int as sent,
         sum(failed_count)::int as failed_or_unknown, sum(total_emails - sent_count - failed_count)::int as unaccounted
       from campaigns where id = any ($1) group by status order by status`,
      [campaigns],
    );
    const open = rows.filter(({ status }) => status === "pending" || status === "sending");
    if (open.length === 0 || Date.now() > deadline) return { campaigns: rows, open: open.length };
    await sleep(500);
  }
}

async function main(): Promise<number> {
  say(
    `Mixed load for ${minutes} minutes, ${senders} senders, ${soak ? "no" : "a"} kill every ${KILL_EVERY_MS / 1_000} s.`,
  );
  const folder = dataFolder();
  endings.push(folder.remove);
  const postgres = await startEmbeddedPostgres(folder.path, { max_connections: 300 });
  endings.push(postgres.stop);
  const [redis, nats] = [await startRedis({ own: true }), await startNats({ own: true })];
  endings.push(redis.stop, nats.stop);
  const smtp = await startSmtpServer();
  endings.push(() => smtp.stop());
  const hooks = { received: 0 };
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(200).end());
    hooks.received++;
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  endings.push(() => receiver.close().closeAllConnections());
  const cluster = await startCluster({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    natsUrl: nats.url,
    senders: senders!,
    layout: layoutTogether,
    env: { TRUST_PROXY: "1", SEND_LEASE_SECONDS: "5", RETRY_BASE_SECONDS: "1" },
  });
  endings.push(cluster.stop);
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  endings.push(() => database.end());

  const company = await newLoadCompany(
    cluster.url,
    { smtp: smtp.port, hook: (receiver.address() as AddressInfo).port },
    readers!,
  );
  const begunMs = Date.now();
  const until = begunMs + minutes! * 60_000;
  const period = () => periodOf(begunMs, until);
  const [tally, watch, tables] = [new Tally(period), new Watch(cluster), new Tables(database)];
  await tables.prepare();
  const traffic: Traffic = { company, tally, smtp, until, campaigns: [], ...PACE };
  let kills = 0;
  const killing = (async () => {
    if (soak) return;
    for (
      await sleep(Math.min(KILL_EVERY_MS, until - Date.now()));
      Date.now() < until - 5_000;
      await sleep(KILL_EVERY_MS)
    ) {
      const name = senderName(1 + Math.floor(Math.random() * senders!));
      cluster.processes.get(name)!.child.signal("SIGKILL");
      await cluster.processes.get(name)!.child.ended;
      kills++;
      await cluster.start(name);
      watch.restarted(name);
    }
  })();
  const watching = (async () => {
    for (; Date.now() < until; await sleep(LOOK_EVERY_MS)) await watch.look();
  })();
  const watchingTables = (async () => {
    for (; Date.now() < until; await sleep(Math.min(TABLES_EVERY_MS, Math.max(1, until - Date.now())))) {
      await tables.look(period());
    }
    await tables.look("late");
  })();
  await Promise.all([drive(traffic), soak && everythingElse(traffic), killing, watching, watchingTables]);

  const { campaigns, open } = await settled(database, traffic.campaigns);
  const { rows: hooksLeft } = await database.query(
    "select status, count(*)::int as deliveries from webhook_deliveries group by status",
  );
  console.table(tally.rows());
  console.table(campaigns);
  console.table(watch.memoryRows());
  console.table(tables.rows());
  console.table(hooksLeft);
  const { early, late } = tables.connections();
  say(`Connections to PostgreSQL: at most ${early} early, ${late} late.`);
  say(
    `Mails accepted: ${smtp.accepted}, twice: ${smtp.doubled.length}; senders killed: ${kills}; webhooks received: ${hooks.received}.`,
  );
  say(
    `Longest: a campaign passed over ${watch.longestWaitSeconds.toFixed(1)} s, a webhook overdue ${watch.longestOverdueSeconds.toFixed(1)} s, event loop ${watch.longestLoopLagMs.toFixed(0)} ms.`,
  );
  const broken = [
    ...(tally.serverErrors.length > 0 ? [`${tally.serverErrors.length} answers of 5xx or none`] : []),
    ...(smtp.doubled.length > 0 ? [`${smtp.doubled.length} mails came twice`] : []),
    ...(open > 0 ? ["campaigns that did not end"] : []),
  ];
  say(broken.length === 0 ? "All as promised." : `Not as promised: ${broken.join(", ")}.`);
  return broken.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exitCode = 1;
} finally {
  for (const end of endings.reverse()) await end();
}
process.exit();
