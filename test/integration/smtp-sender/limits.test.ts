/** The hourly limit: exact over batches, engines and restarts, and nothing fails for it. */

import { query } from "../../../models/database/db.ts";
import { hourWindow, type Limiter, type Window } from "../../../services/lib/limits/limiter.ts";
import { RedisLimiter } from "../../../services/lib/limits/limiter-redis.ts";
import { connectRedis } from "../../../services/lib/redis.ts";
import type { Engine } from "../../../services/smtp-sender/engine/engine.ts";
import { RedisSlots } from "../../../services/smtp-sender/limits/connection-slots-redis.ts";
import { hourLedger } from "../../../services/smtp-sender/limits/hour-ledger.ts";
import { ownLimiter, SenderLimiter } from "../../../services/smtp-sender/limits/sender-limiter.ts";
import { type Sending, startSending } from "../../support/sending.ts";
import { type Server, startRedis } from "../../support/servers.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const WINDOW_SECONDS = 3;
const LIMIT = 100;

let sending: Sending;
let server: SmtpServer;
let redisServer: Server;

beforeAll(async () => {
  process.env.LIMIT_WINDOW_SECONDS = `${WINDOW_SECONDS}`;
  sending = await startSending();
  await query("insert into plans (name, smtp_per_hour) values ('tight', $1)", [LIMIT]);
  redisServer = await startRedis();
}, 180_000);
afterAll(async () => {
  await sending.stop();
  await redisServer.stop();
});
beforeEach(async () => {
  server = await startSmtpServer();
});
afterEach(async () => {
  await sending.stopEngines();
  for (const slots of slotsOfSenders.splice(0)) slots.stop();
  await server.stop();
});

async function campaign(recipients: number) {
  const companyId = await sending.company("tight");
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  return sending.campaign({ companyId, smtpConfigId, recipients, chunk: 50 });
}

/** Maximum emails in any rolling window. */
const mostInAWindow = () =>
  Math.max(
    ...server.messages.map(
      ({ at }) => server.messages.filter((m) => m.at >= at && m.at < at + WINDOW_SECONDS * 1_000).length,
    ),
  );

test("the limit is never exceeded by one email in any rolling window; the others wait and arrive", async () => {
  const id = await campaign(250);
  sending.engine();
  await server.received(LIMIT);
  expect(await sending.counts(id)).toMatchObject({ status: "sending", failed_count: 0 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 250 });
  expect(mostInAWindow()).toBe(LIMIT);
});

test("copies count: with two each, a third as many recipients are sent to in a rolling window", async () => {
  const companyId = await sending.company("tight");
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const list = Array.from({ length: 50 }, (_, n) => ({
    email: `r${n}@example.com`,
    cc: [`c${n}@example.com`],
    bcc: [`b${n}@example.com`],
  }));
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: list });
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 50 });
  const windows = server.messages.map(({ at }) =>
    server.messages.filter((m) => m.at >= at && m.at < at + WINDOW_SECONDS * 1_000),
  );
  const mails = windows.map((messages) => messages.reduce((sum, { to }) => sum + to.length, 0));
  expect(server.messages.reduce((sum, { to }) => sum + to.length, 0)).toBe(150);
  expect(Math.max(...mails)).toBeLessThanOrEqual(LIMIT);
});

test("an email with more copies than the hourly limit uses all of it and is sent", async () => {
  await query("insert into plans (name, smtp_per_hour) values ('two', 2)");
  const companyId = await sending.company("two");
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const list = [{ email: "a@example.com", cc: ["b@example.com", "c@example.com", "d@example.com"] }];
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: list });
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
});

test("the last tokens of an hour are used at once, even if fewer than a group", async () => {
  const companyId = await sending.company("tight");
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const first = await sending.campaign({ companyId, smtpConfigId, recipients: LIMIT - 5 });
  const engine = sending.engine({ windowSeconds: 3_600 });
  await sending.finished(first);
  const second = await sending.campaign({ companyId, smtpConfigId, recipients: 40 });
  engine.checkForWork();
  await server.received(LIMIT);
  expect(await sending.counts(second)).toMatchObject({ status: "sending", failed_count: 0 });
});

test("tokens returned by refused emails are used soon, not only after the hour", async () => {
  const refusing = await startSmtpServer({
    answer: ({ verb }) => (verb === "DOT" ? { reply: "554 5.6.0 No", delayMs: 1_000 } : undefined),
  });
  const companyId = await sending.company("tight");
  const through = async (to: SmtpServer, recipients: number) =>
    sending.campaign({ companyId, smtpConfigId: await sending.smtpConfig(companyId, to), recipients, chunk: 100 });
  await through(refusing, 10);
  const engine = sending.engine({ windowSeconds: 3_600, hourRetryMs: 200 });
  await sending.until(
    async () => engine.budget.held,
    (held) => held > 0,
  );
  // The sender gets fewer tokens than it needs, because the refusing server holds the others.
  const id = await through(server, LIMIT);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: LIMIT });
  await refusing.stop();
});

test("a transactional mail in doubt keeps its token in the window, and is sent again when one is free", async () => {
  await query("insert into plans (name, smtp_per_hour) values ('single', 1)");
  await server.stop();
  let first = true;
  server = await startSmtpServer({
    answer: ({ verb }) => {
      if (verb !== "DOT" || !first) return undefined;
      first = false;
      return { drop: true, accept: true };
    },
  });
  const companyId = await sending.company("single");
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 1, transactional: true });
  sending.engine({ retryBaseMs: 100 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
  expect(server.accepted).toBe(2);
  expect(mostInAWindow()).toBe(1);
});

test("three senders share one limit in Redis", async () => {
  const clients = [1, 2, 3].map(() => connectRedis(redisServer.url));
  await Promise.all(clients.map((client) => client.connect()));
  const id = await campaign(250);
  for (const client of clients) sending.engine({ limiter: new SenderLimiter(client) });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 250 });
  expect(mostInAWindow()).toBeLessThanOrEqual(LIMIT);
  // The window is almost used up: a token that expired before its use is granted again a little later.
  expect(mostInAWindow()).toBeGreaterThan(LIMIT * 0.7);
  await sending.stopEngines();
  for (const client of clients) client.disconnect();
});

test("a Redis that is emptied repeatedly during a send never changes the hourly limit", async () => {
  await query("insert into plans (name, smtp_per_hour) values ('whole', 300)");
  await server.stop();
  server = await startSmtpServer({ delayMs: { DOT: 30 } });
  const clients = [1, 2].map(() => connectRedis(redisServer.url));
  await Promise.all(clients.map((client) => client.connect()));
  const companyId = await sending.company("whole");
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 330, chunk: 50 });
  for (const client of clients) sending.engine({ limiter: new SenderLimiter(client), windowSeconds: 3_600 });
  const emptying = setInterval(() => void clients[0]!.flushall(), 50);
  await server.received(300).finally(() => clearInterval(emptying));
  await sending.until(
    () => sending.counts(id),
    ({ sent_count }) => sent_count === 300,
  );
  expect(await new SenderLimiter(clients[0]!).used(hourWindow(companyId, 300, 3_600))).toMatchObject({ used: 300 });
  expect(server.accepted).toBe(300);
  await sending.stopEngines();
  for (const client of clients) client.disconnect();
});

test("a company without a ledger starts with emails sent within the window, copies included", async () => {
  const companyId = await sending.company("tight");
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const recipients = Array.from({ length: 3 }, (_, n) => ({
    email: `r${n}@example.com`,
    cc: [`c${n}@example.com`],
    bcc: [`b${n}@example.com`],
  }));
  const id = await sending.campaign({ companyId, smtpConfigId, recipients });
  const no = "(select no from campaigns where id = $1)";
  await query(`update sent_emails set status = 2, sent_at = now() where campaign_no = ${no}`, [id]);
  const { taken } = await hourLedger.begin(hourWindow(companyId, LIMIT, 3_600));
  expect(taken.reduce((sum, [, n]) => sum + n, 0)).toBe(9);
});

test("a restart keeps the window's count", async () => {
  const id = await campaign(150);
  const first = sending.engine({ limiter: ownLimiter() });
  await server.received(60);
  await first.stop();
  sending.engine({ limiter: ownLimiter() });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 150 });
  expect(mostInAWindow()).toBeLessThanOrEqual(LIMIT);
});

test("senders wait while Redis is unavailable, and lose nothing", async () => {
  const client = connectRedis(redisServer.url);
  await client.connect();
  const limiter: Limiter = new RedisLimiter(client);
  let away = true;
  const shaky: Limiter = {
    take: (window, n) => (away ? Promise.reject(new Error("Redis is away")) : limiter.take(window, n)),
    giveBack: (window, bucket, n) => limiter.giveBack(window, bucket, n),
    used: (window) => limiter.used(window),
    forget: (window) => limiter.forget(window),
  };
  const id = await campaign(20);
  const engine = sending.engine({ limiter: shaky });
  await sending.until(
    async () => engine.outage.current,
    (text) => text === "Redis is away",
  );
  expect(server.accepted).toBe(0);
  expect(await sending.states(id)).toEqual({ queued: 20 });
  away = false;
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 20 });
  await sending.stopEngines();
  client.disconnect();
});

test("twenty concurrent requests for 30 tokens get exactly the limit from Redis, and return what they do not use", async () => {
  const client = connectRedis(redisServer.url);
  await client.connect();
  const limiter = new RedisLimiter(client);
  const window: Window = hourWindow("somebody", 200, 60);
  const grants = await Promise.all(Array.from({ length: 20 }, () => limiter.take(window, 30)));
  expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(200);
  expect(await limiter.used(window)).toMatchObject({ used: 200 });
  await limiter.giveBack(window, grants[0]!.bucket, 12);
  expect((await limiter.take(window, 30)).granted).toBe(12);
  client.disconnect();
});

let names = 0;
const slotsOfSenders: RedisSlots[] = [];
function overRedis(client: ReturnType<typeof connectRedis>) {
  const slots = new RedisSlots(client, `sender-${++names}`, () => []);
  slotsOfSenders.push(slots);
  slots.start();
  return {
    limiter: new SenderLimiter(client),
    slots: (key: string, hasWork: () => boolean) => slots.of(key, hasWork),
  };
}

test("a sender that has all connections of a server gives another one its share, and gets it back when that one is done", async () => {
  const clients = [1, 2].map(() => connectRedis(redisServer.url));
  await Promise.all(clients.map((client) => client.connect()));
  await server.stop();
  let isSlow = true;
  server = await startSmtpServer({
    answer: ({ verb }) => (verb === "DOT" && isSlow ? { reply: "250 ok", delayMs: 40 } : undefined),
  });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 8 });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 2_000, chunk: 50 });
  const open = (engine: Engine) => engine.servers.get(smtpConfigId)?.connections.size ?? 0;
  const first = sending.engine(overRedis(clients[0]!));
  await sending.until(
    async () => open(first),
    (size) => size === 8,
  );
  const second = sending.engine(overRedis(clients[1]!));
  await sending.until(
    async () => [open(first), open(second)],
    ([a, b]) => a === 4 && b === 4,
  );
  await second.stop();
  await sending.until(
    async () => open(first),
    (size) => size === 8,
  );
  isSlow = false;
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 2_000 });
  expect(server.peakConnections).toBeLessThanOrEqual(8);
  expect(server.doubled).toEqual([]);
  for (const client of clients) client.disconnect();
});

test("connections are counted over all senders", async () => {
  const clients = [1, 2, 3].map(() => connectRedis(redisServer.url));
  await Promise.all(clients.map((client) => client.connect()));
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 4 });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 1_000, chunk: 50 });
  for (const client of clients) sending.engine(overRedis(client));
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1_000 });
  expect(server.peakConnections).toBeLessThanOrEqual(4);
  expect(server.doubled).toEqual([]);
  await sending.stopEngines();
  for (const client of clients) client.disconnect();
});

test("a server that hangs with its only connection gets more as soon as the configuration allows more", async () => {
  const client = connectRedis(redisServer.url);
  await client.connect();
  await server.stop();
  server = await startSmtpServer({
    answer: ({ verb, connection }) => (verb === "DOT" && connection === 1 ? { hang: true } : undefined),
  });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 1 });
  await sending.campaign({ companyId, smtpConfigId, recipients: 20, chunk: 5 });
  const engine = sending.engine(overRedis(client));
  await sending.until(
    async () => engine.servers.get(smtpConfigId)?.connections.busy ?? 0,
    (busy) => busy === 1,
  );
  await query("update smtp_configs set max_connections = 4, updated_at = now() where id = $1 and company_id = $2", [
    smtpConfigId,
    companyId,
  ]);
  await engine.servers.reload(smtpConfigId);
  await server.received(10);
  await sending.stopEngines();
  client.disconnect();
});
