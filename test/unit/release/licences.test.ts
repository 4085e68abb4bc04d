/** The licences of all packages that the service needs permit its use. No network: the lock file names them. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  isAllowed,
  isUsable,
  type Lock,
  licenceList,
  productionPackages,
  READ_BY_HAND,
} from "../../../scripts/release/licences.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as Lock;
const packages = productionPackages(lock);
const idOf = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;

test("every package of the production lock has a licence that is allowed (scripts/release/licences.ts)", () => {
  expect(packages.length).toBeGreaterThan(250);
  const others = packages.filter((one) => !isUsable(one));
  expect(others.map((one) => `${idOf(one)}: ${one.licence || "none"}`)).toEqual([]);
});

test("licences that a person read are of packages in the lock, and the packages' own files state them", () => {
  for (const [id, licence] of Object.entries(READ_BY_HAND)) {
    const { name } = packages.find((one) => idOf(one) === id) ?? { name: "" };
    // Otherwise another version was installed, and its licence must be read.
    expect([id, name]).toEqual([id, id.slice(0, id.lastIndexOf("@"))]);
    const folder = join(ROOT, "node_modules", name);
    const own = existsSync(folder) ? globSync("{LICEN*,package.json}", { cwd: folder }) : [];
    const texts = own.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
    expect(texts).toMatch(licence === "MIT" ? /"MIT\b|Permission is hereby granted, free of charge/ : licence);
  }
});

test("a licence counts as itself, any of those joined by OR, and all of those joined by AND", () => {
  const allowed = [
    "MIT",
    "(MIT)",
    "MIT OR GPL-3.0",
    "(GPL-3.0 OR MIT) AND ISC",
    "GPL-3.0 AND LGPL-3.0 OR MIT",
    "(MIT OR EUPL-1.1+)",
  ];
  expect(allowed.filter((expression) => !isAllowed(expression))).toEqual([]);
  const refused = [
    "",
    "GPL-3.0",
    "MIT AND GPL-3.0",
    "MIT OR",
    "(MIT",
    "MIT)",
    "MIT ISC",
    "AGPL-3.0-only",
    "UNLICENSED",
    "SEE LICENSE IN x",
    "constructor",
  ];
  expect(refused.filter(isAllowed)).toEqual([]);
});

test("the LGPL is accepted for libvips, a replaceable shared library, and for nothing else", () => {
  const licence = "LGPL-3.0-or-later";
  expect(isUsable({ name: "@img/sharp-libvips-linux-x64", licence })).toBe(true);
  expect(isUsable({ name: "@img/sharp-libvips-linux-x64", licence: "GPL-3.0-or-later" })).toBe(false);
  expect(isUsable({ name: "left-pad", licence })).toBe(false);
});

test("the list equals the image: it has no package used only for development or on laptops", () => {
  const few: Lock = {
    packages: {
      "": { version: "1.0.0" },
      "node_modules/b": { version: "2.0.0", license: "ISC" },
      "node_modules/a": { version: "1.2.3", license: "MIT" },
      "node_modules/b/node_modules/a": { version: "1.2.3", license: "MIT" },
      "node_modules/busboy": { version: "1.6.0" },
      "node_modules/of-tests": { version: "1.0.0", license: "GPL-3.0", dev: true },
      "node_modules/@img/sharp-libvips-linux-x64": { version: "1.3.4", license: "LGPL-3.0-or-later", optional: true },
      "node_modules/@img/sharp-libvips-darwin-x64": { version: "1.3.4", license: "LGPL-3.0-or-later", optional: true },
      "node_modules/postgres-for-laptops": { version: "18.0.0", license: "MIT", optional: true },
    },
  };
  expect(licenceList(few, "1.0.0").split("\n").slice(2)).toEqual([
    "@img/sharp-libvips-linux-x64 1.3.4: LGPL-3.0-or-later",
    "a 1.2.3: MIT",
    "b 2.0.0: ISC",
    "busboy 1.6.0: MIT",
    "",
    "2 MIT",
    "1 LGPL-3.0-or-later",
    "1 ISC",
    "",
  ]);
});
