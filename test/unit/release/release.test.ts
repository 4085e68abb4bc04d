/** A release in a temporary repository made of this one's files, and consistent versions in this one's files. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { localBuild, publishing } from "../../../scripts/release/commands.ts";
import {
  checkGreater,
  namesVersion,
  releasedChangelog,
  unreleasedNotes,
  versionsIn,
  withVersion,
} from "../../../scripts/release/edits.ts";
import { type Lock, neededPackages } from "../../../scripts/release/licences.ts";
import { plan, release } from "../../../scripts/release/release.ts";
import { node } from "../../support/service-process.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const DATE = "2026-11-24";
const CHANGELOG = `# Changelog

## [Unreleased]

### Upgrading from 3.4.5
Back up first.

### Added
- A thing.

## [3.4.5] - 2026-11-21

### Added
- All of it.
`;
const CHART = `apiVersion: v2
name: flockmail
version: 3.4.5
appVersion: "3.4.5"
kubeVersion: ">=1.29.0-0"
`;

const inRoot = (file: string) => readFileSync(join(ROOT, file), "utf8");
const { version: here } = JSON.parse(inRoot("package.json")) as { version: string };
const naming = globSync("{*.md,docs/*.md,package*.json,k8s/**/*.{md,yaml}}", { cwd: ROOT }).filter(namesVersion);

describe("this repository", () => {
  test("says one version in all places that a release changes", () => {
    expect(naming).toEqual(
      expect.arrayContaining(["package.json", "package-lock.json", "k8s/overlays/small/kustomization.yaml"]),
    );
    for (const file of naming) {
      // Refuses a file that lacks the version.
      expect([file, withVersion(file, inRoot(file), here, here)]).toEqual([file, inRoot(file)]);
      expect(versionsIn(file, inRoot(file), here).filter((found) => found !== here)).toEqual([]);
      const tags = [...inRoot(file).matchAll(/flockmail:(\d+\.\d+\.\d+)/g)].map(([, tag]) => tag);
      expect(tags.filter((tag) => tag !== here)).toEqual([]);
    }
  });

  test("refuses a version that is not greater, in one line", () => {
    const { status, stderr } = spawnSync(node, [join(ROOT, "scripts/release/run.ts"), "0.0.1"], { encoding: "utf8" });
    expect([status, stderr]).toEqual([1, `0.0.1 is not greater than ${here}, the version in package.json.\n`]);
  });
});

test.each([
  ["0.1.1", "0.1.0"],
  ["0.2.0", "0.1.9"],
  ["1.0.0", "0.99.99"],
  ["0.10.0", "0.9.0"],
])("%s is greater than %s, and not the other way round", (greater, lower) => {
  expect(() => checkGreater(greater, lower)).not.toThrow();
  expect(() => checkGreater(lower, greater)).toThrow("is not greater than");
  expect(() => checkGreater(greater, greater)).toThrow("is not greater than");
  for (const none of ["v0.2.0", "1.2", "1.2.3-rc.1", "latest"])
    expect(() => checkGreater(none, lower)).toThrow("not a version");
});

test("the unreleased section becomes the version's, and a version without entries is refused", () => {
  const released = releasedChangelog(CHANGELOG, "3.5.0", DATE);
  expect(released).toContain(
    "## [Unreleased]\n\n## [3.5.0] - 2026-11-24\n\n### Upgrading from 3.4.5\nBack up first.\n",
  );
  expect(unreleasedNotes(CHANGELOG)).toBe("### Upgrading from 3.4.5\nBack up first.\n\n### Added\n- A thing.");
  expect(() => unreleasedNotes(released)).toThrow("nothing to release");
  expect(() => unreleasedNotes("# Changelog\n\n## [Unreleased]\n\n### Added\n")).toThrow("nothing to release");
});

test("commands in documents get the new tag, and versions of other things stay", () => {
  const text =
    "docker pull registry.example.com/flockmail:3.4.5\nhelm install flockmail x --version 3.4.5 # since 3.4.5; nats:3.4.5";
  expect(withVersion("docs/kubernetes.md", text, "3.4.5", "4.0.0")).toBe(
    "docker pull registry.example.com/flockmail:4.0.0\nhelm install flockmail x --version 4.0.0 # since 3.4.5; nats:3.4.5",
  );
  expect(() =>
    withVersion("package.json", '{\n  "name": "flockmail",\n  "version": "3.4.4"\n}', "3.4.5", "4.0.0"),
  ).toThrow("package.json must contain the version 3.4.5 once");
});

describe("a release in a repository", () => {
  let root: string;
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const state = () => [git("log", "--format=%H"), git("tag"), git("status", "--porcelain")];
  const commit = () => {
    git("add", "--all");
    git("commit", "--quiet", "--message", "Change");
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "flockmail-release-"));
    for (const file of naming) cpSync(join(ROOT, file), join(root, file), { recursive: true });
    for (const file of naming) write(file, withVersion(file, read(file), here, "3.4.5"));
    write("CHANGELOG.md", CHANGELOG);
    write(".gitignore", ".cache/\n");
    write("services/old.ts", "/** Nodes of version 3.4.5 send it. */\n");
    write("SECURITY.md", "Since 3.4.5.\nNot 13.4.5, 3.4.50, 3.4.5.6.\n");
    write("k8s/chart/Chart.yaml", CHART);
    setScripts("{}");
    git("init", "--quiet", "--initial-branch", "main");
    for (const [name, value] of [
      ["user.name", "A"],
      ["user.email", "a@example.com"],
      ["core.hooksPath", "/dev/null"],
    ])
      git("config", name!, value!);
    commit();
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function setScripts(scripts: string): void {
    write(
      "package.json",
      read("package.json").replace(/"scripts": \{.*?\n {2}\}/s, () => `"scripts": ${scripts}`),
    );
  }

  test("is one commit with the version in every place, an annotated tag, and its files", () => {
    const planned = plan(root, "3.5.0", DATE);
    // A plan (--dry-run) writes nothing.
    expect(git("status", "--porcelain")).toBe("");
    expect(planned.left).toEqual(["SECURITY.md:1: Since 3.4.5."]);
    const { commit: id, tag, folder } = release(planned);

    expect(git("status", "--porcelain")).toBe("");
    expect(git("log", "-1", "--format=%H %s")).toBe(`${id} Release 3.5.0`);
    expect([tag, git("cat-file", "-t", tag), git("rev-parse", `${tag}^{commit}`)]).toEqual(["v3.5.0", "tag", id]);
    const changed = git("show", "--name-only", "--format=").split("\n");
    expect(changed).toEqual(
      expect.arrayContaining(["CHANGELOG.md", "package.json", "package-lock.json", "k8s/chart/Chart.yaml"]),
    );
    for (const file of naming) expect(withVersion(file, read(file), "3.5.0", "3.5.0")).toBe(read(file));
    expect(read("k8s/chart/Chart.yaml")).toBe(CHART.replaceAll("3.4.5", "3.5.0"));
    expect(read("services/old.ts")).toContain("3.4.5");
    expect(JSON.parse(read("package-lock.json")).packages[""].version).toBe("3.5.0");

    const sbom = JSON.parse(readFileSync(join(folder, "sbom.cdx.json"), "utf8"));
    expect([sbom.bomFormat, sbom.metadata.component.name, sbom.metadata.component.version]).toEqual([
      "CycloneDX",
      "flockmail",
      "3.5.0",
    ]);
    const listed = sbom.components.map(
      ({ group, name, version }: Record<string, string>) => `${group ? `${group}/` : ""}${name}@${version}`,
    );
    const lock = JSON.parse(read("package-lock.json")) as Lock;
    expect([...new Set(listed)].sort()).toEqual(
      neededPackages(lock)
        .map(({ name, version }) => `${name}@${version}`)
        .sort(),
    );
    expect(readFileSync(join(folder, "licences.txt"), "utf8")).toMatch(/^busboy 1\.6\.0: MIT$/m);
    expect(readFileSync(join(folder, "notes.md"), "utf8")).toContain("- A thing.\n");
  }, 180_000);

  test("is refused with nothing changed if it cannot be made", () => {
    const refused = (version: string, reason: string) => {
      const before = state();
      expect(() => plan(root, version, DATE)).toThrow(reason);
      expect(state()).toEqual(before);
    };
    refused("3.4.5", "not greater");
    write("forgotten.ts", "");
    refused("3.5.0", "forgotten.ts");
    rmSync(join(root, "forgotten.ts"));
    git("tag", "v3.5.0");
    refused("3.5.0", "tag v3.5.0 already exists");
    git("tag", "--delete", "v3.5.0");
    git("checkout", "--quiet", "--detach");
    refused("3.5.0", "No branch");
    git("checkout", "--quiet", "main");
    write("CHANGELOG.md", CHANGELOG.replace("- A thing.", ""));
    commit();
    refused("3.5.0", "nothing to release");
  });

  test("leaves the files as they were, without commit and tag, if a step fails", () => {
    // Generates the chart if there is a script for it.
    setScripts('{ "chart": "touch k8s/chart/half-done.yaml; exit 3" }');
    commit();
    const before = state();
    expect(() => release(plan(root, "3.5.0", DATE))).toThrow("npm run --silent chart failed");
    expect(read("package.json")).toContain('"version": "3.4.5"');
    expect(existsSync(join(root, "k8s/chart/half-done.yaml"))).toBe(false);
    expect(state()).toEqual(before);
  });

  test("prints the commands that publish, with the tag, both processors, the commit and the chart", () => {
    const revision = { version: "3.5.0", commit: "4f2a", committedAt: 1_795_500_000 };
    const [push, build, ...chart] = publishing(root, revision, ".cache/release/3.5.0");
    expect(push).toBe("git push origin HEAD v3.5.0");
    expect(build).toMatch(
      /^docker buildx build --platform linux\/amd64,linux\/arm64 .* --tag registry\.example\.com\/flockmail:3\.5\.0 \.$/,
    );
    for (const word of [
      "VERSION=3.5.0",
      "REVISION=4f2a",
      "CREATED=2026-11-24T06:00:00.000Z",
      "SOURCE_DATE_EPOCH=1795500000",
    ]) {
      expect(build).toContain(`--build-arg ${word} `);
    }
    expect(chart).toEqual([
      "helm package k8s/chart --destination .cache/release/3.5.0",
      "helm push .cache/release/3.5.0/flockmail-3.5.0.tgz oci://registry.example.com/charts",
    ]);
    rmSync(join(root, "k8s/chart"), { recursive: true });
    expect(publishing(root, revision, "x")).toHaveLength(2);
    expect(localBuild(root, "podman", revision)).toEqual(
      expect.arrayContaining(["podman", "build", "--format", "docker"]),
    );
    expect(localBuild(root, "docker", revision)).not.toContain("--timestamp");
  });
});
