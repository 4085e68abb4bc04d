/** Processes of their own, with the options of a node: how often they look through their whole heap for garbage. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { node } from "../../support/service-process.ts";

const MODULE = join(import.meta.dirname, "../../../services/lib/processes/heap-growth.ts");
const TIMEOUT_MS = 60_000;

/** 60 MB that stay and 800 MB that live for long enough to be moved to the old space, 10 MB of them at a time. Prints how often. */
const WORK = (mayGrow: boolean) => `
  import { PerformanceObserver, constants } from "node:perf_hooks";
  import { setImmediate as pass } from "node:timers/promises";
  import { letHeapGrow } from ${JSON.stringify(MODULE)};
  if (${mayGrow}) letHeapGrow();
  let looks = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) looks++;
  });
  observer.observe({ entryTypes: ["gc"] });
  const object = (n) => ({ id: n, name: "reader " + n, tags: [n, n + 1, n + 2, n + 3] });
  const stays = Array.from({ length: 450_000 }, (_, n) => object(n));
  gc();
  await pass();
  await pass();
  looks = 0;
  const recent = [];
  for (let n = 0; n < 8_000_000; n++) {
    recent[n % 100_000] = object(n);
    if (n % 1_000 === 0) await pass();
  }
  await pass();
  // All of them stay until here.
  console.log(JSON.stringify({ looks, kept: stays.length }));
`;

async function looks(mayGrow: boolean, megabytes: number): Promise<number> {
  const { stdout } = await promisify(execFile)(
    node,
    [
      "--disable-warning=ExperimentalWarning",
      "--max-semi-space-size=16",
      `--max-old-space-size=${megabytes}`,
      "--v8-pool-size=1",
      "--expose-gc",
      "--input-type=module",
      "--eval",
      WORK(mayGrow),
    ],
    { timeout: TIMEOUT_MS },
  );
  return (JSON.parse(stdout) as { looks: number }).looks;
}

/** Of this program 6 or 7 instead of 11 or 12, of one that serves requests a fifth. */
const FEWER = 3 / 4;

test(
  "a node with 512 MB of heap looks through all of it less often",
  async () => {
    const [usual, less] = [await looks(false, 512), await looks(true, 512)];
    expect(less).toBeGreaterThan(0);
    expect(less).toBeLessThan(usual * FEWER);
  },
  TIMEOUT_MS,
);

test(
  "and one with 320, whose container has little more, as often as ever",
  async () => {
    const [usual, same] = [await looks(false, 320), await looks(true, 320)];
    expect(same).toBeGreaterThan(usual * FEWER);
  },
  TIMEOUT_MS,
);
