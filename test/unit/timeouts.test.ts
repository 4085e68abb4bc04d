import { setTimeout as sleep } from "node:timers/promises";
import { withTimeout } from "../../services/lib/timeouts.ts";

const late = () => new Error("too late");

test("work that ends in time returns its result, and leaves no timer behind", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  expect(await withTimeout(Promise.resolve(5), 60_000, late)).toBe(5);
  await expect(withTimeout(Promise.reject(new Error("broken")), 60_000, late)).rejects.toThrow("broken");
  expect(timers()).toBe(before);
});

test("work that takes longer ends with the caller's error", async () => {
  const work = sleep(30).then(() => Promise.reject(new Error("broken")));
  await expect(withTimeout(work, 1, late)).rejects.toThrow("too late");
  // Jest would fail the test for a rejection that nobody handles.
  await sleep(60);
});
