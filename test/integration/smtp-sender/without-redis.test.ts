/**
 * Senders without Redis: all of them, one of them, or with one that was emptied. What they share still holds, counted at the
 * mail server, and companies without a limit by the hour go on.
 */
import type { Grant, Window } from "../../../services/lib/limits/limiter.ts";
import { connectRedis } from "../../../services/lib/redis.ts";
import type { Engine } from "../../../services/smtp-sender/engine/engine.ts";
import { RedisConnectionSlots } from "../../../services/smtp-sender/limits/connection-slots-redis.ts";
import { SenderLimiter } from "../../../services/smtp-sender/limits/sender-limiter.ts";
import { SenderPresence } from "../../../services/smtp-sender/limits/sender-presence.ts";
import { useSending } from "../../support/sending.ts";
import { type Server, startRedis } from "../../support/servers.ts";
import { type SilentProxy, startSilentProxy } from "../../support/silent-proxy.ts";

const MAX_CONNECTIONS = 6;
const NAMES = ["a", "b"];

const sending = useSending();
let redis: Server;
const senders: { proxy: SilentProxy; client: ReturnType<typeof connectRedis>; presence: SenderPresence }[] = [];

const portOf = ({ url }: Server) => Number(new URL(url).port);

beforeEach(async () => {
  redis = await startRedis({ own: true });
});
afterEach(async () => {
  for (const { proxy, client, presence } of senders.splice(0)) {
    presence.stop();
    client.disconnect();
    await proxy.stop();
  }
  await redis.stop();
});

/** Two senders that know of each other, each with its own way to Redis. */
async function connectSenders(): Promise<void> {
  for (const name of NAMES) {
    const proxy = await startSilentProxy(portOf(redis));
    const client = connectRedis(`redis://127.0.0.1:${proxy.port}`);
    client.on("error", () => {});
    await client.connect();
    const presence = new SenderPresence(client, name, () => NAMES);
    await presence.start();
    senders.push({ proxy, client, presence });
  }
}

/** What a limiter was asked for, and gave: at some moment between the two times. */
interface Granted {
  askedMs: number;
  answeredMs: number;
  n: number;
}

class NotingLimiter extends SenderLimiter {
  readonly grants: Granted[] = [];

  override async take(window: Window, n: number): Promise<Grant> {
    const askedMs = performance.now();
    const grant = await super.take(window, n);
    if (window.windowMs === 1_000) this.grants.push({ askedMs, answeredMs: performance.now(), n: grant.granted });
    return grant;
  }
}

async function startSenders(): Promise<{ engines: Engine[]; grants(): Granted[] }> {
  const engines: Engine[] = [];
  const limiters: NotingLimiter[] = [];
  await connectSenders();
  for (const { client, presence } of senders) {
    const slots = (id: string, hasWork: () => boolean) => new RedisConnectionSlots(presence, id, hasWork);
    const limiter = new NotingLimiter(client, presence);
    limiters.push(limiter);
    engines.push(sending.engine({ limiter, slots }));
  }
  return { engines, grants: () => limiters.flatMap(({ grants }) => grants) };
}

async function campaign(recipients: number, options: { maxPerSecond?: number; dotMs?: number }) {
  const server = await sending.startServer({ delayMs: { DOT: options.dotMs ?? 60 } });
  const companyId = await sending.company();
  const { maxPerSecond } = options;
  const limits = { maxConnections: MAX_CONNECTIONS, ...(maxPerSecond ? { maxPerSecond } : {}) };
  const smtpConfigId = await sending.smtpConfig(companyId, server, limits);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients, chunk: 50 });
  const open = (engine: Engine) => engine.transports.get(smtpConfigId)?.connections.size ?? 0;
  return { id, server, open };
}

test("Redis goes away for good: the campaign ends, over no more connections than before", async () => {
  const { id, server, open } = await campaign(400, {});
  const { engines } = await startSenders();
  await sending.until(
    async () => engines.map(open),
    (sizes) => sizes[0]! + sizes[1]! === MAX_CONNECTIONS && Math.min(...sizes) > 0,
  );
  await redis.stop();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 400 });
  expect(server.peakConnections).toBe(MAX_CONNECTIONS);
  expect(server.doubled).toEqual([]);
});

test("Redis comes back without its data: nobody gets a connection before all have said which they have", async () => {
  const { id, server, open } = await campaign(750, {});
  const { engines } = await startSenders();
  await sending.until(
    async () => engines.map(open),
    (sizes) => sizes[0]! + sizes[1]! === MAX_CONNECTIONS,
  );
  for (let n = 0; n < 3; n++) {
    const port = portOf(redis);
    await redis.stop();
    redis = await startRedis({ own: true, port });
    await server.received(server.accepted + 75);
  }
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 750 });
  expect(server.peakConnections).toBe(MAX_CONNECTIONS);
});

test("one sender is cut off from Redis: the others count its connections for as long as it lives", async () => {
  const { id, server, open } = await campaign(900, {});
  const { engines } = await startSenders();
  await sending.until(
    async () => engines.map(open),
    (sizes) => sizes[0]! + sizes[1]! === MAX_CONNECTIONS && Math.min(...sizes) > 0,
  );
  senders[0]!.proxy.reset();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 900 });
  expect(server.peakConnections).toBe(MAX_CONNECTIONS);
});

test("one sender is cut off from Redis and comes back: max_per_second holds over all, in every second", async () => {
  const perSecond = 40;
  const { id, server } = await campaign(perSecond * 14, { maxPerSecond: perSecond, dotMs: 1 });
  const { grants } = await startSenders();
  await server.received(perSecond);
  senders[0]!.proxy.reset();
  await sending.until(
    async () => senders[0]!.presence.isCutOff && senders[1]!.presence.missing === 1,
    (known) => known,
  );
  // Whoever has not asked for some time takes it that the others use their own shares.
  expect(senders[0]!.presence.missing).toBe(1);
  await server.received(server.accepted + 2 * perSecond);
  await senders[0]!.proxy.pass();
  expect(await sending.finished(id)).toMatchObject({ status: "completed" });
  const all = grants();
  // No mail leaves without.
  expect(all.reduce((sum, { n }) => sum + n, 0)).toBeGreaterThanOrEqual(server.messages.length);
  // Those that were asked for and answered within one second were given within it, however busy the machine is.
  const most = Math.max(
    ...all.map(({ askedMs: from }) =>
      all.reduce((sum, { askedMs, answeredMs, n }) => sum + (askedMs >= from && answeredMs < from + 1_000 ? n : 0), 0),
    ),
  );
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(perSecond);
});

test("a sender begins with its share when what others took before they left it is over, however late these checked in", async () => {
  const client = connectRedis(redis.url);
  await client.connect();
  let nowMs = performance.now();
  const clock = jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  try {
    const [one, two] = NAMES.map((name) => new SenderPresence(client, name, () => NAMES));
    await one!.checkIn();
    // It sees the first one for the last time, and does not look again.
    nowMs += 2_990;
    await two!.checkIn();
    expect(two!.missing).toBe(0);
    let leftAtMs = nowMs;
    for (; two!.missing === 0; leftAtMs = nowMs) nowMs += 10;
    expect(one!.isCutOff).toBe(false);
    const minuteAtMs = nowMs + one!.ownShareInMs(60_000);
    while (!one!.isCutOff) nowMs += 10;
    expect(nowMs - leftAtMs).toBeGreaterThanOrEqual(1_000 - 10);
    expect(minuteAtMs - leftAtMs).toBeGreaterThanOrEqual(60_000 - 10);
  } finally {
    clock.mockRestore();
    client.disconnect();
  }
});

test("limits by the minute hold in any window: with one sender cut off, with one that comes back, and when Redis has lost its data", async () => {
  await connectSenders();
  const windowMs = 1_500;
  const window: Window = { key: "domain:some", limit: 40, windowMs, buckets: 150 };
  const limiters = senders.map(({ client, presence }) => new SenderLimiter(client, presence));
  const grants: { sender: number; at: number; n: number }[] = [];
  let over = false;
  const taking = limiters.map(async (limiter, sender) => {
    while (!over) {
      const grant = await limiter.take(window, 5).catch(() => undefined);
      if (grant && grant.granted > 0) grants.push({ sender, at: performance.now(), n: grant.granted });
      await new Promise((done) => setTimeout(done, 20));
    }
  });
  const granted = (sender?: number) =>
    grants.reduce((sum, grant) => sum + (sender === undefined || grant.sender === sender ? grant.n : 0), 0);
  const more = (n: number, sender?: number) => {
    const before = granted(sender);
    return sending.until(
      async () => granted(sender),
      (now) => now >= before + n,
    );
  };
  await more(50);
  senders[0]!.proxy.reset();
  // Its share, which nobody counts but itself.
  await sending.until(
    async () => senders[0]!.presence.isCutOff,
    (isCutOff) => isCutOff,
  );
  await more(20, 0);
  await more(20, 1);
  await senders[0]!.proxy.pass();
  await sending.until(
    async () => senders.map(({ presence }) => presence.isCutOff || presence.missing > 0),
    (away) => !away.includes(true),
  );
  await more(50);
  const port = portOf(redis);
  await redis.stop();
  redis = await startRedis({ own: true, port });
  await more(50);
  over = true;
  await Promise.all(taking);
  // A little less than the window: an answer of Redis may be late.
  const within = grants.map(({ at: from }) =>
    grants.filter(({ at }) => at >= from && at < from + windowMs - 500).reduce((sum, { n }) => sum + n, 0),
  );
  expect(Math.max(...within)).toBe(40);
});
