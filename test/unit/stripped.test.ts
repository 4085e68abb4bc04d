/** Code without its types, which a process takes from where an earlier one put it: always that of the file as it is now. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, node } from "../support/service-process.ts";

const STRIPPED = "services/lib/processes/stripped";
const ROOT = join(import.meta.dirname, "../..");

const folder = dataFolder();
const at = (...path: string[]) => join(folder.path, ...path);
const kept = () => readdirSync(at(".cache/stripped"));
const strip = () =>
  execFileSync(node, ["--disable-warning=ExperimentalWarning", at(STRIPPED, "strip.js")], { encoding: "utf8" });
/** What the file prints, and whether Node had to load what strips types. */
const run = (file = "services/say.ts") =>
  execFileSync(node, ["--import", `./${STRIPPED}/load.js`, file], { cwd: folder.path, encoding: "utf8" }).trim();

const SOURCE = `import { word } from "./word.ts";
const strips: boolean = (process as unknown as { moduleLoadList: string[] }).moduleLoadList.some((name) => /amaro/.test(name));
console.log(word, strips);
`;

beforeAll(() => {
  cpSync(join(ROOT, STRIPPED), at(STRIPPED), { recursive: true });
  mkdirSync(at("node_modules"));
  writeFileSync(at("package.json"), '{ "type": "module" }');
  writeFileSync(at("services/say.ts"), SOURCE);
  writeFileSync(at("services/word.ts"), 'export const word: string = "one";\n');
});
afterAll(() => folder.remove());

test("where nothing was put, Node strips types by itself", () => {
  expect(run()).toBe("one true");
});

test("what was put there is taken, and nothing is loaded that strips types", () => {
  strip();
  expect(run()).toBe("one false");
  expect(kept()).toHaveLength(2);
});

test("lines and columns stay", () => {
  const stripped = kept().map((name) => readFileSync(at(".cache/stripped", name), "utf8"));
  expect(stripped.map((text) => text.length)).toContain(SOURCE.length);
});

test("a file that was changed since counts as it is now, and what was put of it before goes", () => {
  writeFileSync(at("services/word.ts"), 'export const word: string = "two";\n');
  expect(run()).toBe("two true");
  strip();
  expect(run()).toBe("two false");
  expect(kept()).toHaveLength(2);
});

test("where nothing can be put, a line says so and the start goes on", () => {
  const other = dataFolder();
  cpSync(join(ROOT, STRIPPED), join(other.path, STRIPPED), { recursive: true });
  // In place of the folder: root may write in one that is read-only.
  writeFileSync(join(other.path, ".cache"), "");
  const { status, stderr } = spawnSync(node, [join(other.path, STRIPPED, "strip.js")], { encoding: "utf8" });
  other.remove();
  expect(status).toBe(0);
  expect(stderr).toContain("Code without types is not kept");
});
