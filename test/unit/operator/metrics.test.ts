import { setTimeout as sleep } from "node:timers/promises";
import { forgetRefreshed, gauge, readMetrics, refreshed } from "../../../services/lib/metrics.ts";

const lineOf = (text: string, name: string) => text.split("\n").find((line) => line.startsWith(name));

describe("metrics that need a query", () => {
  test("are queried when metrics are read, and cached for seconds", async () => {
    let asked = 0;
    const read = refreshed("asked", async () => ++asked);
    gauge("test_asked", "Asked.", () => read() ?? 0);
    expect(lineOf(await readMetrics(), "test_asked ")).toBe("test_asked 1");
    expect(lineOf(await readMetrics(), "test_asked ")).toBe("test_asked 1");
    forgetRefreshed("asked");
  });

  test("are omitted without an answer", async () => {
    const read = refreshed("away", async () => {
      throw new Error("The database is away");
    });
    gauge("test_away", "Away.", () => (read() === undefined ? [] : 1));
    expect(lineOf(await readMetrics(), "test_away ")).toBeUndefined();
    forgetRefreshed("away");
  });

  test("a gauge may have labels, and appears once however often it is declared", async () => {
    gauge("test_depth", "Old.", () => 1);
    gauge("test_depth", "New.", () => [[{ state: "ready" }, 3]]);
    const lines = (await readMetrics()).split("\n").filter((line) => line.includes("test_depth"));
    expect(lines).toEqual(["# HELP test_depth New.", "# TYPE test_depth gauge", 'test_depth{state="ready"} 3']);
  });

  test("the process reports CPU and start time under the usual names", async () => {
    const text = await readMetrics();
    expect(text).toContain("# TYPE process_cpu_seconds_total counter");
    expect(Number(lineOf(text, "process_cpu_seconds_total ")!.split(" ")[1])).toBeGreaterThan(0);
    const startedAtMs = Number(lineOf(text, "process_start_time_seconds ")!.split(" ")[1]) * 1_000;
    expect(Math.abs(startedAtMs - (Date.now() - process.uptime() * 1_000))).toBeLessThan(2_000);
  });

  test("every name follows Prometheus' conventions: one prefix, and the unit or _total at its end", async () => {
    const types = (await readMetrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm);
    for (const [, name, type] of types) {
      if (name!.startsWith("test_")) continue;
      expect(name).toMatch(/^(flockmail|process)_[a-z0-9_]+$/);
      if (type === "counter") expect(name).toMatch(/_total$/);
      if (type === "histogram") expect(name).toMatch(/_seconds$/);
    }
  });

  describe("the lag of the event loop", () => {
    const lagSeconds = async (read = readMetrics) =>
      Number(lineOf(await read(), "flockmail_event_loop_lag_seconds ")!.split(" ")[1]);
    /** Several times, because a monitor measures from its second tick on. */
    async function block(): Promise<void> {
      for (let n = 0; n < 3; n++) {
        await sleep(25);
        const until = performance.now() + 300;
        while (performance.now() < until);
      }
      await sleep(25);
    }

    test("is the same for two scrapers: reading does not reset it", async () => {
      await block();
      const [first, second] = [await lagSeconds(), await lagSeconds()];
      expect(first).toBeGreaterThan(0.29);
      expect(second).toBeGreaterThan(0.29);
    });

    test("also has a maximum: percentiles hide one delay among thousands", async () => {
      await block();
      const longest = lineOf(await readMetrics(), "flockmail_event_loop_lag_max_seconds ")!;
      expect(Number(longest.split(" ")[1])).toBeGreaterThan(0.29);
    });

    test("is forgotten after a minute", async () => {
      jest.resetModules();
      jest.useFakeTimers({ doNotFake: ["performance", "setTimeout", "setImmediate", "nextTick", "queueMicrotask"] });
      const metrics = await import("../../../services/lib/metrics.ts");
      await block();
      jest.advanceTimersByTime(30_000);
      expect(await lagSeconds(metrics.readMetrics)).toBeGreaterThan(0.29);
      jest.advanceTimersByTime(30_000);
      await sleep(50);
      expect(await lagSeconds(metrics.readMetrics)).toBeLessThan(0.29);
      jest.useRealTimers();
    });
  });
});
