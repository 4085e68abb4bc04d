/**
 * `npm run reference`: what others make of the OpenAPI document. Redocly and Spectral have nothing to say about it, and what
 * openapi-typescript and @hey-api/openapi-ts generate from it compiles under --strict. The tools are 320 packages and no
 * dependencies of the project: tools/ pins them, and the first run fetches them into .cache/.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { contractOf } from "../../services/contracts.ts";
import { describeApi } from "../../services/gateway/openapi/document.ts";
import { routes } from "../../services/gateway/routes.ts";
import { permissionOf } from "../../services/permissions.ts";

const run = promisify(execFile);
const pinned = join(import.meta.dirname, "tools");
const cache = join(import.meta.dirname, "../../.cache");
const tools = join(cache, "reference-tools");
const out = join(cache, `reference-${process.pid}`);
/** Nothing of what they see goes anywhere. */
const QUIET = {
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  SCARF_ANALYTICS: "false",
  DO_NOT_TRACK: "1",
};
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const say = (line: string) => process.stdout.write(`${line}\n`);
const options = (seconds: number) => ({
  cwd: tools,
  env: { ...process.env, ...QUIET },
  timeout: seconds * 1_000,
  maxBuffer: MAX_OUTPUT_BYTES,
});
const tool = (name: string, args: string[]) => run(join(tools, "node_modules/.bin", name), args, options(300));

/** The lock file that is installed, or nothing. */
const installed = () => readFile(join(tools, "installed.json"), "utf8").catch(() => "");

async function install(): Promise<void> {
  const lock = await readFile(join(pinned, "package-lock.json"), "utf8");
  await mkdir(tools, { recursive: true });
  if ((await installed()) !== lock) {
    for (const file of ["package.json", "package-lock.json"]) await cp(join(pinned, file), join(tools, file));
    // Without scripts: some of the packages would report their installation.
    await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], options(600));
    await writeFile(join(tools, "installed.json"), lock);
  }
  for (const file of ["redocly.yaml", "spectral.yaml"]) await cp(join(pinned, file), join(tools, file));
}

/** A linter's exit status says that there are errors; its report has warnings too. */
async function reportOf(name: string, args: string[]): Promise<string> {
  try {
    return (await tool(name, args)).stdout;
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (stdout) return stdout;
    throw error;
  }
}

interface Finding {
  rule: string;
  message: string;
  at: string;
}

async function redocly(document: string): Promise<Finding[]> {
  const args = ["lint", document, "--config", "redocly.yaml", "--format", "json", "--max-problems", "1000"];
  const { problems } = JSON.parse(await reportOf("redocly", args)) as {
    problems: { ruleId: string; message: string; location: { pointer?: string }[] }[];
  };
  return problems.map(({ ruleId, message, location }) => ({ rule: ruleId, message, at: location[0]?.pointer ?? "" }));
}

async function spectral(document: string): Promise<Finding[]> {
  const args = ["lint", document, "--ruleset", "spectral.yaml", "--format", "json", "--quiet"];
  const found = JSON.parse((await reportOf("spectral", args)) || "[]") as {
    code: string;
    message: string;
    path: (string | number)[];
  }[];
  return found.map(({ code, message, path }) => ({ rule: code, message, at: path.join("/") }));
}

const compile = (files: string[]) =>
  tool("tsc", [
    "--strict",
    "--noEmit",
    "--target",
    "es2022",
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--lib",
    "es2022,dom,dom.iterable",
    "--typeRoots",
    "none",
    ...files,
  ]);

/** What it generated that does not compile, in the compiler's words. */
async function generated(name: string, generate: () => Promise<string>): Promise<Finding[]> {
  const file = await generate();
  try {
    await compile([file]);
    return [];
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    return [{ rule: "tsc --strict", message: stdout ?? String(error), at: name }];
  }
}

async function check(): Promise<boolean> {
  await mkdir(out, { recursive: true });
  const document = join(out, "openapi.json");
  // A server of an example's name would be a warning, and so would localhost.
  const described = describeApi({ routes, contractOf, permissionOf, baseUrl: "https://mail.lantern.example" });
  await writeFile(document, JSON.stringify(described));

  const types = join(out, "types.ts");
  const sdk = join(out, "sdk");
  const checks: [name: string, check: () => Promise<Finding[]>][] = [
    ["Redocly, recommended", () => redocly(document)],
    ["Spectral, oas", () => spectral(document)],
    [
      "openapi-typescript",
      () =>
        generated("openapi-typescript", async () => {
          await tool("openapi-typescript", [document, "--output", types]);
          return types;
        }),
    ],
    [
      "@hey-api/openapi-ts",
      () =>
        generated("@hey-api/openapi-ts", async () => {
          await tool("openapi-ts", ["--input", document, "--output", sdk, "--no-log-file"]);
          return join(sdk, "index.ts");
        }),
    ],
  ];
  let ok = true;
  for (const [name, findings] of checks) {
    const found = await findings();
    if (found.length > 0) ok = false;
    say(`${name}: ${found.length === 0 ? "nothing to say" : `${found.length} findings`}`);
    for (const { rule, message, at } of found) say(`  ${rule}: ${message} (${at})`);
  }
  return ok;
}

try {
  await install();
} catch (error) {
  const { stderr } = error as { stderr?: string };
  say(`Could not fetch the tools that check the reference (is there a network?):\n${stderr ?? String(error)}`);
  // CI says so and goes on; whoever asked for the check did not get it.
  process.exit(process.argv.includes("--if-possible") ? 0 : 1);
}
try {
  process.exitCode = (await check()) ? 0 : 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
