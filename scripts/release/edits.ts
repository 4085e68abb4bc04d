/** Changes that a new version makes to the repository's files, as pure functions on texts. */

export class Refused extends Error {}

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

function partsOf(version: string): [number, number, number] {
  const parts = VERSION.exec(version);
  if (!parts) throw new Refused(`${version} is not a version: use three numbers, as in 1.2.3.`);
  return [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

/** Refuses a version that is not greater than the current one. */
export function checkGreater(version: string, present: string): void {
  const [to, from] = [partsOf(version), partsOf(present)];
  const differs = to.findIndex((part, n) => part !== from[n]);
  if (differs < 0 || to[differs]! < from[differs]!) {
    throw new Refused(`${version} is not greater than ${present}, the version in package.json.`);
  }
}

const UNRELEASED = "## [Unreleased]\n";

/** The text between the heading "Unreleased" and the next version, trimmed. */
export function unreleasedNotes(changelog: string): string {
  const at = changelog.indexOf(UNRELEASED);
  if (at < 0) throw new Refused("CHANGELOG.md has no section Unreleased.");
  const rest = changelog.slice(at + UNRELEASED.length);
  const end = rest.search(/^## /m);
  const notes = (end < 0 ? rest : rest.slice(0, end)).trim();
  if (!/^- \S/m.test(notes))
    throw new Refused("The section Unreleased of CHANGELOG.md is empty: there is nothing to release.");
  return notes;
}

/** Moves the unreleased changes to the version and starts an empty section. */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  unreleasedNotes(changelog);
  return changelog.replace(UNRELEASED, () => `${UNRELEASED}\n## [${version}] - ${date}\n`);
}

const escaped = (text: string) => text.replaceAll(/[.+]/g, "\\$&");

/** package.json has the version after the package's name once, package-lock.json twice. */
const inPackage = (present: string) =>
  new RegExp(`(?<="name": "flockmail",\\n\\s+"version": ")${escaped(present)}(?=")`, "g");
const inOverlay = (present: string) => new RegExp(`(?<=^\\s*newTag: "?)${escaped(present)}(?="?$)`, "gm");
/** An image tag or chart version in a command. */
const inCommands = (present: string) => new RegExp(`(?<=flockmail:|--version )${escaped(present)}(?!\\d|\\.\\d)`, "g");
/** Replaces any version: a chart forgotten once catches up. */
const inChart = () => /(?<=^(?:version|appVersion): "?)[^"\s]+(?="?$)/gm;

interface VersionRule {
  /** Paths as `git ls-files` prints them. */
  files: RegExp;
  version: (present: string) => RegExp;
  /** Required number of occurrences in each file; undefined allows any. */
  times?: number;
}

/** The API document, the console and the pages read package.json, so they are not listed. */
const VERSION_RULES: readonly VersionRule[] = [
  { files: /^package\.json$/, version: inPackage, times: 1 },
  { files: /^package-lock\.json$/, version: inPackage, times: 2 },
  { files: /^k8s\/overlays\/[^/]+\/kustomization\.yaml$/, version: inOverlay, times: 1 },
  { files: /^k8s\/chart\/Chart\.yaml$/, version: inChart, times: 2 },
  { files: /^(?:README|CONTRIBUTING|docs\/[\w-]+|k8s\/(?:.+\/)?README)\.md$/, version: inCommands },
];

/** The pattern for this file's version; undefined if it contains none. */
const ruleOf = (file: string) => VERSION_RULES.find(({ files }) => files.test(file));

export const namesVersion = (file: string): boolean => ruleOf(file) !== undefined;

/** Versions in the file that equal the current one, or in a chart all of them. */
export const versionsIn = (file: string, text: string, present: string): string[] =>
  text.match(ruleOf(file)!.version(present)) ?? [];

/** The file's text with the new version. Refuses a wrong number of occurrences. */
export function withVersion(file: string, text: string, present: string, version: string): string {
  const { times } = ruleOf(file)!;
  const found = versionsIn(file, text, present).length;
  if (times !== undefined && found !== times) {
    throw new Refused(
      `${file} must contain the version ${present} ${times === 1 ? "once" : `${times} times`}, but contains it ${found} times.`,
    );
  }
  return text.replace(ruleOf(file)!.version(present), () => version);
}
