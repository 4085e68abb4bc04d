/**
 * `node scripts/image/prune-packages.ts node_modules`, during the image build: deletes files of packages that no
 * program loads, and prints their size. Licences stay.
 */
import { existsSync, readdirSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { isLicence, packagesIn } from "./packages.ts";

/** Source maps, documentation and TypeScript: Node loads none of these below node_modules. */
const UNUSED_FILE = /(?:\.map|\.md|\.markdown|\.[cm]?ts|\.flow|\.tsbuildinfo)$/i;
/** Top-level folders only: deeper folders with these names contain code, too (`mime/types`). */
const UNUSED_FOLDER =
  /^(?:tests?|__tests__|docs?|examples?|bench|benchmarks?|coverage|man|\.github|\.husky|\.idea|\.vscode)$/;

export interface Pruned {
  files: number;
  bytes: number;
}

/** Deletes unused files, or the whole folder, then empty folders. */
function prune(folder: string, pruned: Pruned, isUnused: (file: string) => boolean, isRoot = false): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      // Nested packages are pruned separately.
      if (entry.name === "node_modules") continue;
      const all = isRoot && UNUSED_FOLDER.test(entry.name);
      prune(path, pruned, all ? () => true : isUnused);
      if (readdirSync(path).length === 0) rmdirSync(path);
    } else if (isUnused(entry.name) && !isLicence(entry.name)) {
      pruned.files++;
      pruned.bytes += entry.isFile() ? statSync(path).size : 0;
      unlinkSync(path);
    }
  }
}

export function prunePackages(modules: string): Pruned {
  const pruned = { files: 0, bytes: 0 };
  for (const { folder, licenceFiles } of packagesIn(modules)) {
    const kept = new Set(licenceFiles.map((name) => name.toLowerCase()));
    prune(folder, pruned, (file) => UNUSED_FILE.test(file) && !kept.has(file.toLowerCase()), true);
  }
  return pruned;
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (!folder || !existsSync(folder)) throw new Error("Usage: node scripts/image/prune-packages.ts FOLDER");
  const { files, bytes } = prunePackages(folder);
  process.stdout.write(`Removed ${files} files, ${(bytes / 1_048_576).toFixed(1)} MiB\n`);
}
