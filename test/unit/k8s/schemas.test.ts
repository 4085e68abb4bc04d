import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, type Manifest, withKustomize } from "../../support/kustomize.ts";
import { node } from "../../support/service-process.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const overlays = ["small", "cluster"] as const;
const folderOf = (overlay: string) => join(ROOT, "k8s/overlays", overlay);

const errorsOf = (manifests: unknown[]): string[] =>
  JSON.parse(
    execFileSync(node, [join(ROOT, "test/support/validate-manifests.ts")], {
      input: JSON.stringify(manifests),
      encoding: "utf8",
    }),
  );

/** The compiler knows every field that exists: a misspelled one passes the schemas, which allow any, and not it. */
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
    const manifests = build(folderOf(overlay));

    test("every object is valid by the schemas of Kubernetes and KEDA", () => {
      expect(errorsOf(manifests)).toEqual([]);
    });

    test("no object has a field that Kubernetes does not know", () => {
      expect(unknownFields(manifests)).toEqual([]);
    });
  });

  test("the checks see a wrong type and a misspelled field", () => {
    const [manifest] = build(folderOf("cluster")).filter(({ kind }) => kind === "Deployment");
    const spec = manifest!.spec as Record<string, unknown>;
    expect(errorsOf([{ ...manifest, spec: { ...spec, replicas: "two" } }])).toHaveLength(1);
    expect(unknownFields([{ ...manifest!, spec: { ...spec, replikas: 2 } }])).toHaveLength(1);
  });
});
