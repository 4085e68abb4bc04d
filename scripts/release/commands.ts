/**
 * Commands that build and publish a release. The person who releases runs them, because they need rights that a script
 * should not have.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PLATFORMS = "linux/amd64,linux/arm64";

export interface Revision {
  version: string;
  commit: string;
  /** Commit time in seconds since 1970, given to files of the image so that builds of a commit are equal. */
  committedAt: number;
}

/** The image name that the cluster overlay pulls; the tag is the version. */
function imageName(root: string): string {
  const overlay = readFileSync(join(root, "k8s/overlays/cluster/kustomization.yaml"), "utf8");
  return /^\s*newName: (\S+)$/m.exec(overlay)![1]!;
}

const argumentsOf = ({ version, commit, committedAt }: Revision): string[] =>
  [
    `VERSION=${version}`,
    `REVISION=${commit}`,
    `CREATED=${new Date(committedAt * 1_000).toISOString()}`,
    `SOURCE_DATE_EPOCH=${committedAt}`,
  ].flatMap((argument) => ["--build-arg", argument]);

/** Builds the image for this machine's processor, with docker or podman. */
export function localBuild(root: string, program: "docker" | "podman", revision: Revision): string[] {
  // podman's own format has no HEALTHCHECK.
  const podmanOptions = program === "podman" ? ["--format", "docker", "--timestamp", String(revision.committedAt)] : [];
  return [
    program,
    "build",
    ...podmanOptions,
    ...argumentsOf(revision),
    "--tag",
    `${imageName(root)}:${revision.version}`,
    ".",
  ];
}

/** Shell commands that push branch and tag, the image for both processors, and the chart if there is one. */
export function publishing(root: string, revision: Revision, folder: string): string[] {
  const image = imageName(root);
  const output = "type=image,push=true,rewrite-timestamp=true";
  const lines = [
    `git push origin HEAD v${revision.version}`,
    `docker buildx build --platform ${PLATFORMS} ${argumentsOf(revision).join(" ")} --provenance=true --sbom=true --output ${output} --tag ${image}:${revision.version} .`,
  ];
  if (existsSync(join(root, "k8s/chart/Chart.yaml"))) {
    lines.push(
      `helm package k8s/chart --destination ${folder}`,
      `helm push ${folder}/flockmail-${revision.version}.tgz oci://${image.slice(0, image.lastIndexOf("/"))}/charts`,
    );
  }
  return lines;
}
