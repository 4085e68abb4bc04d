/** `npm run -s release -- 0.2.0 [--dry-run] [--build]`, explained in README.md in this folder. */
import { spawnSync } from "node:child_process";
import { join, relative } from "node:path";
import { localBuild, publishing, type Revision } from "./commands.ts";
import { Refused } from "./edits.ts";
import { plan, release } from "./release.ts";

const USAGE_ERROR = 64;
const ROOT = join(import.meta.dirname, "../..");

const print = (line: string) => process.stdout.write(`${line}\n`);

/** The first installed of docker and podman. */
function builder(): "docker" | "podman" {
  const found = (["docker", "podman"] as const).find(
    (name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0,
  );
  if (!found) throw new Refused("--build needs docker or podman on PATH.");
  return found;
}

function main(words: string[]): number {
  const [version, ...others] = words.filter((word) => !word.startsWith("--"));
  const options = words.filter((word) => word.startsWith("--"));
  if (!version || others.length || options.some((option) => option !== "--dry-run" && option !== "--build")) {
    process.stderr.write("Usage: npm run -s release -- VERSION [--dry-run] [--build]\n");
    return USAGE_ERROR;
  }
  const program = options.includes("--build") ? builder() : undefined;
  const planned = plan(ROOT, version, new Date().toISOString().slice(0, 10));
  print(`${planned.present} becomes ${version} in:`);
  for (const file of planned.files.keys()) print(`  ${file}`);
  if (planned.left.length) print("These lines contain the old version and stay unchanged:");
  for (const line of planned.left) print(`  ${line}`);
  if (options.includes("--dry-run")) {
    print(`\n${planned.notes}\n\nDry run: nothing was written.`);
    return 0;
  }

  const { commit, committedAt, tag, folder } = release(planned);
  print(
    `Committed ${commit.slice(0, 12)}, tagged ${tag}; in ${relative(ROOT, folder)}: notes.md, sbom.cdx.json, licences.txt.`,
  );
  const revision: Revision = { version, commit, committedAt };
  if (program) {
    const [command, ...args] = localBuild(ROOT, program, revision);
    if (spawnSync(command!, args, { cwd: ROOT, stdio: "inherit" }).status !== 0) {
      process.stderr.write("The image was not built; commit and tag stay.\n");
      return 1;
    }
  }
  print("\nNothing was pushed. To publish it:\n");
  for (const line of publishing(ROOT, revision, relative(ROOT, folder))) print(line);
  return 0;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
