import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const BENCH = join(import.meta.dirname, "../bench");

const run = (...args: string[]) => spawnSync(process.execPath, [BENCH, ...args], { encoding: "utf8" });

test("`node test/bench` lists all benchmarks with their arguments", () => {
  const { status, stderr } = run();
  const names = [...stderr.matchAll(/^ {2}node test\/bench ([\w-]+)/gm)].map(([, name]) => name);
  expect(status).toBe(0);
  expect(names).toEqual(expect.arrayContaining(["delivery", "gateway", "import", "latency", "receipts", "render"]));
  expect(names.filter((name) => !existsSync(join(BENCH, `${name}.ts`)))).toEqual([]);
});

test("an unknown benchmark, or a module of one, is refused with that list", () => {
  for (const name of ["nope", "cpu"]) {
    const { status, stderr } = run(name);
    expect([status, stderr.split("\n")[0]]).toEqual([64, "Usage:"]);
  }
});
