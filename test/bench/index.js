/**
 * `node test/bench` lists the benches, `node test/bench delivery 50000 20` runs one: with the Node that npm brought where
 * this one is too old to read TypeScript. Plain JavaScript for that reason.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const head = (file) => /\/\*\*([\s\S]*?)\*\//.exec(readFileSync(join(folder, file), "utf8"))?.[1] ?? "";

/** Usage by name, of the files that say how they are run; the others are modules of theirs. */
const benches = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const usage = /`?(node test\/bench ([\w-]+)[^`\n]*)/.exec(head(file));
      return usage ? [[usage[2], usage[1]]] : [];
    }),
);

const [name, ...args] = process.argv.slice(2);
if (!name || !benches.has(name)) {
  process.stderr.write(`Usage:\n${[...benches.values()].map((usage) => `  ${usage}\n`).join("")}`);
  process.exit(name ? 64 : 0);
}

const bundled = join(folder, "../../node_modules/.bin/node");
const node = existsSync(bundled) ? bundled : process.execPath;
// As `npm start` and the image do before a process starts.
const strip = join(folder, "../../services/lib/processes/stripped/strip.js");
spawnSync(node, ["--disable-warning=ExperimentalWarning", strip], { stdio: "inherit" });
const child = spawn(node, [join(folder, `${name}.ts`), ...args], { stdio: "inherit" });
// Ctrl-C reaches both; the bench stops what it started, and its end is ours.
process.on("SIGINT", () => {}).on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code) => process.exit(code ?? 1));
