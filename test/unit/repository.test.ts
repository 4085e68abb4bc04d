import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { completed, missingOptionals } from "../../scripts/complete-lock.ts";
import { configTable } from "../../scripts/write-config-table.ts";
import { headingId } from "../../services/gateway/guides/markdown.ts";
import { localCommands } from "../../services/operator/backup-commands.ts";
import { commands } from "../../services/operator/commands.ts";
import { MEMORY } from "../support/service-process.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const packageJson = JSON.parse(read("package.json")) as { scripts: Record<string, string>; engines: { node: string } };
const { scripts } = packageJson;

test("the table in docs/configuration.md is the schema's (else: npm run config:table)", () => {
  expect(read("docs/configuration.md")).toContain(`<!-- config:table -->\n${configTable()}\n<!-- /config:table -->`);
});

test("npm start, the image and the tests bound memory alike", () => {
  const { MALLOC_ARENA_MAX, NODE_OPTIONS } = MEMORY;
  const set = `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} NODE_OPTIONS="${NODE_OPTIONS}`;
  expect(scripts.start).toContain(`${set} `);
  expect(read("Dockerfile")).toContain(`${set}"`);
});

test("the image contains each folder from which the service is started, and no others", () => {
  const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
    names!.split(" ").map((name) => name.split("/")[0]!),
  );
  const allowed = read(".dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  expect(copied.filter((name, i) => copied.indexOf(name) === i).sort()).toEqual(allowed.sort());
  expect(copied.filter((name) => !existsSync(join(root, name)))).toEqual([]);
});

const DOCUMENTS = globSync("{*.md,docs/*.md,{services,k8s,scripts}/**/README.md}", { cwd: root });

test.each(DOCUMENTS)("every npm script named in %s exists", (file) => {
  const named = [...read(file).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map((match) => match[1]!);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

/** The ids of a document's headings. */
const headingsOf = (file: string) =>
  [...read(file).matchAll(/^#{2,} (.+)$/gm)].map(([, heading]) => headingId(heading!.replaceAll(/[`*]/g, "")));

test.each(DOCUMENTS)("every link of %s leads to a file and a heading that exist", (file) => {
  const links = [...read(file).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].map(([, path, heading]) => ({
    target: path ? join(file, "..", path) : file,
    heading,
  }));
  const isBroken = ({ target, heading }: (typeof links)[number]) =>
    !existsSync(join(root, target)) || (heading !== undefined && !headingsOf(target).includes(heading));
  expect(links.filter(isBroken)).toEqual([]);
});

test("docs/operations.md names every operators' command", () => {
  const names = [...commands, ...localCommands].map(({ name }) => name);
  const text = read("docs/operations.md");
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test("every test that SECURITY.md points at exists", () => {
  const named = [...read("SECURITY.md").matchAll(/`(test\/[^`]+)`/g)].map((match) => match[1]!);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

/** Cells of rows in Markdown tables. */
const rowsOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2, -2).split(" | "));

/** Files named in a cell that do not exist, and symbols missing from the file named for them. */
function missingIn(cell: string, folders: readonly string[]): string[] {
  const pathOf = (name: string, beside = ""): string | undefined =>
    [...folders, beside].map((folder) => join(root, folder, name)).find((path) => existsSync(path));
  const missing: string[] = [];
  let folder = "";
  for (const [, name] of cell.matchAll(/`([\w./-]+(?:\.(?:ts|js|md|sql|sh)|\/))`/g)) {
    const path = pathOf(name!, folder);
    if (!path) missing.push(name!);
    if (name!.includes("/")) folder = name!.replace(/[^/]*$/, "");
  }
  for (const [, symbol, name] of cell.matchAll(/`([\w.#]+)(?:\(\))?` in `([\w./-]+\.\w+)`/g)) {
    const path = pathOf(name!, folder);
    const words = symbol!.split(/\.#?/);
    const text = path ? readFileSync(path, "utf8") : "";
    if (!words.every((word) => new RegExp(`\\b${word}\\b`).test(text))) missing.push(`${symbol} in ${name}`);
  }
  return missing;
}

test("CONTRIBUTING.md names only existing files and symbols", () => {
  expect(
    read("CONTRIBUTING.md")
      .split("\n")
      .flatMap((line) => missingIn(line, ["services", "services/console", ""])),
  ).toEqual([]);
  // Tests the check itself.
  expect(missingIn("`nowhere.ts`; `neverThere` in `models/sent-email.ts`", [""])).toEqual([
    "nowhere.ts",
    "neverThere in models/sent-email.ts",
  ]);
});

test("services/README.md names only existing files and symbols", () => {
  const text = read("services/README.md");
  const named = text.split("\n\n").flatMap((paragraph) => missingIn(paragraph.replaceAll("\n", " "), ["services", ""]));
  expect(named).toEqual([]);
  expect(text.match(/`[\w./-]+\.ts`/g)!.length).toBeGreaterThan(30);
});

test("the sender's README names only existing files and constants", () => {
  const folder = "services/smtp-sender";
  const text = read(`${folder}/README.md`);
  expect(rowsOf(text).flatMap((cells) => cells.flatMap((cell) => missingIn(cell, [folder, ""])))).toEqual([]);
  const limits = rowsOf(/\n## Limits\n(.*?)\n### /s.exec(text)![1]!).slice(1);
  const code = [folder, "services/lib/config.ts", "models/statements"]
    .flatMap((place) =>
      place.endsWith(".ts")
        ? [place]
        : readdirSync(join(root, place), { recursive: true, encoding: "utf8" }).map((file) => join(place, file)),
    )
    .filter((file) => file.endsWith(".ts"))
    .map(read)
    .join("\n");
  const named = limits.flatMap(([, , setting]) => [...setting!.matchAll(/`(\w+)`/g)].map((match) => match[1]!));
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});

test("npm ci accepts the lock file, and neither npm 10 nor 11 rewrites it (else: npm run lock:complete)", () => {
  const lock = JSON.parse(read("package-lock.json"));
  expect(missingOptionals(lock)).toEqual([]);
  expect(lock).toEqual(completed(lock));
});

test("only Moleculer's own packages require a newer Node than the oldest that can install the service", () => {
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
