import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { node } from "../support/service-process.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const GRACE_MS = 2_000;
// Starts jest, which takes long on a busy machine.
jest.setTimeout(300_000);

/** Runs jest on files of test/support/leaks/ in order, without the global set-up. */
async function run(files: string[]): Promise<{ code: number; output: string }> {
  const swc = { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } };
  const inline = {
    rootDir: ROOT,
    testEnvironment: "<rootDir>/test/support/leak-environment.ts",
    runtime: "<rootDir>/test/support/runtime.ts",
    transform: { "^.+\\.ts$": ["@swc/jest", swc] },
    testMatch: files.map((file) => `<rootDir>/test/support/leaks/${file}`),
    testEnvironmentOptions: { graceMs: GRACE_MS },
  };
  // --forceExit because a leak would keep jest from ending; --runInBand because a worker also runs its files in order.
  const args = ["--forceExit", "--runInBand", "--ci", "--verbose", "--config", JSON.stringify(inline)];
  const jest = join(ROOT, "node_modules/jest/bin/jest.js");
  return promisify(execFile)(node, [jest, ...args], { cwd: ROOT }).then(
    ({ stderr }) => ({ code: 0, output: stderr }),
    ({ code, stderr }) => ({ code, output: stderr }),
  );
}

test("a file that leaves something behind fails with its name, and the next file, which cleans up, passes", async () => {
  // Jest runs larger files first, and later those that failed.
  const { code, output } = await run(["leaky.ts", "tidy.ts"]);
  expect(code).toBe(1);
  expect(output).toContain("The file left behind:");
  expect(output).toMatch(/timer made at .*leaky\.ts:9/);
  expect(output).toMatch(/timer made at .*leaky\.ts:12/);
  expect(output).toMatch(/server on 127\.0\.0\.1:\d+/);
  expect(output).toMatch(/socket 127\.0\.0\.1:\d+ → 127\.0\.0\.1:\d+, paused/);
  expect(output).toMatch(/child process \d+: sleep 60/);
  expect(output).toContain("database forgotten, not dropped");
  expect(output).toMatch(/FAIL .*leaky\.ts[\s\S]*PASS .*tidy\.ts/);
  expect(output).toContain("10 passed");
});
