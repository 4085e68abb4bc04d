/**
 * `npm sbom … | node scripts/image/describe-packages.ts`, while the image is built: writes sbom.cdx.json, the bill of
 * materials in CycloneDX without what differs from one build to the next, and LICENSES.txt with the terms of every package.
 * A release makes its own of the same two functions, from the lock (scripts/release/release.ts).
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Installed, packagesIn } from "./packages.ts";

/** What is said of a package, whether it is installed or only in the lock. */
type Named = Pick<Installed, "name" | "version" | "licence">;

interface Bom {
  serialNumber?: string;
  metadata: { timestamp?: string; component?: { name: string; "bom-ref": string } };
  components: { name: string; version: string }[];
}

/** npm leaves out what a tool of development needs as well, even where the service needs it: all that is installed is named. */
function complete(bom: Bom, packages: readonly Named[]): Bom {
  const known = new Set(bom.components.map(({ name, version }) => `${name}@${version}`));
  const missing = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  const added = [...missing]
    .filter(([ref]) => !known.has(ref))
    .map(([ref, { name, version, licence }]) => ({
      "bom-ref": ref,
      type: "library",
      name,
      version,
      scope: "required",
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      licenses: [{ license: { name: licence } }],
    }));
  return { ...bom, components: [...bom.components, ...added] };
}

/** npm writes the time and a random number: two builds of one version would differ by them. */
function repeatable(bom: Bom): Bom {
  const { serialNumber: _, metadata, ...rest } = bom;
  const { timestamp: __, ...kept } = metadata;
  const digest = createHash("sha256")
    .update(JSON.stringify([kept, rest]))
    .digest("hex");
  const [, a, b, c, d] = /^(.{8})(.{4}).(.{3}).(.{3})/.exec(digest)!;
  // A UUID of version 8: its bits are of our own making.
  return { ...rest, serialNumber: `urn:uuid:${a}-${b}-8${c}-a${d}-${digest.slice(20, 32)}`, metadata: kept };
}

/** npm calls the whole by the name of its folder, and only its reference by its own. */
function ofItsName({ metadata: { component, ...metadata }, ...bom }: Bom): Bom {
  if (!component) return { ...bom, metadata };
  const ref = component["bom-ref"];
  return { ...bom, metadata: { ...metadata, component: { ...component, name: ref.slice(0, ref.lastIndexOf("@")) } } };
}

/** From what npm prints. */
export const billOfMaterials = (printed: string, packages: readonly Named[]): Bom =>
  repeatable(complete(ofItsName(JSON.parse(printed)), packages));

const titleOf = ({ name, version }: Named) => `${name} ${version}`;

export const licenceTable = (packages: readonly Named[]): string =>
  packages.map((one) => `${titleOf(one)}: ${one.licence}`).join("\n");

/** Packages by the terms that they share word for word: many of one author do. */
export function licenceList(packages: Installed[]): string {
  const byText = new Map<string, Installed[]>();
  for (const one of packages) {
    const texts = one.licenceFiles.map((file) => readFileSync(join(one.folder, file), "utf8").trim());
    const text = texts.join("\n\n").replaceAll("\r\n", "\n") || `No text comes with it; its terms are: ${one.licence}`;
    byText.set(text, [...(byText.get(text) ?? []), one]);
  }
  const texts = [...byText].map(([text, users]) => `${"=".repeat(80)}\n${users.map(titleOf).join("\n")}\n\n${text}\n`);
  return `Packages in this image, each under the terms that follow below.\n\n${licenceTable(packages)}\n\n${texts.join("\n")}`;
}

if (import.meta.main) {
  const installed = packagesIn("node_modules");
  writeFileSync("sbom.cdx.json", `${JSON.stringify(billOfMaterials(readFileSync(0, "utf8"), installed), null, 1)}\n`);
  writeFileSync("LICENSES.txt", licenceList(installed));
}
