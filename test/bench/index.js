/**
 * `node test/bench` lists the benches, `node test/bench delivery 50000 20` runs one: with the Node that npm brought where
 * this one is too old to read TypeScript. Plain JavaScript for that reason.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
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
// A database of gigabytes stays where a signal ends the bench: what it writes goes with us.
const TMPDIR = mkdtempSync(join(tmpdir(), "flockmail-bench-"));
const child = spawn(node, [join(folder, `${name}.ts`), ...args], {
  stdio: "inherit",
  env: { ...process.env, TMPDIR },
});
// Ctrl-C reaches both; the bench's end is ours.
process.on("SIGINT", () => {}).on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code) => {
  // Its processes end when they notice, and may write until then.
  rmSync(TMPDIR, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.exit(code ?? 1);
});
