import { setImmediate as nextTurn } from "node:timers/promises";
import { MakingTime } from "../../../services/smtp-sender/server/making-time.ts";

/** Takes so much CPU. */
const takeMs = (ms: number) => () => {
  const before = process.threadCpuUsage();
  const used = () => process.threadCpuUsage(before).user + process.threadCpuUsage(before).system;
  while (used() < ms * 1_000);
};

/** A transport that has mails to make whenever it may. */
class Maker {
  made = 0;
  readonly #time: MakingTime;
  readonly #ms: number;
  #left: number;

  constructor(time: MakingTime, ms: number, left: number) {
    this.#time = time;
    this.#ms = ms;
    this.#left = left;
  }

  wake(): void {
    while (this.#left > 0 && !this.#time.mustWait(this)) {
      this.#time.spend(takeMs(this.#ms));
      this.made++;
      this.#left--;
    }
  }
}

test("what takes little is made at once, however many there are", () => {
  const maker = new Maker(new MakingTime(), 0, 500);
  maker.wake();
  expect(maker.made).toBe(500);
});

test("a process that had to wait for its core goes on", () => {
  const time = new MakingTime();
  const maker = new Maker(time, 0, 5);
  time.spend(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50));
  maker.wake();
  expect(maker.made).toBe(5);
});

test("what takes long is made in several turns of the event loop, and all of it", async () => {
  const maker = new Maker(new MakingTime(), 12, 6);
  maker.wake();
  expect(maker.made).toBeLessThanOrEqual(2);
  let turns = 0;
  while (maker.made < 6 && turns < 100) {
    await nextTurn();
    turns++;
  }
  expect(maker.made).toBe(6);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test("those who wait get their turns one after the other", async () => {
  const time = new MakingTime();
  const makers = Array.from({ length: 3 }, () => new Maker(time, 25, 4));
  for (const maker of makers) maker.wake();
  expect(makers.map(({ made }) => made)).toEqual([1, 0, 0]);
  for (let turn = 0; turn < 100 && makers.some(({ made }) => made < 4); turn++) {
    await nextTurn();
    const counts = makers.map(({ made }) => made);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  }
  expect(makers.map(({ made }) => made)).toEqual([4, 4, 4]);
});
