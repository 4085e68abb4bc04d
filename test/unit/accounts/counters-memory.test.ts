import { MemoryCounters } from "../../../services/lib/limits/counters-memory.ts";

const SECOND = 1_000;

describe("counters in the process", () => {
  let nowMs = 0;
  beforeEach(() => {
    nowMs = 0;
  });
  const counters = (maxKeys?: number) => new MemoryCounters(() => nowMs, maxKeys);

  test("forget a counter its time after the first addition, not the last", async () => {
    const counted = counters();
    await counted.add("a", 1, 10);
    nowMs = 9 * SECOND;
    expect(await counted.add("a", 1, 10)).toBe(2);
    nowMs = 10 * SECOND;
    expect(await counted.read("a")).toBe(0);
    expect(await counted.add("a", 1, 10)).toBe(1);
  });

  test("allow no more than the limit in any window, wherever it begins", async () => {
    const counted = counters();
    const take = async (atMs: number) => {
      nowMs = atMs;
      return (await counted.take("a", 2, 60)).allowed;
    };
    expect(await take(0)).toBe(true);
    expect(await take(50 * SECOND)).toBe(true);
    expect(await take(59 * SECOND)).toBe(false);
    expect(await take(60 * SECOND)).toBe(true);
    expect(await take(61 * SECOND)).toBe(false);
    expect(await take(110 * SECOND)).toBe(true);
  });

  test("report when there is room again, and a refused one does not put that off", async () => {
    const counted = counters();
    await counted.take("a", 1, 60);
    nowMs = 14_500;
    expect(await counted.take("a", 1, 60)).toEqual({ allowed: false, retryAfterSeconds: 46 });
    nowMs = 59_999;
    expect(await counted.take("a", 1, 60)).toEqual({ allowed: false, retryAfterSeconds: 1 });
    nowMs = 60_000;
    expect(await counted.take("a", 1, 60)).toEqual({ allowed: true, retryAfterSeconds: 0 });
  });

  test("hold no more keys than they may: expired ones go first, then the oldest", async () => {
    const counted = counters(3);
    await counted.add("long", 1, 100);
    await counted.add("short", 1, 1);
    await counted.add("other", 1, 100);
    nowMs = 2 * SECOND;
    await counted.add("new", 1, 100);
    expect(counted.size).toBe(3);
    expect(await counted.read("long")).toBe(1);
    await counted.add("newer", 1, 100);
    expect(counted.size).toBe(3);
    expect(await counted.read("long")).toBe(0);
    expect(await counted.read("other")).toBe(1);
  });

  test("stay quick and small under a flood of new keys", async () => {
    const counted = counters(1_000);
    for (let n = 0; n < 100_000; n++) await counted.take(`ip-${n}`, 5, 60);
    expect(counted.size).toBeLessThanOrEqual(1_000);
    expect(counted.size).toBeGreaterThan(980);
  });

  test("a flood of one kind makes no counter of another kind forgotten", async () => {
    const counted = counters(1_000);
    await counted.add("calls:key", 7, 86_400);
    for (let n = 0; n < 5_000; n++) await counted.take(`throttle-tracking:${n}`, 60, 60);
    expect(await counted.read("calls:key")).toBe(7);
  });
});
