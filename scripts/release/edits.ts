/** What a new version changes in the repository's files, as texts from texts. */

export class Refused extends Error {}

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

function partsOf(version: string): [number, number, number] {
  const parts = VERSION.exec(version);
  if (!parts) throw new Refused(`${version} is no version: three numbers, as in 1.2.3.`);
  return [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

/** Refuses a version that is not behind the present one. */
export function checkGreater(version: string, present: string): void {
  const [to, from] = [partsOf(version), partsOf(present)];
  const differs = to.findIndex((part, n) => part !== from[n]);
  if (differs < 0 || to[differs]! < from[differs]!) {
    throw new Refused(`${version} is not greater than ${present}, which package.json has.`);
  }
}

const UNRELEASED = "## [Unreleased]\n";

/** The text between the heading "Unreleased" and the next version's, without blank lines around it. */
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

/** What was unreleased becomes the version's, and an empty section waits for what comes next. */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  unreleasedNotes(changelog);
  return changelog.replace(UNRELEASED, () => `${UNRELEASED}\n## [${version}] - ${date}\n`);
}

const escaped = (text: string) => text.replaceAll(/[.+]/g, "\\$&");

/** package.json and package-lock.json name it right below the package's own name: once, and twice. */
const inPackage = (present: string) =>
  new RegExp(`(?<="name": "flockmail",\\n\\s+"version": ")${escaped(present)}(?=")`, "g");
const inOverlay = (present: string) => new RegExp(`(?<=^\\s*newTag: "?)${escaped(present)}(?="?$)`, "gm");
/** An image's tag in a command, and the version of the chart that a command asks for. */
const inCommands = (present: string) => new RegExp(`(?<=flockmail:|--version )${escaped(present)}(?!\\d|\\.\\d)`, "g");
/** Whatever stands there: a chart that was forgotten once comes back. */
const inChart = () => /(?<=^(?:version|appVersion): "?)[^"\s]+(?="?$)/gm;

interface Place {
  /** As `git ls-files` names it. */
  files: RegExp;
  version: (present: string) => RegExp;
  /** How often it stands in each of these files; undefined: as often as it does. */
  times?: number;
}

/** The API document, the console and the pages read package.json, so they are not among these. */
const PLACES: readonly Place[] = [
  { files: /^package\.json$/, version: inPackage, times: 1 },
  { files: /^package-lock\.json$/, version: inPackage, times: 2 },
  { files: /^k8s\/overlays\/[^/]+\/kustomization\.yaml$/, version: inOverlay, times: 1 },
  { files: /^k8s\/chart\/Chart\.yaml$/, version: inChart, times: 2 },
  { files: /^(?:README|CONTRIBUTING|docs\/[\w-]+|k8s\/(?:.+\/)?README)\.md$/, version: inCommands },
];

/** Where in the file the version stands that is to be another one; undefined: it names none. */
const placeOf = (file: string) => PLACES.find(({ files }) => files.test(file));

export const namesVersion = (file: string): boolean => placeOf(file) !== undefined;

/** The versions that the file names, where all are the present one or, in a chart, any. */
export const versionsIn = (file: string, text: string, present: string): string[] =>
  text.match(placeOf(file)!.version(present)) ?? [];

/** The file's text with the new version; refuses one that does not name the present one as often as it should. */
export function withVersion(file: string, text: string, present: string, version: string): string {
  const { times } = placeOf(file)!;
  const found = versionsIn(file, text, present).length;
  if (times !== undefined && found !== times) {
    throw new Refused(
      `${file} should name the version ${present} ${times === 1 ? "once" : `${times} times`}, and does ${found} times.`,
    );
  }
  return text.replace(placeOf(file)!.version(present), () => version);
}
