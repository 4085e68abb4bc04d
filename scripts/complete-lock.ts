/**
 * `npm run lock:complete`, after a change of dependencies: makes package-lock.json acceptable to every npm version.
 * Adds the optional packages that npm omits if the registry has no binaries for other platforms (`npm ci` refuses a
 * lock file without them on any platform), and removes `libc` fields, which npm 11 keeps and npm 10 removes on every
 * `npm install`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Package {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  cpu?: string[];
  os?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}
export interface Lock {
  packages: Record<string, Package>;
}

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "win32"];
const PROCESSORS = ["x64", "arm64", "arm", "ia32", "ppc64", "s390x", "riscv64", "loong64", "wasm32"];

/** True if Node's resolution finds `name` from the package at `from`. */
function located({ packages }: Lock, from: string, name: string): boolean {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    if (packages[`${at ? `${at}/` : ""}node_modules/${name}`]) return true;
    if (!at) return false;
  }
}

export function missingOptionals(lock: Lock): { name: string; version: string; dev: boolean }[] {
  return Object.entries(lock.packages).flatMap(([at, { optionalDependencies = {}, dev = false }]) =>
    Object.entries(optionalDependencies).flatMap(([name, version]) =>
      located(lock, at, name) ? [] : [{ name, version, dev }],
    ),
  );
}

function placeholder(name: string, version: string, dev: boolean): Package {
  const words = name.split("/").at(-1)!.split("-");
  const cpu = PROCESSORS.find((word) => words.includes(word)) ?? "x64";
  const os = SYSTEMS.find((word) => words.includes(word));
  // Fields in npm's order; otherwise the next `npm install` would reorder them.
  return { version, cpu: [cpu], ...(dev ? { dev } : {}), optional: true, ...(os ? { os: [os] } : {}) };
}

export function completed(lock: Lock): Lock {
  const added = missingOptionals(lock).filter(({ version }) => /^\d/.test(version));
  const entries = added.map(
    ({ name, version, dev }) => [`node_modules/${name}`, placeholder(name, version, dev)] as const,
  );
  const packages = [...Object.entries(lock.packages), ...entries].toSorted(([a], [b]) => a.localeCompare(b, "en"));
  const plain = packages.map(([at, { libc: _, ...rest }]) => [at, rest] as const);
  return { ...lock, packages: Object.fromEntries(plain) };
}

if (process.argv[1] === import.meta.filename) {
  const file = join(import.meta.dirname, "../package-lock.json");
  writeFileSync(file, `${JSON.stringify(completed(JSON.parse(readFileSync(file, "utf8"))), null, 2)}\n`);
}
