/** Finds the licences of all packages that the service needs to run, and which licences are allowed. */
import { licenceTable } from "../image/describe-packages.ts";

interface LockedPackage {
  version?: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export interface Lock {
  packages: Record<string, LockedPackage>;
}

export interface ProductionPackage {
  name: string;
  version: string;
  /** Licence in SPDX notation; empty if the package states nothing readable. */
  licence: string;
  /**
   * True for packages that `npm install` installs on some systems and the image omits: Node and PostgreSQL for laptops,
   * and sharp's binaries for other systems.
   */
  optional: boolean;
}

/**
 * Licences whose conditions are met anyway: every package keeps its folder with licence and notices, in the image too,
 * and no package's files are changed. Licences that require source code of the programs using them (GPL, AGPL, EUPL,
 * SSPL) or forbid uses are not allowed. MPL-2.0 would be acceptable for unchanged files, but no package has it yet. LGPL
 * is only acceptable for a shared library in a package of its own, see LIBRARIES.
 */
export const ALLOWED: Readonly<Record<string, string>> = {
  "Apache-2.0": "the service's own; keep licence and notices",
  MIT: "keep the notice",
  ISC: "keep the notice",
  "BSD-2-Clause": "keep the notice",
  "BSD-3-Clause": "keep the notice; no advertising with the authors' names",
  "BlueOak-1.0.0": "keep the licence, or a link to it",
  "MIT-0": "no condition",
  "0BSD": "no condition",
  "CC0-1.0": "no condition",
  Unlicense: "no condition",
};

/**
 * Packages under the LGPL: sharp's build of libvips, a shared library that is loaded at run time, unchanged, and that
 * another build can replace in its folder. Its readme, which the image keeps, names the licences of all its parts.
 */
const LIBRARIES = /^@img\/sharp-(?:libvips|wasm32|win32)\b/;

/**
 * Packages whose licence is missing from the lock file or not in SPDX notation; each was read in the package's files.
 * Listed by version, so that another version is read again.
 */
export const READ_BY_HAND: Readonly<Record<string, string>> = {
  "busboy@1.6.0": "MIT",
  "cli-color@0.3.2": "MIT",
  "clui@0.3.6": "MIT",
  "slick@1.12.2": "MIT",
  "streamsearch@1.1.0": "MIT",
};

/** sharp's binaries for the image's platforms. */
const IN_IMAGE = /^@img\/sharp-(?:libvips-)?linux-(?:x64|arm64)$/;

/** True if the image contains it: neither for development only nor for other systems only. */
const isNeeded = (name: string, { dev, optional, devOptional }: LockedPackage): boolean =>
  IN_IMAGE.test(name) || (!dev && !optional && !devOptional);

/** All packages of a lock file that are not for development only, without duplicates. */
export function productionPackages(lock: Lock): ProductionPackage[] {
  const found = new Map<string, ProductionPackage>();
  for (const [path, one] of Object.entries(lock.packages)) {
    // Skips the service itself and development packages.
    if (!path || one.dev) continue;
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const { version = "", license = "" } = one;
    const id = `${name}@${version}`;
    const optional = !isNeeded(name, one) && (found.get(id)?.optional ?? true);
    found.set(id, { name, version, licence: READ_BY_HAND[id] ?? license, optional });
  }
  return [...found.values()].sort(
    (a, b) => a.name.localeCompare(b.name, "en") || a.version.localeCompare(b.version, "en"),
  );
}

/** True if allowed licences satisfy an SPDX expression: one of those joined by OR, all of those joined by AND. */
export function isAllowed(expression: string): boolean {
  const words = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const either = (): boolean => {
    let met = all();
    while (words[at] === "OR") {
      at++;
      met = all() || met;
    }
    return met;
  };
  const all = (): boolean => {
    let met = one();
    while (words[at] === "AND") {
      at++;
      met = one() && met;
    }
    return met;
  };
  const one = (): boolean => {
    const word = words[at++];
    if (word !== "(") return word !== undefined && Object.hasOwn(ALLOWED, word);
    const met = either();
    return words[at++] === ")" && met;
  };
  return either() && at === words.length;
}

/** Packages in the image. */
export const neededPackages = (lock: Lock): ProductionPackage[] =>
  productionPackages(lock).filter(({ optional }) => !optional);

/** True if the package's terms permit its use. */
export const isUsable = ({ name, licence }: Pick<ProductionPackage, "name" | "licence">): boolean =>
  isAllowed(LIBRARIES.test(name) ? licence.replace("LGPL-3.0-or-later", "MIT") : licence);

/** The list in a release: one package per line, and a count per licence. */
export function licenceList(lock: Lock, version: string): string {
  const packages = neededPackages(lock);
  const counts = [...Map.groupBy(packages, ({ licence }) => licence)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([licence, { length }]) => `${length} ${licence}`);
  const head = `Packages that Flockmail ${version} needs to run, and their licences. Each package's folder contains the text.`;
  return `${head}\n\n${licenceTable(packages)}\n\n${counts.join("\n")}\n`;
}
