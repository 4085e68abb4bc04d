import { brotliCompressSync } from "node:zlib";
import { asset, scriptNames } from "../../../services/console/assets.ts";
import { bundledEditor } from "../../../services/console/bundle.ts";

const MAX_COMPRESSED = 150 * 1024;

test("the editor's bundle is small, evaluates no text as code, and is built once", () => {
  const code = bundledEditor();
  expect(brotliCompressSync(code).length).toBeLessThan(MAX_COMPRESSED);
  expect(code.toString()).not.toMatch(/\beval\(|\bnew Function\b/);
  expect(bundledEditor().equals(code)).toBe(true);
});

test("browsers keep the bundle under a name that changes with its content", () => {
  const { headers, body } = asset(scriptNames.visual!);
  expect(scriptNames.visual).toMatch(/^visual-[0-9a-f]{12}\.js$/);
  expect(headers?.["cache-control"]).toContain("immutable");
  expect(body).toEqual(bundledEditor());
});
