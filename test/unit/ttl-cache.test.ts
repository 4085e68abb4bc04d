import { TtlCache } from "../../services/lib/ttl-cache.ts";

describe("an answer that is cached for a short time", () => {
  let nowMs = 0;
  beforeEach(() => {
    nowMs = 1_000;
    jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  });
  afterEach(() => jest.restoreAllMocks());

  const asker = () => {
    let n = 0;
    return jest.fn(async () => ++n);
  };

  test("is returned without a query until it is too old", async () => {
    const cache = new TtlCache<number>(1_000, 10);
    const ask = asker();
    expect(await cache.get("a", ask)).toBe(1);
    nowMs += 1_000;
    expect(await cache.get("a", ask)).toBe(1);
    nowMs += 1;
    expect(await cache.get("a", ask)).toBe(2);
  });

  test("ages from the query, not from the answer", async () => {
    const cache = new TtlCache<number>(1_000, 10);
    let answer = (_: number) => {};
    const slow = cache.get("a", () => new Promise<number>((resolve) => (answer = resolve)));
    nowMs += 900;
    answer(1);
    await slow;
    nowMs += 101;
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("is queried once for concurrent requests, and a failure is not kept", async () => {
    const cache = new TtlCache<number>(1_000, 10);
    const failing = jest.fn(async () => Promise.reject(new Error("no")));
    const results = await Promise.allSettled([cache.get("a", failing), cache.get("a", failing)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(failing).toHaveBeenCalledTimes(1);
    expect(await cache.get("a", async () => 7)).toBe(7);
  });

  test("is dropped when there are too many: the oldest first", async () => {
    const cache = new TtlCache<number>(1_000, 2);
    for (const key of ["a", "b", "c"]) await cache.get(key, async () => 1);
    expect(await cache.get("c", async () => 2)).toBe(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("is dropped on demand, also while its query is running", async () => {
    const cache = new TtlCache<number>(1_000, 10);
    await cache.get("a", async () => 1);
    cache.drop((value) => value === 1);
    expect(await cache.get("a", async () => 2)).toBe(2);

    let answer = (_: number) => {};
    const onItsWay = cache.get("b", () => new Promise<number>((resolve) => (answer = resolve)));
    cache.drop(() => false);
    answer(5);
    await onItsWay;
    expect(await cache.get("b", async () => 6)).toBe(6);
  });
});
