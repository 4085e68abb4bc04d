/**
 * Senders of which all, or one, lose Redis, or whose Redis was emptied. Shared limits still apply, as counted at the
 * mail server, and mail that needs no count is sent.
 */
import { CAMPAIGN_ERROR } from "../../../models/campaign.ts";
import { query, queryOne } from "../../../models/database/db.ts";
import type { DomainLimit } from "../../../models/smtp-config.ts";
import type { Window } from "../../../services/lib/limits/limiter.ts";
import { connectRedis } from "../../../services/lib/redis.ts";
import type { Engine } from "../../../services/smtp-sender/engine/engine.ts";
import { RedisSlots } from "../../../services/smtp-sender/limits/connection-slots-redis.ts";
import { SenderLimiter } from "../../../services/smtp-sender/limits/sender-limiter.ts";
import { useSending } from "../../support/sending.ts";
import { type Server, startRedis } from "../../support/servers.ts";
import { type SilentProxy, startSilentProxy } from "../../support/silent-proxy.ts";

const MAX_CONNECTIONS = 6;
const NAMES = ["a", "b"];

const sending = useSending();
let redis: Server;
const senders: { proxy: SilentProxy; client: ReturnType<typeof connectRedis>; slots: RedisSlots }[] = [];

const portOf = ({ url }: Server) => Number(new URL(url).port);

beforeEach(async () => {
  redis = await startRedis({ own: true });
});
afterEach(async () => {
  for (const { proxy, client, slots } of senders.splice(0)) {
    slots.stop();
    client.disconnect();
    await proxy.stop();
  }
  await redis.stop();
});

async function restartRedis(): Promise<void> {
  const port = portOf(redis);
  await redis.stop();
  redis = await startRedis({ own: true, port });
}

/** Starts two senders that have discovered each other, each with its own connection to Redis. */
async function startSenders(): Promise<Engine[]> {
  const engines: Engine[] = [];
  for (const name of NAMES) {
    const proxy = await startSilentProxy(portOf(redis));
    const client = connectRedis(`redis://127.0.0.1:${proxy.port}`);
    client.on("error", () => {});
    await client.connect();
    const slots = new RedisSlots(client, name, () => NAMES);
    slots.start();
    senders.push({ proxy, client, slots });
    const own = (key: string, hasWork: () => boolean) => slots.of(key, hasWork);
    engines.push(sending.engine({ limiter: new SenderLimiter(client), slots: own, domainWindowSeconds: 2 }));
  }
  return engines;
}

interface Limits {
  plan?: string;
  maxPerSecond?: number;
  domainLimits?: DomainLimit[];
}

async function campaign(recipients: number, { plan, ...limits }: Limits = {}) {
  const server = await sending.startServer({ delayMs: { DOT: 60 } });
  const companyId = await sending.company(plan);
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: MAX_CONNECTIONS, ...limits });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients, chunk: 50 });
  const open = (engine: Engine) => engine.servers.get(smtpConfigId)?.connections.size ?? 0;
  return { id, server, open };
}

/** Waits until both senders have connections, and together all. */
const untilShared = (engines: Engine[], open: (engine: Engine) => number) =>
  sending.until(
    async () => engines.map(open),
    (sizes) => sizes[0]! + sizes[1]! === MAX_CONNECTIONS && Math.min(...sizes) > 0,
  );

test("a campaign finishes over the connections that it had if Redis is lost permanently", async () => {
  const { id, server, open } = await campaign(700);
  await untilShared(await startSenders(), open);
  await redis.stop();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 700 });
  expect(server.peakConnections).toBe(MAX_CONNECTIONS);
  expect(server.doubled).toEqual([]);
});

test("after Redis returns without its data no sender gets a connection before all have reported theirs", async () => {
  const { id, server, open } = await campaign(1_000);
  await untilShared(await startSenders(), open);
  for (let n = 0; n < 3; n++) {
    await restartRedis();
    await server.received(server.accepted + 75);
  }
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1_000 });
  expect(server.peakConnections).toBe(MAX_CONNECTIONS);
});

test("the connections of a sender that is cut off from Redis count for as long as it lives", async () => {
  const { id, server, open } = await campaign(1_200);
  await untilShared(await startSenders(), open);
  senders[0]!.proxy.reset();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1_200 });
  expect(server.peakConnections).toBe(MAX_CONNECTIONS);
});

test.each<[string, Limits]>([
  ["an hourly limit", { plan: "hourly" }],
  ["max_per_second", { maxPerSecond: 100 }],
  ["domain_limits", { domainLimits: [{ domain: "to.example", max_per_minute: 10_000 }] }],
])(
  "mail under %s waits while Redis is unavailable, its campaign says so, and continues afterwards",
  async (_, limits) => {
    await query("insert into plans (name, smtp_per_hour) values ('hourly', 10000) on conflict do nothing");
    const { id, server } = await campaign(300, limits);
    await startSenders();
    await server.received(20);
    const port = portOf(redis);
    await redis.stop();
    const error = async () =>
      (await queryOne<{ error: string | null }>(`select ${CAMPAIGN_ERROR} as error from campaigns c where c.id = $1`, [
        id,
      ]))!.error;
    await sending.until(
      error,
      (text) => text === "Waiting for Redis: sending limits cannot be counted while it is unavailable.",
    );
    expect((await sending.counts(id)).status).toBe("sending");
    redis = await startRedis({ own: true, port });
    expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 300 });
    expect(server.doubled).toEqual([]);
  },
);

test("max_per_minute holds in any window over two senders, also when Redis has lost its data", async () => {
  await startSenders();
  const windowMs = 1_500;
  const window: Window = { key: "domain:some", limit: 40, windowMs, buckets: 150 };
  const grants: { at: number; n: number }[] = [];
  let over = false;
  const taking = senders.map(async ({ client }) => {
    const limiter = new SenderLimiter(client);
    while (!over) {
      const grant = await limiter.take(window, 5).catch(() => undefined);
      if (grant && grant.granted > 0) grants.push({ at: performance.now(), n: grant.granted });
      await new Promise((done) => setTimeout(done, 20));
    }
  });
  const granted = () => grants.reduce((sum, { n }) => sum + n, 0);
  const more = async (n: number) => {
    const before = granted();
    await sending.until(
      async () => granted(),
      (now) => now >= before + n,
    );
  };
  await more(50);
  await restartRedis();
  await more(50);
  over = true;
  await Promise.all(taking);
  // A little less than the window: an answer of Redis may be late.
  const within = grants.map(({ at: from }) =>
    grants.filter(({ at }) => at >= from && at < from + windowMs - 500).reduce((sum, { n }) => sum + n, 0),
  );
  expect(Math.max(...within)).toBe(40);
});
