import { Endings } from "../../../services/webhooks/ending.ts";

const LONG_MS = 60_000;

test("an attempt ends when its time is over, and says so", async () => {
  const ending = new Endings().begin(1);
  expect(ending.reason).toBeUndefined();
  await new Promise<void>((ended) => ending.whenEnded(ended));
  expect(ending.reason).toBe("late");
  ending.over();
});

test("a process that stops ends the attempts under way, and those that begin afterwards", () => {
  const endings = new Endings();
  const [first, second] = [endings.begin(LONG_MS), endings.begin(LONG_MS)];
  const cut: string[] = [];
  first.whenEnded(() => cut.push("first"));
  second.whenEnded(() => cut.push("second"));
  second.over();
  endings.stop();
  // What had an answer before is no part of it.
  expect(cut).toEqual(["first"]);
  const third = endings.begin(LONG_MS);
  expect([first, second, third].map(({ reason }) => reason)).toEqual(["stopped", undefined, "stopped"]);
  for (const one of [first, third]) one.over();
});

test("the first reason is the one that counts", async () => {
  const endings = new Endings();
  const ending = endings.begin(1);
  await new Promise<void>((ended) => ending.whenEnded(ended));
  endings.stop();
  expect(ending.reason).toBe("late");
  ending.over();
});
