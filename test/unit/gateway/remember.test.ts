import { Remember } from "../../../services/gateway/remember.ts";

describe("what is remembered for a moment", () => {
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

  test("is given without asking, and without a promise, until it is too old", async () => {
    const memory = new Remember<number>(1_000, 10);
    const ask = asker();
    expect(await memory.get("a", ask)).toBe(1);
    nowMs += 999;
    expect(memory.get("a", ask)).toBe(1);
    nowMs += 1;
    expect(await memory.get("a", ask)).toBe(2);
  });

  test("ages from the question, not from the answer", async () => {
    const memory = new Remember<number>(1_000, 10);
    let answer = (_: number) => {};
    const slow = memory.get("a", () => new Promise<number>((resolve) => (answer = resolve)));
    nowMs += 900;
    answer(1);
    await slow;
    nowMs += 100;
    expect(await memory.get("a", async () => 2)).toBe(2);
  });

  test("is asked for once by many at a time, and a failure is not kept", async () => {
    const memory = new Remember<number>(1_000, 10);
    const failing = jest.fn(async () => Promise.reject(new Error("no")));
    const results = await Promise.allSettled([memory.get("a", failing), memory.get("a", failing)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(failing).toHaveBeenCalledTimes(1);
    expect(await memory.get("a", async () => 7)).toBe(7);
  });

  test("stays bounded: the oldest goes first", async () => {
    const memory = new Remember<number>(1_000, 2);
    for (const key of ["a", "b", "c"]) await memory.get(key, async () => 1);
    expect(memory.get("c", async () => 2)).toBe(1);
    expect(await memory.get("a", async () => 2)).toBe(2);
  });

  test("is forgotten on demand, also what was on its way when it was forgotten", async () => {
    const memory = new Remember<number>(1_000, 10);
    await memory.get("a", async () => 1);
    memory.forget((value) => value === 1);
    expect(await memory.get("a", async () => 2)).toBe(2);

    let answer = (_: number) => {};
    const onItsWay = memory.get("b", () => new Promise<number>((resolve) => (answer = resolve)));
    memory.forget(() => false);
    answer(5);
    await onItsWay;
    expect(await memory.get("b", async () => 6)).toBe(6);
  });
});
