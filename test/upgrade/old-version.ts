/** Checks out an earlier version from this repository's history. Uses the packages installed here if they match. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDER = join(ROOT, ".cache/versions");

interface Version {
  name: string;
  commit: string;
}

/** The first version whose databases can be upgraded: the last commit that changed the baseline migration. */
export function firstVersion(): Version {
  const args = ["log", "-1", "--format=%H", "--", "models/migrations/0001_baseline.sql"];
  const commit = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  if (commit === "") throw new Error("No git history here: clone the repository to test an upgrade.");
  return { name: `baseline-${commit.slice(0, 12)}`, commit };
}

/** Packages that the version needs and that are not installed here in that version. */
function foreignPackages(folder: string): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return Object.entries(dependencies).flatMap(([name, wanted]) => {
    const file = join(ROOT, "node_modules", name, "package.json");
    const installed = existsSync(file)
      ? (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version
      : "none";
    return installed === wanted ? [] : [`${name} ${wanted} (installed: ${installed})`];
  });
}

/** The version's folder, with the packages installed here if they are equal, else it installs its own with `npm ci`. */
export async function checkOut({ name, commit }: Version): Promise<string> {
  const folder = join(FOLDER, name);
  if (existsSync(join(folder, "node_modules"))) return folder;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const run = promisify(execFile);
  await run("sh", ["-c", `git archive ${commit} | tar x -C "$1"`, "sh", unfinished], { cwd: ROOT });
  if (foreignPackages(unfinished).length === 0)
    symlinkSync(realpathSync(join(ROOT, "node_modules")), join(unfinished, "node_modules"));
  else await run("npm", ["ci", "--omit=dev"], { cwd: unfinished });
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
  return folder;
}
