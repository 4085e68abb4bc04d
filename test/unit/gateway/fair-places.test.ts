import { setTimeout as sleep } from "node:timers/promises";
import { FairPlaces } from "../../../services/gateway/access/fair-places.ts";
import type { Release } from "../../../services/lib/turns.ts";

/** More than any wait here lasts. */
const LONG_MS = 60_000;
/** As many as it takes from no bound to two places. */
const LOOKS = 2;
const settled = () => new Promise(setImmediate);

/** Looks when it is told to, beside its own timer, and is told whether CPU is short. */
function newPlaces(waitMs = LONG_MS) {
  const cpu = { isShort: true };
  const places = new FairPlaces(() => cpu.isShort, waitMs);
  const look = (times = LOOKS) => {
    for (let n = 0; n < times; n++) places.look();
  };
  /** Requests, and those of them that have begun. */
  const ask = (owner: string, times: number, kind = "send") => {
    const begun: Release[] = [];
    const all = Array.from({ length: times }, async () => void begun.push(await places.take(owner, kind)));
    return { begun, all: Promise.all(all) };
  };
  const endAll = async ({ begun, all }: ReturnType<typeof ask>) => {
    let isDone = false;
    all.finally(() => {
      isDone = true;
    });
    while (!isDone || begun.length > 0) {
      for (const release of begun.splice(0)) release();
      await settled();
    }
  };
  return { places, cpu, look, ask, endAll };
}

// A test that fails in mid-time must not stop the clock of those behind it.
afterEach(() => jest.restoreAllMocks());

describe("while CPU is short", () => {
  test("who asks for much waits for its own requests, and others do not wait at all", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const quiet = ask("quiet", 1);
    const noisy = ask("noisy", 20);
    await settled();
    expect(noisy.begun).toHaveLength(20);
    look();
    const later = ask("noisy", 10);
    const others = ask("quiet", 3);
    const stranger = ask("stranger", 1);
    await settled();
    expect([later.begun, others.begun, stranger.begun, quiet.begun].map(({ length }) => length)).toEqual([0, 3, 1, 1]);
    await endAll(noisy);
    await settled();
    expect(later.begun).toHaveLength(2);
    await endAll(later);
    for (const one of [others, stranger, quiet]) await endAll(one);
    places.close();
  });

  test("what it asks for of another kind goes on", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const quiet = ask("quiet", 1);
    const imports = ask("noisy", 8, "import");
    await settled();
    look();
    const further = ask("noisy", 1, "import");
    const receipt = ask("noisy", 1, "send");
    await settled();
    expect([further.begun.length, receipt.begun.length]).toEqual([0, 1]);
    for (const one of [imports, further, receipt, quiet]) await endAll(one);
    places.close();
  });

  test("whose ordinary requests of many kinds pile up is not taken for who asks for much", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const piled = Array.from({ length: 12 }, (_, n) => ask("quiet", 1, `kind ${n}`));
    const noisy = ask("noisy", 8);
    await settled();
    look();
    const [again, later] = [ask("quiet", 1, "kind 0"), ask("noisy", 1)];
    await settled();
    expect([again.begun.length, later.begun.length]).toEqual([1, 0]);
    for (const one of [...piled, again, noisy, later]) await endAll(one);
    places.close();
  });

  test("a company that is alone waits for nothing", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const first = ask("noisy", 20);
    await settled();
    look();
    const second = ask("noisy", 20);
    await settled();
    expect([first.begun.length, second.begun.length]).toEqual([20, 20]);
    for (const one of [first, second]) await endAll(one);
    places.close();
  });

  test("who comes to a company that was alone finds it bound at once", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const noisy = ask("noisy", 20);
    await settled();
    look();
    const quiet = ask("quiet", 1);
    const later = ask("noisy", 1);
    await settled();
    expect([noisy.begun.length, quiet.begun.length, later.begun.length]).toEqual([20, 1, 0]);
    for (const one of [noisy, quiet, later]) await endAll(one);
    places.close();
  });

  test("who only waits, and has asked for nothing for a while, goes on waiting for itself", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const noisy = ask("noisy", 20);
    await endAll(ask("quiet", 1));
    look();
    const later = ask("noisy", 5);
    // Those of the last seconds are forgotten.
    for (let n = 0; n < 2; n++) {
      await sleep(1_050);
      await endAll(ask("quiet", 1));
    }
    look();
    await settled();
    expect(later.begun).toHaveLength(0);
    for (const one of [noisy, later]) await endAll(one);
    places.close();
  });

  test("who asks for much is so also when the only other one has paused for a second", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const beganMs = performance.now();
    const clock = jest.spyOn(performance, "now");
    const atMs = (ms: number) => {
      clock.mockReturnValue(beganMs + ms);
      look();
    };
    atMs(0);
    const noisy = ask("noisy", 20);
    atMs(900);
    await endAll(ask("quiet", 1));
    atMs(1_001);
    // Who asked in this second and in the one before is known to be nobody but the company itself now.
    atMs(2_002);
    const later = ask("noisy", 1);
    await settled();
    expect(later.begun).toHaveLength(0);
    clock.mockRestore();
    for (const one of [noisy, later]) await endAll(one);
    places.close();
  });

  test("who has waited too long is refused with 429, and takes no place from others later", async () => {
    const { places, look, ask, endAll } = newPlaces(1);
    const quiet = ask("quiet", 1);
    const noisy = ask("noisy", 20);
    await settled();
    look();
    const late = ask("noisy", 1);
    await expect(late.all).rejects.toMatchObject({ code: "THROTTLED" });
    for (const one of [noisy, quiet]) await endAll(one);
    look();
    const again = ask("noisy", 1);
    await settled();
    expect(again.begun).toHaveLength(1);
    await endAll(again);
    places.close();
  });
});

describe("while CPU is short with one place", () => {
  const TOOK_MS = 20;

  /** One that waits behind a request that was the only one, took so long and has ended. */
  async function oneThatWaits() {
    const all = newPlaces();
    const quiet = all.ask("quiet", 1);
    const noisy = all.ask("noisy", 20);
    await settled();
    all.look(6 * LOOKS);
    const only = all.ask("noisy", 1);
    const later = all.ask("noisy", 1);
    await all.endAll(noisy);
    await settled();
    expect([only.begun.length, later.begun.length]).toEqual([1, 0]);
    await sleep(TOOK_MS);
    const endedMs = performance.now();
    await all.endAll(only);
    expect(later.begun).toHaveLength(0);
    return { ...all, quiet, later, endedMs };
  }

  test("it stays empty for seven times as long as a request took, and nobody else waits", async () => {
    const { places, ask, endAll, quiet, later, endedMs } = await oneThatWaits();
    const others = ask("quiet", 2);
    await settled();
    expect([others.begun.length, later.begun.length]).toEqual([2, 0]);
    await later.all;
    // A timer may be a millisecond early.
    expect(performance.now() - endedMs).toBeGreaterThanOrEqual(7 * TOOK_MS - 2);
    for (const one of [later, others, quiet]) await endAll(one);
    places.close();
  });

  test("not after requests that began beside many others, which took long because of them", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const quiet = ask("quiet", 1);
    const noisy = ask("noisy", 20);
    await settled();
    await sleep(TOOK_MS);
    look(6 * LOOKS);
    const later = ask("noisy", 1);
    await endAll(noisy);
    await settled();
    expect(later.begun).toHaveLength(1);
    for (const one of [later, quiet]) await endAll(one);
    places.close();
  });

  test("nor after those that began beside each other, because they were too few to be bound yet", async () => {
    const { places, look, ask, endAll } = newPlaces();
    const [quiet, noisy] = [ask("quiet", 1), ask("noisy", 20)];
    await settled();
    look(6 * LOOKS);
    await endAll(noisy);
    const few = ask("another", 6);
    await settled();
    expect(few.begun).toHaveLength(6);
    await sleep(TOOK_MS);
    look(6 * LOOKS);
    const later = ask("another", 1);
    // The first of them was the only one when it began.
    await endAll(few);
    await settled();
    expect(later.begun).toHaveLength(1);
    for (const one of [later, quiet]) await endAll(one);
    places.close();
  });

  test("no longer when others have asked for nothing for two seconds, and after five nobody waits, though nobody asks since then", async () => {
    const { places, look, ask, endAll, quiet, later } = await oneThatWaits();
    const behind = ask("noisy", 20);
    await endAll(quiet);
    const beganMs = performance.now();
    const begunAfter = async (ms: number) => {
      const clock = jest.spyOn(performance, "now").mockReturnValue(beganMs + ms);
      // By then it is forgotten that there was another company.
      look(6 * LOOKS);
      clock.mockRestore();
      await settled();
      return later.begun.length + behind.begun.length;
    };
    // Whoever comes back finds two of them, and not all that waited.
    expect(await begunAfter(2_100)).toBe(2);
    expect(await begunAfter(4_900)).toBe(2);
    expect(await begunAfter(5_100)).toBe(21);
    for (const one of [later, behind]) await endAll(one);
    places.close();
  });

  test("no longer when there is CPU again, or the gateway closes", async () => {
    const back = await oneThatWaits();
    back.cpu.isShort = false;
    back.look(3);
    await settled();
    expect(back.later.begun).toHaveLength(1);
    const closing = await oneThatWaits();
    closing.places.close();
    await settled();
    expect(closing.later.begun).toHaveLength(1);
    for (const { endAll, quiet, later, places } of [back, closing]) {
      for (const one of [quiet, later]) await endAll(one);
      places.close();
    }
  });
});

test("with CPU left nobody waits, and who waited goes on when there is some again", async () => {
  const { places, cpu, look, ask, endAll } = newPlaces();
  const quiet = ask("quiet", 1);
  const noisy = ask("noisy", 20);
  await settled();
  look();
  const waited = ask("noisy", 20);
  await settled();
  expect(waited.begun).toHaveLength(0);
  cpu.isShort = false;
  look(40);
  await settled();
  expect(waited.begun).toHaveLength(20);
  for (const one of [noisy, waited, quiet]) await endAll(one);
  places.close();
});

test("who begins at full speed is bound within half a second; once there was CPU left it is looked at less often", async () => {
  jest.useFakeTimers({ doNotFake: ["setImmediate"] });
  try {
    let looks = -1;
    let isShort = true;
    const places = new FairPlaces(() => {
      looks++;
      return isShort;
    });
    const releases = await Promise.all(["quiet", "noisy", "noisy"].map((owner) => places.take(owner, "send")));
    const looksIn = (ms: number) => {
      const before = looks;
      jest.advanceTimersByTime(ms);
      return looks - before;
    };
    // From no bound to the least one it takes four.
    expect(looksIn(500)).toBe(5);
    isShort = false;
    jest.advanceTimersByTime(100);
    isShort = true;
    expect(looksIn(1_000)).toBe(4);
    for (const release of releases) release();
    places.close();
  } finally {
    jest.useRealTimers();
  }
});

test("nothing is kept of companies that are no longer at work", async () => {
  const { places, look, ask, endAll } = newPlaces();
  for (let n = 0; n < 50; n++) await endAll(ask(`company-${n}`, 3));
  look(50);
  expect(places.owners).toBe(0);
  places.close();
});
