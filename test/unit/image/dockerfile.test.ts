import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const dockerfile = read("Dockerfile");
/** The stage that is shipped. */
const runtime = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
const copied = [...runtime.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => names!.split(" "));

const sources = copied
  .filter((name) => !name.includes(".") && name !== "LICENSE")
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.[cm]?[jt]s$/.test(file) && !file.includes("assets/scripts/"))
      .map((file) => join(folder, file)),
  );
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s(?!type\s)[^"'`;=(]*?from\s+"([^"]+)"|(?:^|\n)import\s+"([^"]+)"|import\("([^"]+)"\)/g;
const imports = sources.flatMap((file) =>
  [...read(file).matchAll(IMPORT)].map(([, from, bare, lazy]) => ({ file, from: (from ?? bare ?? lazy)! })),
);

test("the image contains what its code imports: copied folders, and packages that are not development tools", () => {
  const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
  const isThere = ({ file, from }: { file: string; from: string }) => {
    if (from.startsWith("node:") || builtinModules.includes(from)) return true;
    if (!from.startsWith(".")) return from.split("/", from.startsWith("@") ? 2 : 1).join("/") in dependencies;
    const path = join(file, "..", from);
    return copied.some((name) => path === name || path.startsWith(`${name}/`)) && existsSync(join(root, path));
  };
  expect(imports.length).toBeGreaterThan(1_000);
  expect(imports.filter((one) => !isThere(one))).toEqual([]);
});

test("both stages share a base image, which a release pins in one line", () => {
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, from]) => from);
  expect(bases).toEqual(["${BASE}", "${BASE}"]);
  expect(dockerfile.match(/^ARG BASE=node:\d+-slim(?:@sha256:[0-9a-f]{64})?$/gm)).toHaveLength(1);
  expect(read("scripts/release/README.md")).toContain('sed -i "s|^ARG BASE=.*|');
});

test("it runs as a numeric user, without npm, and has labels", () => {
  expect(runtime).toMatch(/^USER 1000:1000$/m);
  for (const path of ["/usr/local/lib/node_modules", "/usr/local/bin/npm", "/usr/local/bin/npx", "/opt/yarn-*"]) {
    expect(runtime).toContain(path);
  }
  for (const label of ["title", "version", "revision", "created", "licenses"]) {
    expect(runtime).toContain(`org.opencontainers.image.${label}=`);
  }
});
