/** A process of its own: whose threads' priority is lowered cannot raise it again. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { node } from "../../support/service-process.ts";

const MIDDLEWARE = join(import.meta.dirname, "../../../mixins/after-start.middleware.ts");
/** The start counts as over after five seconds. */
const TIMEOUT_MS = 60_000;
/** The 19th field of a thread's stat, by its name; printed when one has been changed. */
const WATCH = `
  import { readdirSync, readFileSync } from "node:fs";
  import { afterStart } from ${JSON.stringify(MIDDLEWARE)};
  const tasks = "/proc/self/task";
  const threads = () => readdirSync(tasks).map((id) => {
    const [, name, fields] = readFileSync(tasks + "/" + id + "/stat", "latin1").match(/\\((.*)\\) (.*)/s);
    return { name: id === String(process.pid) ? "main" : name, nice: Number(fields.split(" ")[16]) };
  });
  const before = threads();
  afterStart().started();
  const timer = setInterval(() => {
    if (threads().every(({ nice }) => nice === before[0].nice)) return;
    clearInterval(timer);
    console.log(JSON.stringify({ before, after: threads() }));
  }, 20);
`;

interface Thread {
  name: string;
  nice: number;
}

test(
  "once the start is over V8's own threads take the CPU that is left, and the event loop and the thread pool what they took",
  async () => {
    const { stdout } = await promisify(execFile)(
      node,
      ["--disable-warning=ExperimentalWarning", "--v8-pool-size=1", "--input-type=module", "--eval", WATCH],
      { timeout: TIMEOUT_MS },
    );
    const { before, after } = JSON.parse(stdout) as Record<"before" | "after", Thread[]>;
    // Not zero where the tests themselves were started with `nice`.
    const usual = before[0]!.nice;
    expect(before.filter(({ nice }) => nice !== usual)).toEqual([]);
    const ofV8 = after.filter(({ name }) => name === "V8Worker");
    expect(ofV8.map(({ nice }) => nice)).toEqual([Math.min(19, usual + 10)]);
    expect(after.find(({ name }) => name === "main")).toEqual({ name: "main", nice: usual });
    expect(after.filter(({ name, nice }) => !/v8/i.test(name) && nice !== usual)).toEqual([]);
  },
  TIMEOUT_MS,
);
