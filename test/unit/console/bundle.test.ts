import { brotliCompressSync } from "node:zlib";
import { asset, scriptNames } from "../../../services/console/assets.ts";
import { bundled } from "../../../services/console/bundle.ts";

test.each([
  ["editor", 150 * 1024],
  ["code", 190 * 1024],
] as const)("the bundle %s is small, evaluates no text as code, and is built once", (name, maxCompressed) => {
  const code = bundled(name);
  expect(brotliCompressSync(code).length).toBeLessThan(maxCompressed);
  expect(code.toString()).not.toMatch(/\beval\(|\bnew Function\b/);
  expect(bundled(name).equals(code)).toBe(true);
});

test("browsers keep the bundle under a name that changes with its content", () => {
  const { headers, body } = asset(scriptNames.visual!);
  expect(scriptNames.visual).toMatch(/^visual-[0-9a-f]{12}\.js$/);
  expect(headers?.["cache-control"]).toContain("immutable");
  expect(body).toEqual(bundled("editor"));
});
