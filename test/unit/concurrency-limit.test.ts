import { ConcurrencyLimit } from "../../services/lib/concurrency-limit.ts";
import { isServiceError } from "../../services/lib/errors.ts";
import { asOwner, asService, type Owner } from "../../services/lib/owner.ts";

const limitOf = (total: number, perCompany: number) =>
  new ConcurrencyLimit({
    total,
    perCompany,
    refusal: (isOwnShare) => new Error(isOwnShare ? "its share" : "all taken"),
  });

/** Longer than any wait in this file. */
const LONG = { atMostMs: 60_000 };
const settled = () => new Promise(setImmediate);

test("waiting companies are served in rotation, however much each requests", async () => {
  const limit = limitOf(1, 1);
  const order: Owner[] = [];
  const first = await limit.acquire("noisy", LONG);
  const asked = ["noisy", "noisy", "noisy", "quiet", undefined, "quiet"];
  const all = asked.map((owner) => limit.run(owner, async () => void order.push(owner), LONG));
  expect(limit.waiting).toBe(6);
  first();
  await Promise.all(all);
  expect(order).toEqual(["noisy", "quiet", undefined, "noisy", "quiet", "noisy"]);
  expect(limit.waiting).toBe(0);
});

test("a company gets at most its share, the service itself everything available", () => {
  const limit = limitOf(4, 2);
  const noisy = [limit.tryAcquire("a"), limit.tryAcquire("a")];
  expect(limit.tryAcquire("a")).toBeUndefined();
  const own = [limit.tryAcquire(undefined), limit.tryAcquire(undefined)];
  expect([...noisy, ...own].every(Boolean)).toBe(true);
  expect(limit.tryAcquire("b")).toBeUndefined();
  own[0]!();
  expect(limit.tryAcquire("a")).toBeUndefined();
  expect(limit.tryAcquire("b")).toBeDefined();
});

test("a company counts as active while its work runs or waits", async () => {
  const limit = limitOf(1, 1);
  const first = await limit.acquire("a", LONG);
  const second = limit.acquire("b", LONG);
  expect(["a", "b", "c"].map((owner) => limit.serves(owner))).toEqual([true, true, false]);
  first();
  (await second)();
  expect(["a", "b"].map((owner) => limit.serves(owner))).toEqual([false, false]);
});

test("work that waited too long fails with the reason, and later uses nothing", async () => {
  const limit = limitOf(2, 1);
  const a = limit.tryAcquire("a")!;
  await expect(limit.acquire("a", { atMostMs: 1 })).rejects.toThrow("its share");
  const b = limit.tryAcquire("b")!;
  await expect(limit.acquire("c", { atMostMs: 1 })).rejects.toThrow("all taken");
  a();
  b();
  expect([limit.tryAcquire("d"), limit.tryAcquire("e")].every(Boolean)).toBe(true);
});

test("releasing twice counts once", async () => {
  const limit = limitOf(1, 1);
  const release = limit.tryAcquire("a")!;
  release();
  const other = limit.tryAcquire("b");
  release();
  expect(other).toBeDefined();
  expect(limit.tryAcquire("c")).toBeUndefined();
});

test("a company that waits for its own share does not block those behind it", async () => {
  const limit = limitOf(2, 1);
  const release = limit.tryAcquire("a")!;
  let served = false;
  const late = limit.run("a", async () => {
    served = true;
  });
  const other = await limit.acquire("b", LONG);
  other();
  await settled();
  expect(served).toBe(false);
  release();
  await late;
  expect(served).toBe(true);
});

test("a request's waits for all limits together end at its time limit, then it is throttled", async () => {
  const limits = [0, 1, 2].map(() => new ConcurrencyLimit({ perCompany: 1 }));
  const budget = { waitLeftMs: 300 };
  const [first, second, third] = limits.map((limit) => limit.tryAcquire("a")!);
  const beganMs = performance.now();
  const request = asOwner(
    "a",
    async () => {
      for (const limit of limits) await limit.acquire("a");
    },
    budget,
  );
  setTimeout(first!, 100);
  setTimeout(second!, 200);
  const error = await request.catch((reason: unknown) => reason);
  const tookMs = performance.now() - beganMs;
  third!();
  expect(isServiceError(error, "THROTTLED") && error.data.retryAfterSeconds).toBe(5);
  expect(tookMs).toBeGreaterThan(290);
  expect(tookMs).toBeLessThan(500);
  // Timers may end up to a millisecond early.
  expect(budget.waitLeftMs).toBeLessThan(2);
});

test("background work started by a request waits until it is served", async () => {
  const limit = new ConcurrencyLimit({ perCompany: 1 });
  const release = limit.tryAcquire("a")!;
  const [late] = asOwner("a", () => [asService(() => limit.acquire("a"))], { waitLeftMs: 0 });
  setTimeout(release, 50);
  (await late!)();
});
