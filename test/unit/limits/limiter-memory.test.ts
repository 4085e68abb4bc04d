import { apiCallsToday, exactWindow, type Window } from "../../../services/lib/limits/limiter.ts";
import { MemoryLimiter } from "../../../services/lib/limits/limiter-memory.ts";

const SECOND = 1_000;
const window: Window = { key: "hour:a", limit: 500, windowMs: 60_000, buckets: 60 };

function clocked(maxKeys?: number) {
  const clock = { now: 1_000_000_000 };
  return { clock, limiter: new MemoryLimiter(() => clock.now, maxKeys) };
}

describe("a rolling window in buckets", () => {
  test("grants the rest of the limit, and reports when more may be available", async () => {
    const { limiter } = clocked();
    expect(await limiter.take(window, 400)).toMatchObject({ granted: 400, retryAfterMs: 0, used: 400 });
    const second = await limiter.take(window, 400);
    expect(second).toMatchObject({ granted: 100, used: 500 });
    expect(second.retryAfterMs).toBeGreaterThan(60_000);
    expect(await limiter.take(window, 1)).toMatchObject({ granted: 0, used: 500 });
    expect(await limiter.used(window)).toMatchObject({ used: 500 });
  });

  test("never holds one more than the limit, wherever it begins", async () => {
    const { limiter, clock } = clocked();
    const taken: { at: number; n: number }[] = [];
    for (let step = 0; step < 4_000; step++) {
      clock.now += (step * 7_919) % 173;
      const { granted } = await limiter.take(window, (step % 11) + 1);
      if (granted > 0) taken.push({ at: clock.now, n: granted });
    }
    for (const { at } of taken) {
      const inWindow = taken.filter((other) => other.at >= at && other.at <= at + window.windowMs);
      expect(inWindow.reduce((sum, { n }) => sum + n, 0)).toBeLessThanOrEqual(500);
    }
    // The limiter grants all that it may: about one limit for each window that passed.
    const all = taken.reduce((sum, { n }) => sum + n, 0);
    expect(all).toBeGreaterThan(((clock.now - 1_000_000_000) / 62_000) * 500 * 0.95);
  });

  test("returned tokens go to their bucket and can be taken again", async () => {
    const { limiter, clock } = clocked();
    const { bucket } = await limiter.take(window, 500);
    clock.now += 30_000;
    await limiter.giveBack(window, bucket, 50);
    expect((await limiter.take(window, 100)).granted).toBe(50);
    clock.now += 31_001;
    // The first 450 do not count any more, the 50 taken later do.
    expect((await limiter.take(window, 500)).granted).toBe(450);
  });

  test("tokens returned late have no effect: their bucket has expired", async () => {
    const { limiter, clock } = clocked();
    const { bucket } = await limiter.take(window, 500);
    clock.now += 62_000;
    await limiter.take(window, 10);
    await limiter.giveBack(window, bucket, 500);
    expect(await limiter.used(window)).toMatchObject({ used: 10 });
  });

  test("reports when more is available, even if some is left", async () => {
    const { limiter, clock } = clocked();
    expect(await limiter.used(window)).toEqual({ used: 0, retryAfterMs: 0 });
    await limiter.take(window, 1);
    clock.now += 20_000;
    const { used, retryAfterMs } = await limiter.used(window);
    expect([used, Math.round(retryAfterMs / 1_000)]).toEqual([1, 41]);
  });

  test("counts without a limit too", async () => {
    const { limiter } = clocked();
    expect(await limiter.take({ ...window, limit: null }, 1_000)).toMatchObject({ granted: 1_000, used: 1_000 });
    expect(await limiter.used({ ...window, limit: null })).toEqual({ used: 1_000, retryAfterMs: 0 });
  });

  test("starts with earlier grants, and restarts with those known then", async () => {
    const { limiter, clock } = clocked();
    const bucket = Math.floor((clock.now - 20_000) / 1_000);
    expect(await limiter.takeKnown(window, 100)).toBeUndefined();
    await limiter.begin(window, 1, [[bucket, 480]]);
    expect(await limiter.takeKnown(window, 100)).toMatchObject({ granted: 20, epoch: 1 });
    await limiter.begin(window, 2, [[bucket, 490]]);
    expect(await limiter.takeKnown(window, 100)).toMatchObject({ granted: 10, epoch: 2 });
  });

  test.each([-2, 2])("is not changed by setting the computer's clock by %i hours", async (hours) => {
    const real = Date.now;
    let shiftMs = 0;
    const clock = jest.spyOn(Date, "now").mockImplementation(() => real() + shiftMs);
    const limiter = new MemoryLimiter();
    await limiter.take(window, 400);
    shiftMs = hours * 3_600_000;
    const { granted, retryAfterMs } = await limiter.take(window, 400);
    clock.mockRestore();
    expect(granted).toBe(100);
    expect(retryAfterMs).toBeLessThan(65_000);
  });
});

describe("an exact window", () => {
  test("allows no more than the limit in any window, wherever it begins", async () => {
    const { limiter, clock } = clocked();
    const began = clock.now;
    const take = async (atSecond: number) => {
      clock.now = began + atSecond * SECOND;
      return (await limiter.take(exactWindow("throttle:a", 2, 60), 1)).granted;
    };
    expect(await take(0)).toBe(1);
    expect(await take(50)).toBe(1);
    expect(await take(59)).toBe(0);
    expect(await take(60)).toBe(1);
    expect(await take(61)).toBe(0);
    expect(await take(110)).toBe(1);
  });

  test("reports to the millisecond when capacity is free, and refusals do not delay it", async () => {
    const { limiter, clock } = clocked();
    const began = clock.now;
    const one = exactWindow("throttle:a", 1, 60);
    await limiter.take(one, 1);
    clock.now = began + 14_500;
    expect(await limiter.take(one, 1)).toMatchObject({ granted: 0, retryAfterMs: 45_500 });
    clock.now = began + 59_999;
    expect(await limiter.take(one, 1)).toMatchObject({ granted: 0, retryAfterMs: 1 });
    clock.now = began + 60_000;
    expect(await limiter.take(one, 1)).toMatchObject({ granted: 1, retryAfterMs: 0 });
  });
});

describe("a fixed window", () => {
  test("ends as a whole, its time after the first addition and not the last", async () => {
    const { limiter, clock } = clocked();
    const day = { ...apiCallsToday({ companyId: "c" }, 3), windowMs: 10 * SECOND };
    expect(await limiter.take(day, 2)).toMatchObject({ granted: 2, used: 2 });
    clock.now += 9 * SECOND;
    expect(await limiter.take(day, 2)).toMatchObject({ granted: 1, used: 3, retryAfterMs: SECOND });
    clock.now += SECOND;
    expect(await limiter.used(day)).toEqual({ used: 0, retryAfterMs: 0 });
    expect(await limiter.take(day, 1)).toMatchObject({ granted: 1, used: 1 });
  });
});

describe("memory", () => {
  const lasting = (key: string, seconds: number): Window => ({ key, limit: 9, windowMs: seconds * SECOND, buckets: 0 });

  test("holds no more keys than it may: expired ones go first, then the oldest", async () => {
    const { limiter, clock } = clocked(3);
    await limiter.take(lasting("long", 100), 1);
    await limiter.take(lasting("short", 1), 1);
    await limiter.take(lasting("other", 100), 1);
    clock.now += 2 * SECOND;
    await limiter.take(lasting("new", 100), 1);
    expect(limiter.size).toBe(3);
    expect((await limiter.used(lasting("long", 100))).used).toBe(1);
    await limiter.take(lasting("newer", 100), 1);
    expect(limiter.size).toBe(3);
    expect((await limiter.used(lasting("long", 100))).used).toBe(0);
    expect((await limiter.used(lasting("other", 100))).used).toBe(1);
  });

  test("stays small under a flood of new keys", async () => {
    const { limiter } = clocked(1_000);
    for (let n = 0; n < 100_000; n++) await limiter.take(exactWindow(`ip-${n}`, 5, 60), 1);
    expect(limiter.size).toBeLessThanOrEqual(1_000);
    expect(limiter.size).toBeGreaterThan(980);
  });

  test("a flood of one kind makes nothing of another kind forgotten", async () => {
    const { limiter } = clocked(1_000);
    await limiter.take(lasting("calls:key", 86_400), 7);
    for (let n = 0; n < 5_000; n++) await limiter.take(exactWindow(`throttle-tracking:${n}`, 60, 60), 1);
    expect((await limiter.used(lasting("calls:key", 86_400))).used).toBe(7);
  });

  test("reading the usage of an unused key stores nothing", async () => {
    const { limiter } = clocked();
    await limiter.used(window);
    await limiter.giveBack(window, 1, 1);
    expect(limiter.size).toBe(0);
  });

  test("the hour of a company is kept for as long as it counts, however many there are, and no longer", async () => {
    const { limiter, clock } = clocked(10);
    const hour = (n: number): Window => ({ ...window, key: `hour:${n}`, remembered: true });
    for (let n = 0; n < 50; n++) await limiter.take(hour(n), 500);
    expect((await limiter.take(hour(0), 1)).granted).toBe(0);
    expect(limiter.size).toBe(50);
    clock.now += 63 * SECOND;
    await limiter.take(hour(50), 1);
    expect(limiter.size).toBe(1);
  });
});
