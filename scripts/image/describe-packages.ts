/**
 * `npm sbom … | node scripts/image/describe-packages.ts`, during the image build: writes sbom.cdx.json, a reproducible
 * bill of materials in CycloneDX format, and LICENSES.txt with every package's terms. Releases use the same two
 * functions with the lock file (scripts/release/release.ts).
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Installed, packagesIn } from "./packages.ts";

/** Fields of a package, installed or in the lock file. */
type Named = Pick<Installed, "name" | "version" | "licence">;

interface Bom {
  serialNumber?: string;
  metadata: { timestamp?: string; component?: { name: string; "bom-ref": string } };
  components: { name: string; version: string }[];
}

/** npm omits packages that a development tool also needs; this adds them. */
function complete(bom: Bom, packages: readonly Named[]): Bom {
  const described = new Set(bom.components.map(({ name, version }) => `${name}@${version}`));
  const missing = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  const added = [...missing]
    .filter(([ref]) => !described.has(ref))
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

/** Removes the time and random number that npm writes, so that two builds of a version are equal. */
function repeatable(bom: Bom): Bom {
  const { serialNumber: _, metadata, ...rest } = bom;
  const { timestamp: __, ...kept } = metadata;
  const digest = createHash("sha256")
    .update(JSON.stringify([kept, rest]))
    .digest("hex");
  const [, a, b, c, d] = /^(.{8})(.{4}).(.{3}).(.{3})/.exec(digest)!;
  // UUID version 8: custom bits.
  return { ...rest, serialNumber: `urn:uuid:${a}-${b}-8${c}-a${d}-${digest.slice(20, 32)}`, metadata: kept };
}

/** npm names the root component after its folder; this uses the package's name. */
function ofItsName({ metadata: { component, ...metadata }, ...bom }: Bom): Bom {
  if (!component) return { ...bom, metadata };
  const ref = component["bom-ref"];
  return { ...bom, metadata: { ...metadata, component: { ...component, name: ref.slice(0, ref.lastIndexOf("@")) } } };
}

/** `printed` is npm's output. */
export const billOfMaterials = (printed: string, packages: readonly Named[]): Bom =>
  repeatable(complete(ofItsName(JSON.parse(printed)), packages));

const titleOf = ({ name, version }: Named) => `${name} ${version}`;

export const licenceTable = (packages: readonly Named[]): string =>
  packages.map((one) => `${titleOf(one)}: ${one.licence}`).join("\n");

/** Groups packages with identical terms; many of one author share theirs. */
export function licenceList(packages: Installed[]): string {
  const byText = new Map<string, Installed[]>();
  for (const one of packages) {
    const texts = one.licenceFiles.map((file) => readFileSync(join(one.folder, file), "utf8").trim());
    const text =
      texts.join("\n\n").replaceAll("\r\n", "\n") ||
      `The package contains no licence text; its terms are: ${one.licence}`;
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
