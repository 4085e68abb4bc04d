import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import { CHART } from "../../../scripts/chart/write-chart.ts";
import { objectsIn, withHelm } from "../../support/helm.ts";
import { errorsInVersions, errorsOf } from "../../support/kubernetes-schemas.ts";
import { build, type Manifest, withKustomize } from "../../support/kustomize.ts";
import { long, longTest } from "../../support/long.ts";
import { node } from "../../support/service-process.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const overlays = ["small", "cluster"] as const;
const folderOf = (overlay: string) => join(ROOT, "k8s/overlays", overlay);
/** The oldest supported version, the newest, and one in between. */
const VERSIONS = ["1.29", "1.33", "1.37"];
const FETCH_TIMEOUT_MS = 600_000;

const EXAMPLES = join(ROOT, "k8s/examples");
const examples = readdirSync(EXAMPLES)
  .flatMap((file) => parseAllDocuments(readFileSync(join(EXAMPLES, file), "utf8")))
  .map((document) => document.toJS() as Manifest)
  .filter(({ kind }) => kind !== undefined);
/** The packages have no schemas of the Prometheus operator and External Secrets. */
const known = examples.filter(({ apiVersion }) => !/^(monitoring\.coreos|external-secrets)\./.test(apiVersion));

/** Checks against generated types, because the schemas from npm miss misspelled fields. */
function unknownFields(manifests: Manifest[]): string[] {
  const folder = join(ROOT, ".cache", `k8s-types-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const lines = manifests.flatMap(({ apiVersion, kind }, i) => {
      const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
      const from =
        group === "keda.sh"
          ? `@kubernetes-models/keda/keda.sh/${version}/${kind}`
          : `kubernetes-models/${group ? `${group}/` : ""}${version}/${kind}`;
      return [
        `import type { I${kind} as T${i} } from "${from}";`,
        `export const m${i}: T${i} = ${JSON.stringify(manifests[i])};`,
      ];
    });
    writeFileSync(join(folder, "manifests.ts"), lines.join("\n"));
    const options = { noEmit: true, strict: true, skipLibCheck: true, module: "esnext", moduleResolution: "bundler" };
    const config = { compilerOptions: { ...options, types: [] }, files: ["manifests.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const { stdout } = spawnSync(node, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder], {
      encoding: "utf8",
    });
    return stdout.split("\n").filter((line) => line.includes("error"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

withKustomize(() => {
  describe.each(overlays)("k8s/overlays/%s", (overlay) => {
    const manifests = [...build(folderOf(overlay)), ...(overlay === "cluster" ? known : [])];

    test("every object is valid by the schemas of Kubernetes and KEDA", () => {
      expect(errorsOf(manifests)).toEqual([]);
    });

    test("no object has a field unknown to Kubernetes", () => {
      expect(unknownFields(manifests)).toEqual([]);
    });
  });

  // The schemas come from PyPI.
  longTest(
    `overlays and examples are valid in Kubernetes ${VERSIONS.join(", ")}, and a misspelled field is reported`,
    async () => {
      const all = [...overlays.flatMap((overlay) => build(folderOf(overlay))), ...examples];
      expect(errorsInVersions(VERSIONS, all)).toEqual([]);
      const service = all.find(({ kind }) => kind === "Service")!;
      const wrong = { ...service, spec: { ...(service.spec as object), portz: [] } };
      expect(errorsInVersions(VERSIONS, [wrong])).toHaveLength(VERSIONS.length);
    },
    FETCH_TIMEOUT_MS,
  );

  test("the checks notice a wrong type and a misspelled field", () => {
    const [manifest] = build(folderOf("cluster")).filter(({ kind }) => kind === "Deployment");
    const spec = manifest!.spec as Record<string, unknown>;
    expect(errorsOf([{ ...manifest, spec: { ...spec, replicas: "two" } }])).toHaveLength(1);
    expect(unknownFields([{ ...manifest!, spec: { ...spec, replikas: 2 } }])).toHaveLength(1);
  });
});

if (long) {
  withHelm((helm) => {
    test.each<[string, string[]]>([
      ["default values", []],
      ["size small", ["--set", "size=small"]],
      ["an ingress, and scaling by a metric", ["--set", "ingress.enabled=true,autoscaling.smtpSender.by=metric"]],
    ])(
      `the chart's objects with %s are valid in Kubernetes ${VERSIONS.join(", ")}`,
      (_, args) => {
        const output = helm("template", "flockmail", CHART, "-n", "flockmail", "--kube-version", VERSIONS[0]!, ...args);
        expect(errorsInVersions(VERSIONS, objectsIn(output))).toEqual([]);
      },
      FETCH_TIMEOUT_MS,
    );
  });
}
