/**
 * The hourly limit when Redis loses its counters: flushed, killed, failed over to a lagging replica, or with the
 * company's key evicted. The mail server checks that no rolling window exceeds the limit. FAILURES=long (`npm run
 * test:failures`) takes every fault.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { query } from "../../models/database/db.ts";
import { connectRedis } from "../../services/lib/redis.ts";
import { SenderLimiter } from "../../services/smtp-sender/limits/sender-limiter.ts";
import { long } from "../support/long.ts";
import { type Sending, startSending } from "../support/sending.ts";
import { type Server, startRedis } from "../support/servers.ts";
import { type SilentProxy, startSilentProxy } from "../support/silent-proxy.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";

const NODE = join(import.meta.dirname, "../support/sender-node.ts");
/** Mails of a campaign, in full windows. */
const WINDOWS = long ? 3 : 2;
const WINDOW_SECONDS = 2;
const LIMIT = 100;
const SENDERS = 3;
/** Slow enough that mails and tokens are in flight whenever a fault happens. */
const DOT_MS = 60;

let sending: Sending;
let server: SmtpServer;
let redisServer: Server;
let proxy: SilentProxy;
const clients: Redis[] = [];
const children: ChildProcess[] = [];
const others: Server[] = [];

const portOf = ({ url }: Server) => Number(new URL(url).port);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

beforeAll(async () => {
  process.env.LIMIT_WINDOW_SECONDS = `${WINDOW_SECONDS}`;
  sending = await startSending();
  await query("insert into plans (name, smtp_per_hour) values ('tight', $1)", [LIMIT]);
});
afterAll(() => sending.stop());
beforeEach(async () => {
  server = await startSmtpServer({ delayMs: { DOT: DOT_MS } });
  redisServer = await startRedis({ own: true });
  proxy = await startSilentProxy(portOf(redisServer));
});
afterEach(async () => {
  await Promise.all(children.splice(0).map(kill));
  await sending.stopEngines();
  for (const client of clients.splice(0)) client.disconnect();
  await proxy.stop();
  await Promise.all([redisServer, server, ...others.splice(0)].map((one) => one.stop()));
});

async function client(port = proxy.port): Promise<Redis> {
  const connection = connectRedis(`redis://127.0.0.1:${port}`);
  connection.on("error", () => {});
  await connection.connect();
  clients.push(connection);
  return connection;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function campaign(recipients: number, transactional = false): Promise<string> {
  const companyId = await sending.company("tight");
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 30 });
  return sending.campaign({ companyId, smtpConfigId, recipients, transactional, chunk: 25 });
}

async function startSenders(): Promise<void> {
  for (let n = 0; n < SENDERS; n++) sending.engine({ limiter: new SenderLimiter(await client()), hourRetryMs: 200 });
}

/** The largest number of mails in any rolling window. */
function mostInAWindow(): number {
  const times = server.messages.map(({ at }) => at).sort((a, b) => a - b);
  return Math.max(...times.map((from, i) => times.slice(i).filter((at) => at < from + WINDOW_SECONDS * 1_000).length));
}

interface Fault {
  what: string;
  everyMs: number;
  strike(admin: Redis): Promise<unknown>;
}

let evicted = 0;
const EMPTIED: Fault = { what: "emptied", everyMs: 400, strike: (admin) => admin.flushall() };
const FAULTS: Fault[] = [
  EMPTIED,
  {
    what: "losing the company's keys one by one, as by an eviction",
    everyMs: 300,
    async strike(admin) {
      const keys = (await admin.keys("flockmail:limit:hour:*")).toSorted();
      const key = keys[evicted++ % Math.max(1, keys.length)];
      if (key) await admin.del(key.slice("flockmail:".length));
    },
  },
  {
    what: "killed, and restarted without its data",
    everyMs: 1_500,
    async strike() {
      const port = portOf(redisServer);
      redisServer.child!.signal("SIGKILL");
      await redisServer.stop();
      redisServer = await startRedis({ own: true, port });
    },
  },
];

test.each(long ? FAULTS : [EMPTIED])("Redis is $what, again and again", async ({ strike, everyMs }) => {
  const admin = await client(portOf(redisServer));
  const id = await campaign(WINDOWS * LIMIT);
  await startSenders();
  await server.received(LIMIT / 3);
  let over = false;
  const striking = (async () => {
    while (!over) {
      await strike(admin);
      await pause(everyMs);
    }
  })();
  const end = await sending.finished(id).finally(() => {
    over = true;
  });
  await striking;
  expect(end).toMatchObject({ status: "completed", sent_count: WINDOWS * LIMIT });
  expect(mostInAWindow()).toBeLessThanOrEqual(LIMIT);
  expect(server.doubled).toEqual([]);
});

test("Redis fails over to a replica that lags by most of a window", async () => {
  const id = await campaign(WINDOWS * LIMIT);
  const behind = async () => {
    const replica = await startRedis({ own: true });
    others.push(replica);
    const admin = await client(portOf(replica));
    await admin.replicaof("127.0.0.1", portOf(redisServer));
    while (!/master_link_status:up/.test(await admin.info("replication"))) await pause(20);
    return { replica, admin };
  };
  let next = await behind();
  await startSenders();
  for (const before of long ? [0, LIMIT] : [0]) {
    await server.received(before + LIMIT / 5);
    // Misses everything that is counted from now on.
    await next.admin.replicaof("127.0.0.1", 1);
    await server.received(before + LIMIT);
    await next.admin.replicaof("NO", "ONE");
    proxy.target(portOf(next.replica));
    proxy.cut();
    await redisServer.stop();
    redisServer = next.replica;
    next = await behind();
  }
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: WINDOWS * LIMIT });
  expect(mostInAWindow()).toBeLessThanOrEqual(LIMIT);
});

if (long) {
  test("two Redis servers that both act as primary, each used by one sender", async () => {
    const other = await startRedis({ own: true });
    others.push(other);
    const id = await campaign(2 * LIMIT);
    await startSenders();
    sending.engine({ limiter: new SenderLimiter(await client(portOf(other))), hourRetryMs: 200 });
    expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 2 * LIMIT });
    expect(mostInAWindow()).toBeLessThanOrEqual(LIMIT);
  });

  test.each([
    ["newsletters", false],
    ["transactional mail, which is sent again", true],
  ])("senders are killed while Redis is emptied: %s", async (_, transactional) => {
    const admin = await client(portOf(redisServer));
    const id = await campaign(2 * LIMIT, transactional);
    const sender = async () => {
      const env = {
        ...process.env,
        DATABASE_URL: sending.databaseUrl,
        REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
        MAX_IN_DOUBT: "60",
        SEND_LEASE_SECONDS: "2",
        RETRY_BASE_SECONDS: "1",
      };
      const child = spawn(process.execPath, [NODE], { stdio: ["ignore", "pipe", "inherit"], env });
      children.push(child);
      await once(child.stdout!, "data");
    };
    await Promise.all([sender(), sender()]);
    for (const atLeast of [LIMIT / 3, LIMIT]) {
      await server.received(atLeast);
      await Promise.all(children.splice(0).map(kill));
      await admin.flushall();
      await Promise.all([sender(), sender()]);
    }
    await sending.until(
      () => sending.states(id),
      ({ queued = 0, sending: claimed = 0 }) => queued + claimed === 0,
    );
    expect(["completed", "partial"]).toContain((await sending.finished(id)).status);
    expect(mostInAWindow()).toBeLessThanOrEqual(LIMIT);
  });
}
