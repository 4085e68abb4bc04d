import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configTable } from "../../services/lib/config.ts";
import { completed, missingOptionals } from "../support/complete-lock.ts";
import { MEMORY } from "../support/service-process.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const packageJson = JSON.parse(read("package.json")) as { scripts: Record<string, string>; engines: { node: string } };
const { scripts } = packageJson;

test("the README's table of configuration is the schema's (else: npm run config:table)", () => {
  expect(read("README.md")).toContain(`<!-- config:table -->\n${configTable()}\n<!-- /config:table -->`);
});

test("npm start, the image and the tests bound memory alike", () => {
  const { MALLOC_ARENA_MAX, NODE_OPTIONS } = MEMORY;
  const set = `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} NODE_OPTIONS="${NODE_OPTIONS}`;
  expect(scripts.start).toContain(`${set} `);
  expect(read("Dockerfile")).toContain(`${set}"`);
});

test("the image brings each folder that the service is started from, and lets nothing else in", () => {
  const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
    names!.split(" "),
  );
  const allowed = read(".dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  expect(copied.filter((name, i) => copied.indexOf(name) === i).sort()).toEqual(allowed.sort());
  expect(copied.filter((name) => !existsSync(join(root, name)))).toEqual([]);
});

test.each(["README.md", "CONTRIBUTING.md", "SECURITY.md"])("every npm script that %s names exists", (file) => {
  const named = [...read(file).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map((match) => match[1]!);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test("every test that SECURITY.md points at exists", () => {
  const named = [...read("SECURITY.md").matchAll(/`(test\/[^`]+)`/g)].map((match) => match[1]!);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test("npm ci takes the lock file, and neither npm 10 nor 11 rewrites it (else: npm run lock:complete)", () => {
  const lock = JSON.parse(read("package-lock.json"));
  expect(missingOptionals(lock)).toEqual([]);
  expect(lock).toEqual(completed(lock));
});

test("only Moleculer's own packages ask for a newer Node than the oldest that can install the service", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { engines?: { node?: string } }>;
  };
  const oldest = Number(/\d+/.exec(packageJson.engines.node)![0]);
  // The lowest version that each range allows; "^20.19 || >=22" begins at 20.
  const lowest = (range: string) => Math.min(...range.split("||").map((part) => Number(/\d+/.exec(part)?.[0] ?? 0)));
  const newer = Object.entries(packages)
    .filter(([, { engines }]) => engines?.node && lowest(engines.node) > oldest)
    .map(([path]) => path.replace("node_modules/", ""));
  expect(newer.sort()).toEqual(["moleculer", "moleculer-repl"]);
});
