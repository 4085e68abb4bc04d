/** Validates manifests against schemas from npm packages, and against several Kubernetes versions from PyPI. */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import type { Manifest } from "./kustomize.ts";
import { pythonPackage } from "./python-package.ts";
import { node } from "./service-process.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PACKAGE = "kubernetes-validate==1.37.0";
const TIMEOUT_MS = 300_000;

/** Violations of the Kubernetes and KEDA schemas from npm. */
export const errorsOf = (manifests: unknown[]): string[] =>
  JSON.parse(
    execFileSync(node, [join(ROOT, "test/support/validate-manifests.ts")], {
      input: JSON.stringify(manifests),
      encoding: "utf8",
    }),
  );

/** Kinds of other projects are not in the Kubernetes schemas. */
const isKubernetes = ({ apiVersion }: Manifest) =>
  !apiVersion.split("/")[0]!.includes(".") || /\.k8s\.io\//.test(apiVersion);

/** Violations in these versions of Kubernetes, including fields unknown to a version. */
export function errorsInVersions(versions: string[], manifests: Manifest[]): string[] {
  const input = JSON.stringify({ versions, manifests: manifests.filter(isKubernetes) });
  const env = { ...process.env, PYTHONPATH: pythonPackage(PACKAGE) };
  const script = join(ROOT, "test/support/validate-versions.py");
  return JSON.parse(execFileSync("python3", [script], { input, env, encoding: "utf8", timeout: TIMEOUT_MS }));
}
