import type { Limiter, Window } from "../../../services/lib/limits/limiter.ts";
import { MemoryLimiter } from "../../../services/lib/limits/limiter-memory.ts";

const window: Window = { key: "hour:a", limit: 500, windowMs: 60_000, buckets: 60 };

function clocked() {
  const clock = { now: 1_000_000_000 };
  return { clock, limiter: new MemoryLimiter(() => clock.now) as Limiter & MemoryLimiter };
}

test("grants what is left of the limit, and says when there may be more", async () => {
  const { limiter } = clocked();
  expect(await limiter.take(window, 400)).toMatchObject({ granted: 400, retryAfterMs: 0 });
  const second = await limiter.take(window, 400);
  expect(second.granted).toBe(100);
  expect(second.retryAfterMs).toBeGreaterThan(60_000);
  expect((await limiter.take(window, 1)).granted).toBe(0);
  expect(await limiter.used(window)).toMatchObject({ used: 500 });
});

test("no rolling window ever holds one more than the limit, wherever it begins", async () => {
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
  // And it gives all it may: about one limit for each window that passed.
  const all = taken.reduce((sum, { n }) => sum + n, 0);
  expect(all).toBeGreaterThan(((clock.now - 1_000_000_000) / 62_000) * 500 * 0.95);
});

test("what is given back goes to the bucket it came from, and can be taken again", async () => {
  const { limiter, clock } = clocked();
  const { bucket } = await limiter.take(window, 500);
  clock.now += 30_000;
  await limiter.give(window, bucket, 50);
  expect((await limiter.take(window, 100)).granted).toBe(50);
  clock.now += 31_001;
  // The first 450 do not count any more, the 50 taken later do.
  expect((await limiter.take(window, 500)).granted).toBe(450);
});

test("tells when there is more room also where some is left", async () => {
  const { limiter, clock } = clocked();
  expect(await limiter.used(window)).toEqual({ used: 0, retryAfterMs: 0 });
  await limiter.take(window, 1);
  clock.now += 20_000;
  const { used, retryAfterMs } = await limiter.used(window);
  expect([used, Math.round(retryAfterMs / 1_000)]).toEqual([1, 41]);
});

test("counts without a limit too", async () => {
  const { limiter } = clocked();
  expect((await limiter.take({ ...window, limit: null }, 1_000)).granted).toBe(1_000);
  expect(await limiter.used({ ...window, limit: null })).toEqual({ used: 1_000, retryAfterMs: 0 });
});

test("remembers what was sent before it began", async () => {
  const { limiter, clock } = clocked();
  limiter.remember(window, clock.now - 20_000, 480);
  expect((await limiter.take(window, 100)).granted).toBe(20);
});

test.each([-2, 2])(
  "the computer's clock is set by %i hours: the window neither lasts longer nor ends",
  async (hours) => {
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
  },
);
