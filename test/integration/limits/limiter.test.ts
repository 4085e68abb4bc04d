import type { Redis } from "ioredis";
import { FallbackLimiter } from "../../../services/lib/limits/api-limiter.ts";
import { LedgerLimiter } from "../../../services/lib/limits/ledger-limiter.ts";
import {
  type Counter,
  exactWindow,
  hourWindow,
  type Ledger,
  type Limiter,
  type Window,
} from "../../../services/lib/limits/limiter.ts";
import { MemoryLimiter } from "../../../services/lib/limits/limiter-memory.ts";
import { RedisLimiter } from "../../../services/lib/limits/limiter-redis.ts";
import { connectRedis } from "../../../services/lib/redis.ts";
import { type Server, startRedis } from "../../support/servers.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
let keys = 0;
const newKey = () => `test:${process.pid}-${Date.now()}-${++keys}`;
const fixed = (limit: number | null = null, seconds = 60): Window => ({
  key: newKey(),
  limit,
  windowMs: seconds * 1_000,
  buckets: 0,
});
const exact = (limit: number, seconds = 60) => exactWindow(newKey(), limit, seconds);

let server: Server;
let client: Redis;
beforeAll(async () => {
  server = await startRedis();
  client = connectRedis(server.url);
  await client.connect();
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});

describe.each<[string, () => Limiter]>([
  ["in the process", () => new MemoryLimiter()],
  ["in Redis", () => new RedisLimiter(client)],
])("a limiter %s", (_, make) => {
  test("counts from 0 by key, including returned tokens", async () => {
    const limiter = make();
    const [a, b] = [fixed(), fixed()];
    expect(await limiter.used(a)).toEqual({ used: 0, retryAfterMs: 0 });
    const { bucket, used } = await limiter.take(a, 3);
    expect(used).toBe(3);
    await limiter.giveBack(a, bucket, 1);
    expect((await limiter.take(b, 1)).used).toBe(1);
    expect(await limiter.used(a)).toEqual({ used: 2, retryAfterMs: 0 });
  });

  test("loses nothing with many concurrent takers", async () => {
    const limiter = make();
    const window = fixed();
    const grants = await Promise.all(Array.from({ length: 100 }, () => limiter.take(window, 1)));
    const values = grants.map(({ used }) => used);
    expect(values.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  });

  test("grants exactly the limit to many concurrent requests, and returns the waiting time", async () => {
    const limiter = make();
    const window = exact(5);
    const grants = await Promise.all(Array.from({ length: 30 }, () => limiter.take(window, 1)));
    expect(grants.filter(({ granted }) => granted === 1)).toHaveLength(5);
    for (const { granted, retryAfterMs } of grants) expect(Math.ceil(retryAfterMs / 1_000)).toBe(granted ? 0 : 60);
  });

  test("grants a part if the whole is too much", async () => {
    const limiter = make();
    for (const window of [fixed(10), hourWindow(newKey(), 10, 60)]) {
      expect(await limiter.take(window, 8)).toMatchObject({ granted: 8, retryAfterMs: 0, used: 8 });
      const rest = await limiter.take(window, 8);
      expect(rest).toMatchObject({ granted: 2, used: 10 });
      expect(rest.retryAfterMs).toBeGreaterThan(0);
      await limiter.giveBack(window, rest.bucket, 1);
      expect((await limiter.take(window, 8)).granted).toBe(1);
    }
  });

  test("resets a key at once, fixed and rolling windows alike", async () => {
    const limiter = make();
    for (const window of [fixed(1), exact(1), hourWindow(newKey(), 1, 60)]) {
      await limiter.take(window, 1);
      await limiter.forget(window);
      expect((await limiter.used(window)).used).toBe(0);
      expect((await limiter.take(window, 1)).granted).toBe(1);
    }
  });

  test("expires after the window", async () => {
    const limiter = make();
    const windows = [fixed(1, 1), exact(1, 1)];
    for (const window of windows) await limiter.take(window, 1);
    for (const window of windows) expect((await limiter.take(window, 1)).granted).toBe(0);
    await pause(1_050);
    for (const window of windows) {
      expect((await limiter.used(window)).used).toBe(0);
      expect((await limiter.take(window, 1)).granted).toBe(1);
    }
  });

  test("supports windows of any length up to an hour", async () => {
    const limiter = make();
    for (const seconds of [2, 61, 100, 86_399]) {
      expect((await limiter.take(hourWindow(newKey(), 1, seconds), 1)).granted).toBe(1);
    }
  });
});

describe("a limiter in Redis", () => {
  test("leaves no key without expiry", async () => {
    const limiter = new RedisLimiter(client);
    for (const window of [fixed(), exact(1), hourWindow(newKey(), 1, 60)]) {
      await limiter.take(window, 1);
      expect(await client.ttl(`limit:${window.key}`)).toBeGreaterThan(50);
    }
  });

  test("is shared: nodes use the same count", async () => {
    const other = connectRedis(server.url);
    await other.connect();
    const window = exact(1);
    await new RedisLimiter(client).take(window, 1);
    expect((await new RedisLimiter(other).take(window, 1)).granted).toBe(0);
    other.disconnect();
  });
});

/** In-memory stand-in for the ledger in PostgreSQL. */
function memoryLedger() {
  const taken = new Map<number, number>();
  let current = 0;
  const ledger: Ledger = {
    async write(_window, epoch, bucket, n) {
      if (epoch === current) taken.set(bucket, (taken.get(bucket) ?? 0) + n);
      return epoch === current;
    },
    async giveBack(_window, bucket, n) {
      taken.set(bucket, taken.get(bucket)! - n);
    },
    begin: async () => ({ epoch: ++current, taken: [...taken] }),
  };
  return { ...ledger, sum: () => [...taken.values()].reduce((sum, n) => sum + n, 0) };
}

describe.each<[string, () => Counter]>([
  ["in the process", () => new MemoryLimiter()],
  ["in Redis", () => new RedisLimiter(client)],
])("a limiter with a ledger, counting %s", (_, make) => {
  const hour = (limit: number | null, key = newKey()) => ({ ...hourWindow("x", limit, 3_600), key });

  test("many concurrent requests get exactly the limit, and the ledger agrees", async () => {
    const ledger = memoryLedger();
    const limiter = new LedgerLimiter(make(), ledger);
    const window = hour(200);
    const grants = await Promise.all(Array.from({ length: 30 }, () => limiter.take(window, 10)));
    expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(200);
    expect(await limiter.used(window)).toMatchObject({ used: 200 });
    expect(ledger.sum()).toBe(200);
  });

  test("a lost count is restored from the ledger's open entries: the remainder is exact", async () => {
    const counter = make();
    const limiter = new LedgerLimiter(counter, memoryLedger());
    const window = hour(100);
    const { bucket } = await limiter.take(window, 70);
    await limiter.giveBack(window, bucket, 20);
    await counter.forget(window);
    expect(await limiter.used(window)).toMatchObject({ used: 50 });
    expect((await limiter.take(window, 70)).granted).toBe(50);
    await limiter.giveBack(window, bucket, 10);
    expect((await limiter.take(window, 70)).granted).toBe(10);
  });

  test("two counters with one ledger (two primaries) grant no more than one", async () => {
    const ledger = memoryLedger();
    const counters = [make(), make()];
    const key = newKey();
    const limiters = counters.map((counter) => new LedgerLimiter(counter, ledger));
    let granted = 0;
    for (let n = 0; n < 40; n++) {
      // The other limiter's count is unknown here.
      if (counters[0] instanceof RedisLimiter) await counters[0].forget(hour(100, key));
      granted += (await limiters[n % 2]!.take(hour(100, key), 3)).granted;
    }
    expect(granted).toBe(100);
  });

  test("mails sent without a limit count once there is one", async () => {
    const limiter = new LedgerLimiter(make(), memoryLedger());
    const key = newKey();
    await limiter.take(hour(null, key), 80);
    expect((await limiter.take(hour(100, key), 50)).granted).toBe(20);
  });

  test("nothing is granted while the ledger is unavailable, and nothing is lost", async () => {
    const ledger = memoryLedger();
    const limiter = new LedgerLimiter(make(), ledger);
    const window = hour(10);
    const write = jest.spyOn(ledger, "write").mockRejectedValueOnce(new Error("away"));
    await expect(limiter.take(window, 10)).rejects.toThrow("away");
    write.mockRestore();
    expect((await limiter.take(window, 10)).granted).toBe(10);
  });
});

describe("a limiter without Redis", () => {
  async function connected(url: string) {
    const connection = connectRedis(url);
    connection.on("error", () => {});
    await connection.connect();
    return { connection, limiter: new FallbackLimiter(new RedisLimiter(connection), new MemoryLimiter()) };
  }

  test("counts requests in the process without waiting, and in Redis again after it returns", async () => {
    let redis = await startRedis({ own: true });
    const port = Number(new URL(redis.url).port);
    const { connection, limiter } = await connected(redis.url);
    const window = fixed();
    expect((await limiter.take(window, 5)).used).toBe(5);

    await redis.stop();
    const startedAt = performance.now();
    expect((await limiter.take(window, 1)).used).toBe(1);
    for (let n = 0; n < 50; n++) expect((await limiter.take({ ...window, limit: 100 }, 1)).granted).toBe(1);
    // 25 s if each took half a second.
    expect(performance.now() - startedAt).toBeLessThan(12_000);

    redis = await startRedis({ own: true, port });
    await until(async () => {
      await limiter.take(window, 1);
      return (await connection.exists(`limit:${window.key}`)) === 1;
    });
    connection.disconnect();
    await redis.stop();
  });

  test("a hanging Redis costs half a second once, not per request", async () => {
    const redis = await startRedis({ own: true });
    const { connection, limiter } = await connected(redis.url);
    const window = fixed();
    await limiter.take(window, 1);
    redis.child!.signal("SIGSTOP");
    const startedAt = performance.now();
    for (let n = 1; n <= 100; n++) expect((await limiter.take(window, 1)).used).toBe(n);
    const tookMs = performance.now() - startedAt;
    redis.child!.signal("SIGCONT");
    await until(async () => (await connection.ping()) === "PONG");
    connection.disconnect();
    await redis.stop();
    // 50 s if each took half a second; this process may get no CPU for a while.
    expect(tookMs).toBeLessThan(25_000);
  });
});

/** Polls until it is true; the test's timeout is the limit. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo().catch(() => false))) await pause(20);
}
