/**
 * `node test/bench` lists the benchmarks, `node test/bench delivery 50000 20` runs one. Switches to npm's Node if this
 * one is too old for TypeScript, hence plain JavaScript.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const head = (file) => /\/\*\*([\s\S]*?)\*\//.exec(readFileSync(join(folder, file), "utf8"))?.[1] ?? "";

/** Usage lines by name. Files without a usage line are modules of benchmarks. */
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
// Removed at the end, because a benchmark killed by a signal leaves gigabytes of database.
const TMPDIR = mkdtempSync(join(tmpdir(), "flockmail-bench-"));
const child = spawn(node, [join(folder, `${name}.ts`), ...args], {
  stdio: "inherit",
  env: { ...process.env, TMPDIR },
});
// Ctrl-C reaches both processes; the benchmark's end also ends this one.
process.on("SIGINT", () => {}).on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code) => {
  // Child processes may still write until they notice the end.
  rmSync(TMPDIR, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.exit(code ?? 1);
});
