/**
 * Builds manifests by `kustomize` or `kubectl` from PATH. Neither comes from npm, and the kubectl of Debian 12 is too
 * old: its kustomize 2 knows no components. Without one, `withKustomize` defines one skipped test that says why.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

export type Json = { [key: string]: unknown };
export interface Manifest extends Json {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
}

const COMMANDS = [
  ["kustomize", "build"],
  ["kubectl", "kustomize"],
] as const;

/** The first command that supports components. */
function find(): (typeof COMMANDS)[number] | undefined {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-kustomize-"));
  writeFileSync(join(folder, "kustomization.yaml"), "namespace: x\ncomponents: []\n");
  try {
    return COMMANDS.find(
      ([program, command]) => spawnSync(program, [command, folder], { stdio: "ignore" }).status === 0,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const found = find();

export function build(folder: string): Manifest[] {
  if (!found) throw new Error("Neither kustomize 3.7 or newer nor kubectl 1.21 or newer is on PATH.");
  const [program, command] = found;
  return parseAllDocuments(execFileSync(program, [command, folder], { encoding: "utf8" })).map(
    (document) => document.toJS() as Manifest,
  );
}

/** Defines tests that need `build`. */
export function withKustomize(define: () => void): void {
  if (found) define();
  else test.skip("not run: no kustomize 3.7 or newer, and no kubectl 1.21 or newer, is on PATH", () => {});
}
