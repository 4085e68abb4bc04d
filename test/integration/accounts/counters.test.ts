import type { Redis } from "ioredis";
import type { Counters } from "../../../services/lib/limits/counters.ts";
import { MemoryCounters } from "../../../services/lib/limits/counters-memory.ts";
import { FallbackCounters, RedisCounters } from "../../../services/lib/limits/counters-redis.ts";
import { connectRedis } from "../../../services/lib/redis.ts";
import { type Server, startRedis } from "../../support/servers.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
let keys = 0;
const newKey = () => `test-${process.pid}-${Date.now()}-${++keys}`;

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

describe.each<[string, () => Counters]>([
  ["in the process", () => new MemoryCounters()],
  ["in Redis", () => new RedisCounters(client)],
])("counters %s", (_, make) => {
  test("count up and down from 0, each key for itself", async () => {
    const counters = make();
    const [a, b] = [newKey(), newKey()];
    expect(await counters.read(a)).toBe(0);
    expect(await counters.add(a, 3, 60)).toBe(3);
    expect(await counters.add(a, -1, 60)).toBe(2);
    expect(await counters.add(b, 1, 60)).toBe(1);
    expect(await counters.read(a)).toBe(2);
  });

  test("lose nothing when many add at once", async () => {
    const counters = make();
    const key = newKey();
    const values = await Promise.all(Array.from({ length: 100 }, () => counters.add(key, 1, 60)));
    expect(values.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  });

  test("allow exactly the limit when many ask at once, and say when to come back", async () => {
    const counters = make();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 30 }, () => counters.take(key, 5, 60)));
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(5);
    for (const { allowed, retryAfterSeconds } of answers) expect(retryAfterSeconds).toBe(allowed ? 0 : 60);
  });

  test("forget a key when told, counter and window alike", async () => {
    const counters = make();
    const key = newKey();
    await counters.add(key, 1, 60);
    await counters.take(key, 1, 60);
    await counters.forget(key);
    expect(await counters.read(key)).toBe(0);
    expect((await counters.take(key, 1, 60)).allowed).toBe(true);
  });

  test("forget by themselves when the time is over", async () => {
    const counters = make();
    const key = newKey();
    await counters.add(key, 7, 1);
    await counters.take(key, 1, 1);
    expect((await counters.take(key, 1, 1)).allowed).toBe(false);
    await pause(1_050);
    expect(await counters.read(key)).toBe(0);
    expect((await counters.take(key, 1, 1)).allowed).toBe(true);
  });
});

describe("counters in Redis", () => {
  test("leave no key behind that never expires", async () => {
    const counters = new RedisCounters(client);
    const key = newKey();
    await counters.add(key, 1, 60);
    await counters.take(key, 1, 60);
    expect(await client.ttl(`count:${key}`)).toBeGreaterThan(50);
    expect(await client.ttl(`window:${key}`)).toBeGreaterThan(50);
  });

  test("are shared: what one node took is gone for the other", async () => {
    const other = connectRedis(server.url);
    await other.connect();
    const key = newKey();
    await new RedisCounters(client).take(key, 1, 60);
    expect((await new RedisCounters(other).take(key, 1, 60)).allowed).toBe(false);
    other.disconnect();
  });
});

describe("while Redis is away", () => {
  test("requests are counted in the process without waiting, and in Redis again when it is back", async () => {
    let redis = await startRedis({ own: true });
    const port = Number(new URL(redis.url).port);
    const connection = connectRedis(redis.url);
    connection.on("error", () => {});
    await connection.connect();
    const counters = new FallbackCounters(new RedisCounters(connection), new MemoryCounters());
    const key = newKey();
    expect(await counters.add(key, 5, 60)).toBe(5);

    await redis.stop();
    expect(await counters.add(key, 1, 60)).toBe(1);
    // If each waited for the half second that Redis may take, the test would take too long.
    for (let n = 0; n < 199; n++) expect((await counters.take(key, 200, 60)).allowed).toBe(true);

    redis = await startRedis({ own: true, port });
    await until(async () => {
      await counters.add(key, 1, 60);
      return (await connection.exists(`count:${key}`)) === 1;
    });
    connection.disconnect();
    await redis.stop();
  });

  test("one that hangs costs half a second once, not each request", async () => {
    const redis = await startRedis({ own: true });
    const connection = connectRedis(redis.url);
    connection.on("error", () => {});
    await connection.connect();
    const counters = new FallbackCounters(new RedisCounters(connection), new MemoryCounters());
    const key = newKey();
    await counters.add(key, 1, 60);
    redis.child!.signal("SIGSTOP");
    // Half a second for each would be more than the test may take.
    for (let n = 1; n <= 200; n++) expect(await counters.add(key, 1, 60)).toBe(n);
    redis.child!.signal("SIGCONT");
    await until(async () => (await connection.ping()) === "PONG");
    connection.disconnect();
    await redis.stop();
  });
});

/** Asks again until it is so; the test's own time-out ends it otherwise. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo().catch(() => false))) await pause(20);
}
