/**
 * Reads manifests (a JSON array) from stdin and prints violations of the Kubernetes and KEDA schemas as a JSON array of
 * sentences. Runs in its own process, because the packages with the schemas are ESM only.
 */
import { text } from "node:stream/consumers";

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}
type Model = new (data: Manifest) => { validate(): void };

function moduleOf({ apiVersion, kind }: Manifest): string {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : [undefined, apiVersion];
  if (group === "keda.sh") return `@kubernetes-models/keda/${group}/${version}/${kind}`;
  return `kubernetes-models/${group ? `${group}/` : ""}${version}/${kind}`;
}

const errors: string[] = [];
for (const manifest of JSON.parse(await text(process.stdin)) as Manifest[]) {
  const name = `${manifest.kind} ${manifest.metadata.name}`;
  try {
    const { [manifest.kind]: Kind } = (await import(moduleOf(manifest))) as Record<string, Model>;
    new Kind!(manifest).validate();
  } catch (error) {
    errors.push(`${name}: ${(error as Error).message}`);
  }
}
process.stdout.write(JSON.stringify(errors));
