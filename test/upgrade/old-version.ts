/** The code of an earlier version, out of this repository's history, on the packages that are installed here. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDER = join(ROOT, ".cache/versions");

interface Version {
  name: string;
  commit: string;
}
/** The first version whose databases are upgraded: the one with the baseline of the migrations. */
export const FIRST_VERSION: Version = { name: "baseline", commit: "dcc634c0" };

/** Of packages that it needs in another version than what is installed: it would not be what was released. */
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

/** Its folder. Packages are those that are installed here where they are the same, else its own by `npm ci`. */
export async function codeOf({ name, commit }: Version): Promise<string> {
  const folder = join(FOLDER, name);
  if (existsSync(join(folder, "node_modules"))) return folder;
  const known = spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: ROOT }).status === 0;
  if (!known)
    throw new Error(
      `This clone has no commit ${commit}, which is version ${name}: fetch the whole history (git fetch --unshallow).`,
    );
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
