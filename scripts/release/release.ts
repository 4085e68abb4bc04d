/**
 * Prepares a release: checks, changed files, artefacts, commit and tag. Checks everything before it writes, and
 * publishes nothing.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billOfMaterials } from "../image/describe-packages.ts";
import { checkGreater, namesVersion, Refused, releasedChangelog, unreleasedNotes, withVersion } from "./edits.ts";
import { type Lock, licenceList, neededPackages } from "./licences.ts";

/** Typically seconds (npm, chart), but minutes on a busy machine. */
const TOOL_TIMEOUT_MS = 600_000;

/** Packages as in the Dockerfile. Omits those that a development tool also needs; `billOfMaterials` adds them. */
const NPM_SBOM = "sbom --loglevel error --package-lock-only --sbom-format cyclonedx --omit dev --omit optional".split(
  " ",
);

export interface Plan {
  root: string;
  version: string;
  present: string;
  /** Changes of this version, from the changelog. */
  notes: string;
  /** New texts by path, changed files only. */
  files: Map<string, string>;
  /** Other lines that contain the current version and stay as they are. */
  left: string[];
}

export interface Released {
  commit: string;
  /** Seconds since 1970. */
  committedAt: number;
  tag: string;
  /** Folder with notes.md, sbom.cdx.json and licences.txt. Not committed: the lock file determines them. */
  folder: string;
}

function run(root: string, command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: TOOL_TIMEOUT_MS,
      maxBuffer: 2 ** 26,
    });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Refused(`${command} ${args.join(" ")} failed: ${stderr?.trim() || message}`);
  }
}

const linesOf = (text: string) => text.split("\n").filter(Boolean);

/** Throws if the release is impossible; writes nothing. `date` is the changelog's date, such as 2026-11-23. */
export function plan(root: string, version: string, date: string): Plan {
  const readRepositoryFile = (file: string) => readFileSync(join(root, file), "utf8");
  const { version: present } = JSON.parse(readRepositoryFile("package.json")) as { version: string };
  checkGreater(version, present);
  const changed = linesOf(run(root, "git", "status", "--porcelain"));
  if (changed.length) throw new Refused(`There are uncommitted changes:\n${changed.slice(0, 20).join("\n")}`);
  if (run(root, "git", "branch", "--show-current").trim() === "")
    throw new Refused("No branch is checked out, so the commit would belong to none.");
  if (run(root, "git", "tag", "--list", `v${version}`)) throw new Refused(`The tag v${version} already exists.`);

  const changelog = readRepositoryFile("CHANGELOG.md");
  const notes = unreleasedNotes(changelog);
  const tracked = linesOf(run(root, "git", "ls-files"));
  const files = new Map([["CHANGELOG.md", releasedChangelog(changelog, version, date)]]);
  for (const file of tracked.filter(namesVersion)) {
    const text = readRepositoryFile(file);
    const changedText = withVersion(file, text, present, version);
    if (changedText !== text) files.set(file, changedText);
  }
  return { root, version, present, notes, files, left: namedElsewhere(root, files, present) };
}

/** Versions of packages and addresses look alike, so only whole words of documents and manifests match. */
function namedElsewhere(root: string, files: Map<string, string>, present: string): string[] {
  const tracked = linesOf(run(root, "git", "ls-files", "*.md", "*.yaml", "*.yml", "*.json", "Dockerfile"));
  const word = new RegExp(`(?<![\\d.])${present.replaceAll(".", "\\.")}(?!\\d|\\.\\d)`);
  return tracked
    .filter((file) => file !== "CHANGELOG.md" && !file.endsWith("package-lock.json"))
    .flatMap((file) => {
      const text = files.get(file) ?? readFileSync(join(root, file), "utf8");
      return text.split("\n").flatMap((line, n) => (word.test(line) ? [`${file}:${n + 1}: ${line.trim()}`] : []));
    });
}

/** Writes, commits and tags. Restores the files if anything fails. */
export function release({ root, version, files, notes }: Plan): Released {
  const folder = join(root, ".cache/release", version);
  try {
    for (const [file, text] of files) writeFileSync(join(root, file), text);
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts?: Record<string, string>;
    };
    // Other versions in the chart are generated.
    if (scripts?.chart) run(root, "npm", "run", "--silent", "chart");
    writeArtefacts(root, folder, version, notes);
    run(root, "git", "add", "--all");
    run(root, "git", "commit", "--quiet", "--message", `Release ${version}`);
  } catch (error) {
    // The tree was clean, so all changes belong to this release. Adding first includes new files in a rollback.
    run(root, "git", "add", "--all");
    run(root, "git", "reset", "--hard", "--quiet");
    throw error;
  }
  const tag = `v${version}`;
  run(root, "git", "tag", "--annotate", "--message", `Flockmail ${version}`, tag);
  const [commit, committedAt] = run(root, "git", "log", "-1", "--format=%H %ct").trim().split(" ");
  return { commit: commit!, committedAt: Number(committedAt), tag, folder };
}

function writeArtefacts(root: string, folder: string, version: string, notes: string): void {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  mkdirSync(folder, { recursive: true });
  const parts = billOfMaterials(run(root, "npm", ...NPM_SBOM), neededPackages(lock));
  writeFileSync(join(folder, "sbom.cdx.json"), `${JSON.stringify(parts, null, 1)}\n`);
  writeFileSync(join(folder, "licences.txt"), licenceList(lock, version));
  writeFileSync(join(folder, "notes.md"), `${notes}\n`);
}
