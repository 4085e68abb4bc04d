/**
 * Finds programs for tests and benchmarks on PATH, or unpacks them from Debian packages into .cache/ without installing
 * anything.
 */
import { execFile } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";

const CACHE = resolve(import.meta.dirname, "../../.cache/debian");
const FETCH = join(import.meta.dirname, "fetch-debian.sh");
const FETCH_TIMEOUT_MS = 900_000;

export interface Program {
  path: string;
  /** Variables that the program needs besides its parent's environment. */
  env: Record<string, string>;
}

/** Folders in which Debian packages put programs; sbin is often missing from a user's PATH. */
const FOLDERS = ["usr/bin", "usr/sbin", "bin", "sbin", "usr/lib/postgresql/15/bin"];

function executable(folders: string[], name: string): string | undefined {
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const others = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/lib/postgresql/15/bin"];
  return executable([...folders, ...others], name);
}

/** Folders below `root` with shared libraries: usr/lib, its architecture folders and the package's own. */
export function libraryFolders(root: string): string[] {
  return ["usr/lib", "lib"].flatMap((lib) => {
    try {
      const inside = readdirSync(join(root, lib), { withFileTypes: true }).filter((entry) => entry.isDirectory());
      return [join(root, lib), ...inside.map((entry) => join(root, lib, entry.name))];
    } catch {
      return [];
    }
  });
}

/** The folder into which these packages are unpacked; `name` is their purpose. */
export async function unpackedFolder(name: string, packages: string[], suite?: string): Promise<string> {
  const root = join(CACHE, `${suite ? `${suite}-` : ""}${packages[0]}`);
  try {
    const env = { ...process.env, ...(suite ? { SUITE: suite } : {}) };
    await promisify(execFile)(FETCH, [root, ...packages], { timeout: FETCH_TIMEOUT_MS, env });
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    throw new Error(
      `${name} is neither on PATH nor could it be fetched: install it (on Debian: apt-get install ${packages[0]}). ${reason}`,
    );
  }
  return root;
}

async function unpacked(name: string, packages: string[], suite?: string): Promise<{ root: string; path: string }> {
  const root = await unpackedFolder(name, packages, suite);
  const path = executable(
    FOLDERS.map((folder) => join(root, folder)),
    name,
  );
  if (!path) throw new Error(`The Debian packages ${packages.join(", ")} hold no ${name}`);
  return { root, path };
}

async function fetched(name: string, packages: string[]): Promise<Program> {
  const { root, path } = await unpacked(name, packages);
  return { path, env: { LD_LIBRARY_PATH: libraryFolders(root).join(delimiter) } };
}

/** A Python library for this machine's interpreter, and the command that runs a script with it. */
export async function pythonWith(packages: string[]): Promise<Program> {
  const root = await unpackedFolder(packages[0]!, packages);
  const env = {
    PYTHONPATH: join(root, "usr/lib/python3/dist-packages"),
    LD_LIBRARY_PATH: libraryFolders(root).join(delimiter),
  };
  // Another interpreter on PATH may have a version that the packages do not support.
  return { path: executable(["/usr/bin"], "python3") ?? "python3", env };
}

/** A program of another Debian release, run with that release's own loader and libraries. */
export async function programOf(suite: string, name: string, packages: string[]): Promise<string[]> {
  const { root, path } = await unpacked(name, packages, suite);
  const folders = libraryFolders(root);
  const loader = folders
    .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .find((file) => /\/ld-linux-[^/]+\.so\.\d+$/.test(file));
  if (!loader) throw new Error(`The packages of ${suite} contain no loader`);
  return [loader, "--library-path", folders.join(delimiter), path];
}

/** Finds a program by name; `packages` are the Debian packages that contain it, the eponymous one first. */
export async function program(name: string, packages: string[]): Promise<Program> {
  const path = onPath(name);
  return path ? { path, env: {} } : fetched(name, packages);
}
