/**
 * `npm run chart`: writes the Helm chart in k8s/chart from kustomize's output of k8s/overlays, so that the two cannot
 * differ. Only templates/_helpers.tpl and templates/NOTES.txt are written by hand.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readSources } from "./sources.ts";
import { chartTemplates } from "./templates.ts";
import { chartValues } from "./values.ts";
import { valuesFile, valuesSchema } from "./values-text.ts";

const ROOT = resolve(import.meta.dirname, "../..");
export const CHART = join(ROOT, "k8s/chart");
export const BY_HAND = ["templates/NOTES.txt", "templates/_helpers.tpl"];

interface Package {
  version: string;
  description: string;
  license: string;
}

function chartFile({ version, description, license }: Package): string {
  return `# Written by \`npm run chart\`.
apiVersion: v2
name: flockmail
description: ${JSON.stringify(description)}
type: application
version: ${version}
appVersion: "${version}"
kubeVersion: ">=1.29.0-0"
annotations:
  licenses: ${license}
`;
}

/** Texts of generated files by their path in the chart. */
export function chartFiles(): Map<string, string> {
  const sources = readSources();
  const values = chartValues(sources);
  const about = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Package;
  return new Map([
    ["Chart.yaml", chartFile(about)],
    [
      "values.yaml",
      valuesFile(
        "Defaults of all values, written by `npm run chart` from k8s/overlays; values.schema.json has their types. How to install: docs/kubernetes.md.",
        values,
      ),
    ],
    ["values.schema.json", valuesSchema("Values of the chart flockmail", values)],
    ...[...chartTemplates(sources)].map(([name, text]): [string, string] => [`templates/${name}`, text]),
  ]);
}

/** Paths of all existing files. */
export const presentFiles = (): string[] =>
  readdirSync(CHART, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(CHART.length + 1))
    .toSorted();

if (process.argv[1] === import.meta.filename) {
  const files = chartFiles();
  for (const [path, text] of files) {
    mkdirSync(dirname(join(CHART, path)), { recursive: true });
    writeFileSync(join(CHART, path), text);
  }
  for (const path of presentFiles()) if (!files.has(path) && !BY_HAND.includes(path)) rmSync(join(CHART, path));
}
