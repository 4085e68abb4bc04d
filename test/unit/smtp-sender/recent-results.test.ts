import { RecentResults } from "../../../services/smtp-sender/delivery/late-results.ts";

test("the newest results are kept in the order in which they were written, and never more than 20,000", () => {
  const recent = new RecentResults();
  for (let flush = 1; flush <= 70; flush++) recent.add(700, () => [flush]);
  expect(recent.size).toBe(28 * 700);
  expect(recent.flushes().map((values) => values())).toEqual(Array.from({ length: 28 }, (_, i) => [43 + i]));
});

test("results older than a minute are deleted with the next ones", () => {
  let nowMs = 0;
  const recent = new RecentResults(() => nowMs);
  recent.add(2, () => ["first"]);
  nowMs = 30_000;
  recent.add(1, () => ["second"]);
  recent.add(0, () => ["nothing"]);
  expect(recent.flushes().map((values) => values())).toEqual([["first"], ["second"]]);
  nowMs = 61_000;
  recent.add(1, () => ["third"]);
  expect([recent.size, recent.flushes().map((values) => values())]).toEqual([2, [["second"], ["third"]]]);
});
