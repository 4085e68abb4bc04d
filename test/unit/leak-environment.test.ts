import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { node } from "../support/service-process.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Jest on one file of test/support/leaks/, without the set-up of the whole run. */
async function run(file: string, graceMs: number): Promise<{ code: number; output: string }> {
  const swc = { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } };
  const inline = {
    rootDir: ROOT,
    testEnvironment: "<rootDir>/test/support/leak-environment.ts",
    transform: { "^.+\\.ts$": ["@swc/jest", swc] },
    testMatch: [`<rootDir>/test/support/leaks/${file}`],
    testEnvironmentOptions: { graceMs },
  };
  // As a leak would keep it from ending.
  const args = ["--forceExit", "--runInBand", "--ci", "--config", JSON.stringify(inline)];
  const jest = join(ROOT, "node_modules/jest/bin/jest.js");
  return promisify(execFile)(node, [jest, ...args], { cwd: ROOT }).then(
    ({ stderr }) => ({ code: 0, output: stderr }),
    ({ code, stderr }) => ({ code, output: stderr }),
  );
}

test("a file that leaves something behind fails, and the message names it", async () => {
  const { code, output } = await run("leaky.ts", 200);
  expect(code).toBe(1);
  expect(output).toContain("The file left behind:");
  expect(output).toMatch(/timer made at .*leaky\.ts:7/);
  expect(output).toMatch(/timer made at .*leaky\.ts:10/);
  expect(output).toMatch(/server on 127\.0\.0\.1:\d+/);
  expect(output).toMatch(/socket 127\.0\.0\.1:\d+ → 127\.0\.0\.1:\d+, paused/);
  expect(output).toMatch(/child process \d+: sleep 60/);
  expect(output).toContain("database forgotten, not dropped");
  expect(output).toContain("5 passed");
});

test("a file that closes what it opened passes, also when the end of it takes a moment", async () => {
  const { code, output } = await run("tidy.ts", 5_000);
  expect(output).toContain("1 passed");
  expect(code).toBe(0);
});
