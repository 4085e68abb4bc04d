/** Work in the background gives way to requests of other companies, while CPU is short (services/lib/give-way.ts). */
import { setTimeout as sleep } from "node:timers/promises";
import { noteCall, othersAreAtWork, othersMayComeBack } from "../../services/lib/give-way/others-at-work.ts";
import { RestingLoop, RestingMails } from "../../services/lib/give-way/resting-pieces.ts";
import { RestingSteps } from "../../services/lib/give-way/resting-steps.ts";
import { Shortage } from "../../services/lib/give-way/shortage.ts";
import { readMetrics } from "../../services/lib/metrics.ts";

const STEP_MS = 60;
const FEW_MS = 25;

/** What a test says of the machine and of the others. */
function circumstances() {
  const now = { isShort: true, others: true, mayComeBack: true, factor: 1 };
  const shortage = {
    lasts: () => now.isShort,
    get factor() {
      return now.factor;
    },
  };
  return { now, given: { shortage, othersAreAtWork: () => now.others, othersMayComeBack: () => now.mayComeBack } };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

const gaveWay = async (work: string): Promise<number> =>
  Number(
    new RegExp(`^flockmail_gave_way_seconds_total{work="${work}"} (\\S+)`, "m").exec(await readMetrics())?.[1] ?? 0,
  );

describe("steps in the background", () => {
  const step = () => sleep(STEP_MS);

  test("rest as long as they took before the company's next one, and count it", async () => {
    const { given } = circumstances();
    const steps = new RestingSteps("resting", given);
    let stepMs = 0;
    const firstMs = await timed(() =>
      steps.run("a", async () => {
        stepMs = await timed(step);
      }),
    );
    expect(firstMs - stepMs).toBeLessThan(FEW_MS);
    const secondMs = await timed(() => steps.run("a", step));
    expect(secondMs).toBeGreaterThanOrEqual(2 * STEP_MS - FEW_MS);
    expect(await gaveWay("resting")).toBeGreaterThan((STEP_MS - FEW_MS) / 1_000);
  });

  test("rest after a step that failed, too, and pass its error on", async () => {
    const { given } = circumstances();
    const steps = new RestingSteps("failing", given);
    let caught: unknown;
    const failure = new Error("no such list");
    const fail = () => step().then(() => Promise.reject(failure));
    await steps.run("a", fail).catch((error) => {
      caught = error;
    });
    expect(caught).toBe(failure);
    expect(await timed(() => steps.rest("a"))).toBeGreaterThan(STEP_MS - FEW_MS);
  });

  test.each([
    ["CPU is not short", { isShort: false }],
    ["nobody else is at work", { others: false, mayComeBack: false }],
  ])("go at once where %s", async (_name, what) => {
    const { now, given } = circumstances();
    Object.assign(now, what);
    const steps = new RestingSteps("quick", given);
    await steps.run("a", step);
    expect(await timed(() => steps.rest("a"))).toBeLessThan(FEW_MS);
    expect(steps.rows("a", 1_000)).toBe(1_000);
  });

  test("of one company do not make those of another rest", async () => {
    const { given } = circumstances();
    const steps = new RestingSteps("apart", given);
    await steps.run("a", step);
    expect(await timed(() => steps.rest("b"))).toBeLessThan(FEW_MS);
  });

  /** How many of these steps were under way at once, at most. */
  async function atOnce(steps: RestingSteps, owners: readonly string[]): Promise<number> {
    let [running, most] = [0, 0];
    const one = async () => {
      most = Math.max(most, ++running);
      await sleep(20);
      running--;
    };
    await Promise.all(owners.map((owner) => steps.run(owner, one)));
    return most;
  }

  test("of one company go one after the other, beside those of another; side by side where CPU is left", async () => {
    const { now, given } = circumstances();
    const steps = new RestingSteps("ordered", given);
    expect(await atOnce(steps, ["a", "a", "a"])).toBe(1);
    expect(await atOnce(steps, ["b", "c", "b"])).toBe(2);
    now.isShort = false;
    expect(await atOnce(steps, ["d", "d", "d"])).toBe(3);
  });

  test("that waited for a rest of a second do not go all at once after it", async () => {
    const { now, given } = circumstances();
    const steps = new RestingSteps("crowded", given);
    now.factor = 8;
    await steps.run("a", () => sleep(3 * STEP_MS));
    expect(await atOnce(steps, ["a", "a", "a", "a"])).toBe(1);
  });

  test("wait no longer than a second for another one, which may wait for a lock of theirs", async () => {
    const steps = new RestingSteps("locked", circumstances().given);
    const lock = Promise.withResolvers<void>();
    const waiting = steps.run("a", () => lock.promise);
    const waitedMs = await timed(() => steps.run("a", async () => lock.resolve()));
    await waiting;
    expect(waitedMs).toBeGreaterThan(1_000 - FEW_MS);
    expect(waitedMs).toBeLessThan(2_000);
  });

  test("rest no longer than a second, however long one took and whatever ends meanwhile", async () => {
    const { given } = circumstances();
    const steps = new RestingSteps("long", given);
    const clock = jest.spyOn(performance, "now");
    const nowMs = performance.now();
    clock.mockImplementation(() => nowMs);
    const long = steps.timed("a", async () => clock.mockImplementation(() => nowMs + 60_000));
    await long;
    let over = false;
    const resting = steps.rest("a").then(() => {
      over = true;
    });
    clock.mockImplementation(() => nowMs + 60_900);
    await steps.timed("a", async () => clock.mockImplementation(() => nowMs + 60_990));
    await sleep(120);
    expect(over).toBe(false);
    clock.mockImplementation(() => nowMs + 61_001);
    await resting;
    clock.mockRestore();
  });

  test("end their rest soon after the last of the others has gone", async () => {
    const { now, given } = circumstances();
    const steps = new RestingSteps("early", given);
    await steps.run("a", () => sleep(600));
    const resting = timed(() => steps.rest("a"));
    await sleep(50);
    now.others = false;
    expect(await resting).toBeLessThan(300);
  });

  test("rest several times as long where CPU stays short", async () => {
    const { now, given } = circumstances();
    const steps = new RestingSteps("longer", given);
    now.factor = 3;
    await steps.run("a", step);
    expect(await timed(() => steps.rest("a"))).toBeGreaterThanOrEqual(3 * STEP_MS - FEW_MS);
  });

  test("are a fifth as large", () => {
    const steps = new RestingSteps("small", circumstances().given);
    expect([steps.rows("a", 20_000), steps.rows("a", 1)]).toEqual([4_000, 1]);
  });

  test("are so, too, while others only pause: they come back to what has begun", () => {
    const { now, given } = circumstances();
    const steps = new RestingSteps("small", given);
    now.others = false;
    expect(steps.rows("a", 20_000)).toBe(4_000);
    now.mayComeBack = false;
    expect(steps.rows("a", 20_000)).toBe(20_000);
  });

  test("that are no calls rest by a pace of their own: for as long as it was since the last rest", async () => {
    const { given } = circumstances();
    const pace = new RestingSteps("paced", given).pace("a");
    await sleep(STEP_MS);
    expect(await timed(pace)).toBeGreaterThan(STEP_MS - FEW_MS);
    expect(await timed(pace)).toBeLessThan(FEW_MS);
  });
});

describe("a company's newsletters", () => {
  let nowMs = 0;
  beforeEach(() => {
    nowMs += 10_000;
    jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  });
  afterEach(() => jest.restoreAllMocks());

  function mails() {
    const { now, given } = circumstances();
    const resting = new RestingMails(given);
    /** As many groups as go at once. */
    const groups = (size: number): number => {
      let n = 0;
      for (; resting.restMs("a") === 0 && n < 1_000; n++) resting.began("a", size);
      return n;
    };
    return { now, resting, groups };
  }

  test("rest for 10 ms after each 50 mails, of whatever groups", () => {
    const { resting, groups } = mails();
    expect(groups(1)).toBe(50);
    expect(resting.restMs("a")).toBe(10);
    expect(resting.restMs("b")).toBe(0);
    nowMs += 4;
    expect(resting.restMs("a")).toBe(6);
    nowMs += 6;
    expect(groups(10)).toBe(5);
    nowMs += 10;
    // The second group has ten too many: they are taken off the next piece.
    expect(groups(30)).toBe(2);
    nowMs += 10;
    expect(groups(1)).toBe(40);
  });

  test("say how many may go before the next rest, and where nothing rests any number", () => {
    const { now, resting } = mails();
    expect(resting.restMs("a")).toBe(0);
    expect(resting.left("a")).toBe(50);
    resting.began("a", 20);
    expect(resting.left("a")).toBe(30);
    now.others = false;
    expect(resting.restMs("a")).toBe(0);
    expect(resting.left("a")).toBe(Number.POSITIVE_INFINITY);
  });

  test("rest several times as long where CPU stays short, and no longer once it is not", () => {
    const { now, resting, groups } = mails();
    groups(50);
    now.factor = 8;
    expect(resting.restMs("a")).toBe(80);
    nowMs += 24;
    now.factor = 2;
    expect(resting.restMs("a")).toBe(0);
  });

  test.each([
    ["CPU is not short", { isShort: false }],
    ["nobody else is at work", { others: false }],
  ])("go at once where %s", (_name, what) => {
    const { now, groups } = mails();
    Object.assign(now, what);
    expect(groups(100)).toBe(1_000);
  });

  test("count their rests once, and no time in which nothing was asked for", async () => {
    const { resting, groups } = mails();
    const before = await gaveWay("mail");
    groups(50);
    for (let n = 0; n < 5; n++) {
      nowMs += 2;
      resting.restMs("a");
    }
    resting.began("a", 50);
    nowMs += 3_600_000;
    expect(resting.restMs("a")).toBe(0);
    expect((await gaveWay("mail")) - before).toBeCloseTo(0.02, 5);
  });
});

describe("work of the event loop", () => {
  /** A loop that was in use and idle for so long. */
  function loop() {
    const { now, given } = circumstances();
    const times = { activeMs: 0, idleMs: 0 };
    return { now, times, resting: new RestingLoop("looping", given, () => ({ ...times })) };
  }

  test("waits until the loop was idle for half as long as it was in use", () => {
    const { times, resting } = loop();
    expect(resting.restMs("a")).toBe(0);
    times.activeMs += 20;
    expect(resting.restMs("a")).toBe(10);
    times.idleMs += 4;
    expect(resting.restMs("a")).toBe(6);
    times.idleMs += 6;
    expect(resting.restMs("a")).toBe(0);
    expect(resting.restMs("a")).toBe(0);
  });

  test("waits 50 ms at most at a time, and not at all where nobody is to be given way to", () => {
    const { now, times, resting } = loop();
    resting.restMs("a");
    times.activeMs += 10_000;
    expect(Math.round(resting.restMs("a"))).toBe(50);
    now.others = false;
    expect(resting.restMs("a")).toBe(0);
    now.others = true;
    expect(resting.restMs("a")).toBe(0);
  });

  test("goes on after 50 ms in all where the loop is never idle, because of others say", async () => {
    const { times, resting } = loop();
    const busy = setInterval(() => {
      times.activeMs += 5;
    }, 5);
    resting.restMs("a");
    for (let piece = 0; piece < 3; piece++) {
      times.activeMs += 10_000;
      const waitedMs = await timed(async () => {
        for (let ms = resting.restMs("a"); ms > 0; ms = resting.restMs("a")) await sleep(ms);
      });
      expect(waitedMs).toBeGreaterThan(40);
      expect(waitedMs).toBeLessThan(50 + FEW_MS);
    }
    clearInterval(busy);
  });

  test("counts a rest once, however often it is asked for", async () => {
    const { times, resting } = loop();
    const before = await gaveWay("looping");
    resting.restMs("a");
    times.activeMs += 10_000;
    while (resting.restMs("a") > 0) await sleep(1);
    const countedSeconds = (await gaveWay("looping")) - before;
    expect(countedSeconds).toBeGreaterThan(0.045);
    expect(countedSeconds).toBeLessThan(0.2);
  });

  test("counts no time in which nothing was asked for", async () => {
    const { times, resting } = loop();
    resting.restMs("a");
    times.activeMs += 10_000;
    expect(resting.restMs("a")).toBeGreaterThan(0);
    const before = await gaveWay("looping");
    const nowMs = performance.now();
    jest.spyOn(performance, "now").mockReturnValue(nowMs + 3_600_000);
    expect(resting.restMs("a")).toBe(0);
    jest.restoreAllMocks();
    expect((await gaveWay("looping")) - before).toBeLessThan(0.1);
  });
});

describe("others are at work", () => {
  let nowMs = 0;
  beforeEach(() => {
    nowMs += 10_000;
    jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  });
  afterEach(() => jest.restoreAllMocks());

  test("while another company asked within a quarter of a second, whatever the company itself asks", () => {
    noteCall("a");
    expect([othersAreAtWork("a"), othersAreAtWork("b"), othersAreAtWork(undefined)]).toEqual([false, true, true]);
    noteCall("b");
    for (let n = 0; n < 5; n++) {
      nowMs += 40;
      noteCall("a");
    }
    expect([othersAreAtWork("a"), othersAreAtWork("b")]).toEqual([true, true]);
    nowMs += 100;
    expect([othersAreAtWork("a"), othersAreAtWork("b")]).toEqual([false, true]);
    nowMs += 200;
    expect(othersAreAtWork("b")).toBe(false);
  });

  test("and may come back for five seconds after they asked", () => {
    noteCall("b");
    nowMs += 2_000;
    noteCall("a");
    nowMs += 2_900;
    expect([othersMayComeBack("a"), othersMayComeBack("b")]).toEqual([true, true]);
    nowMs += 100;
    expect([othersMayComeBack("a"), othersMayComeBack("b")]).toEqual([false, true]);
    nowMs += 2_000;
    expect(othersMayComeBack("b")).toBe(false);
  });

  test("not by what the service does for itself", () => {
    noteCall(undefined);
    expect(othersAreAtWork("a")).toBe(false);
  });

  test("a shortage lasts ten seconds longer than it is seen, and one look alone says nothing", () => {
    let isShort = true;
    const shortage = new Shortage(() => isShort);
    expect(shortage.lasts()).toBe(false);
    nowMs += 300;
    expect(shortage.lasts()).toBe(true);
    isShort = false;
    nowMs += 9_900;
    expect(shortage.lasts()).toBe(true);
    nowMs += 200;
    expect(shortage.lasts()).toBe(false);
  });

  test("while CPU stays short rests get longer, up to eight times, and shorter again when it is not", () => {
    let isShort = true;
    const shortage = new Shortage(() => isShort);
    const factors = (looks: number) =>
      Array.from({ length: looks }, () => {
        nowMs += 250;
        shortage.lasts();
        return shortage.factor;
      });
    shortage.lasts();
    expect(factors(6)).toEqual([1, 2, 4, 8, 8, 8]);
    isShort = false;
    expect(factors(9)).toEqual([7, 6, 5, 4, 3, 2, 1, 1, 1]);
    isShort = true;
    expect(factors(2)).toEqual([2, 4]);
    // Nobody asked for a while: the next shortage is another one.
    nowMs += 20_000;
    shortage.lasts();
    expect(factors(2)).toEqual([1, 2]);
  });
});
