/** Under which licences stands what the service needs to run, and which of these may be used here. */
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
  /** As SPDX writes it; empty where the package says nothing that can be read. */
  licence: string;
  /** Comes with `npm install` on some systems, and is left out of the image: a Node and a PostgreSQL for laptops. */
  optional: boolean;
}

/**
 * Licences that ask for no more than what is done anyway: every package keeps its folder with its licence and notices, in the
 * image too, and no package's own files are changed. None asks for the source of what uses it; those that do (GPL, AGPL,
 * LGPL, EUPL, SSPL) and those that forbid uses are not here. MPL-2.0 would do for unchanged files; nothing needs it yet.
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
 * Packages whose licence is not in the lock, or not in SPDX's words; each read in the package's own files. By version, so that another
 * one is read again.
 */
export const READ_BY_HAND: Readonly<Record<string, string>> = {
  "busboy@1.6.0": "MIT",
  "cli-color@0.3.2": "MIT",
  "clui@0.3.6": "MIT",
  "slick@1.12.2": "MIT",
  "streamsearch@1.1.0": "MIT",
};

/** Whether the image installs it: not for development alone, and not for some systems alone. */
const isNeeded = ({ dev, optional, devOptional }: LockedPackage): boolean => !dev && !optional && !devOptional;

/** All that a lock brings beside what only development needs; the same name and version once. */
export function productionPackages(lock: Lock): ProductionPackage[] {
  const found = new Map<string, ProductionPackage>();
  for (const [path, one] of Object.entries(lock.packages)) {
    // The service itself; what only development needs.
    if (!path || one.dev) continue;
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const { version = "", license = "" } = one;
    const id = `${name}@${version}`;
    const optional = !isNeeded(one) && (found.get(id)?.optional ?? true);
    found.set(id, { name, version, licence: READ_BY_HAND[id] ?? license, optional });
  }
  return [...found.values()].sort(
    (a, b) => a.name.localeCompare(b.name, "en") || a.version.localeCompare(b.version, "en"),
  );
}

/** Whether an SPDX expression can be met by allowed licences alone: one of those joined by OR, all of those joined by AND. */
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

/** What the image has. */
export const neededPackages = (lock: Lock): ProductionPackage[] =>
  productionPackages(lock).filter(({ optional }) => !optional);

/** The list that goes with a release: one package a line, and how many there are of each licence. */
export function licenceList(lock: Lock, version: string): string {
  const packages = neededPackages(lock);
  const counts = [...Map.groupBy(packages, ({ licence }) => licence)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([licence, { length }]) => `${length} ${licence}`);
  const head = `Packages that Flockmail ${version} needs to run, and their licences. The text of each stands in the package's folder.`;
  return `${head}\n\n${licenceTable(packages)}\n\n${counts.join("\n")}\n`;
}
