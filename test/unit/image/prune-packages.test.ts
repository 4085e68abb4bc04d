import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { billOfMaterials, licenceList } from "../../../scripts/image/describe-packages.ts";
import { packagesIn } from "../../../scripts/image/packages.ts";
import { prunePackages } from "../../../scripts/image/prune-packages.ts";

const folder = mkdtempSync(join(tmpdir(), "flockmail-packages-"));
const modules = join(folder, "node_modules");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEPT = [
  "plain/package.json",
  "plain/index.js",
  "plain/LICENSE.md",
  "plain/lib/test/code.js",
  "plain/types/standard.js",
  "plain/docs/LICENSE",
  "plain/node_modules/inner/package.json",
  "plain/node_modules/inner/main.cjs",
  "plain/node_modules/inner/readme.md",
  "@scope/one/package.json",
  "@scope/one/code.wasm",
  "@scope/one/COPYING",
];
const TAKEN = [
  "plain/README.md",
  "plain/index.js.map",
  "plain/index.d.ts",
  "plain/lib/code.mts",
  "plain/test/index.js",
  "plain/test/deep/fixture.json",
  "plain/docs/page.html",
  "plain/node_modules/inner/main.d.cts",
  "@scope/one/.github/workflows/ci.yml",
  "@scope/one/HISTORY.md",
];

test("maps, types, documentation and tests of packages are removed, but no code or licences", () => {
  for (const file of [...KEPT, ...TAKEN]) {
    mkdirSync(dirname(join(modules, file)), { recursive: true });
    const name = dirname(file).split("/").at(-1);
    const text = `{ "name": "${name}", "version": "1.0.0", "license": "MIT" }`;
    writeFileSync(join(modules, file), file.endsWith("package.json") ? text : file);
  }
  const bytes = TAKEN.reduce((sum, file) => sum + statSync(join(modules, file)).size, 0);
  expect(prunePackages(modules)).toEqual({ files: TAKEN.length, bytes });
  const left = readdirSync(modules, { recursive: true, encoding: "utf8" });
  const files = left.filter((file) => statSync(join(modules, file)).isFile());
  expect(files.sort()).toEqual(KEPT.toSorted());
  expect(left).not.toContain("plain/test");
});

test("each package is listed with its terms, from a readme if there is no other text", () => {
  const list = licenceList(packagesIn(modules));
  expect(list).toContain("plain 1.0.0: MIT");
  expect(list).toContain("one 1.0.0\n\n@scope/one/COPYING");
  expect(list).toContain("inner 1.0.0\n\nplain/node_modules/inner/readme.md");
});

test("a bill of materials lists everything installed, including what npm omits", () => {
  const known = { name: "plain", version: "1.0.0" };
  const component = { name: "folder", "bom-ref": "@scope/service@1.0.0" };
  const printed = JSON.stringify({ metadata: { component }, components: [known] });
  const { components, metadata } = billOfMaterials(printed, packagesIn(modules));
  expect(components.map(({ name }) => name).sort()).toEqual(["inner", "one", "plain"]);
  expect(metadata.component!.name).toBe("@scope/service");
});

test("a bill of materials is the same for the same packages at any time", () => {
  const bom = (timestamp: string, serialNumber: string, version = "1") =>
    billOfMaterials(JSON.stringify({ serialNumber, metadata: { timestamp }, components: [{ version }] }), []);
  const [first, second] = [bom("2026-01-01", "urn:uuid:a"), bom("2027-01-01", "urn:uuid:b")];
  expect(first).toEqual(second);
  expect(first.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(bom("2026-01-01", "urn:uuid:a", "2").serialNumber).not.toBe(first.serialNumber);
});
