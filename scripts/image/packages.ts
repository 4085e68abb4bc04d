/** Lists the packages in a node_modules folder, and the licence files of each. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Installed {
  /** Path as in the lock file: "node_modules/a/node_modules/b". */
  path: string;
  folder: string;
  name: string;
  version: string;
  /** An SPDX expression, or the package's own words. */
  licence: string;
  /** File names in the package's folder. */
  licenceFiles: string[];
}

const LICENCE = /^(?:licen[cs]es?|copying|copyright|notice|patents)\b/i;
const README = /^readme\b/i;

export const isLicence = (file: string): boolean => LICENCE.test(file);

/** A package without a licence file has its terms in its readme. */
function licenceFilesOf(folder: string): string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const named = (pattern: RegExp) => files.map(({ name }) => name).filter((name) => pattern.test(name));
  const licences = named(LICENCE);
  return (licences.length > 0 ? licences : named(README)).sort();
}

/** Old packages write an object, or several. */
function licenceOf({ license, licenses }: { license?: unknown; licenses?: unknown }): string {
  const all = [license ?? licenses ?? "not stated"].flat();
  return all.map((one) => (typeof one === "string" ? one : (one as { type?: string }).type)).join(" OR ");
}

/** Sorted by path, including nested packages. */
export function packagesIn(modules: string, path = "node_modules"): Installed[] {
  const folders = readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .flatMap(({ name }) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
    );
  return folders.sort().flatMap((name) => {
    const folder = join(modules, name);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const inner = join(folder, "node_modules");
    return [
      {
        path: `${path}/${name}`,
        folder,
        name: manifest.name ?? name,
        version: manifest.version,
        licence: licenceOf(manifest),
        licenceFiles: licenceFilesOf(folder),
      },
      ...(existsSync(inner) ? packagesIn(inner, `${path}/${name}/node_modules`) : []),
    ];
  });
}
