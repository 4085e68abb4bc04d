/** Builds the unmodified Dockerfile like a release does, with this machine's npm registry. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { CGROUP, type Podman } from "./podman.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const BUILD_TIMEOUT_MS = 1_800_000;
/** Like the commit time of a release; makes two builds equal. */
const SOURCE_DATE_EPOCH = 1_767_225_600;
export const IMAGE = "localhost/flockmail:test";
/** The version that the labels must show. */
export const VERSION = "0.0.0-test";

async function setting(name: string): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)("npm", ["config", "get", name], { cwd: ROOT });
  const value = stdout.trim();
  return value === "null" || value === "undefined" ? undefined : value;
}

/** The registry's address and, if it has its own, its certificate authority. Credentials stay here. */
async function registrySecrets(folder: string): Promise<string[]> {
  const [registry, authorities] = [await setting("registry"), await setting("cafile")];
  const lines = [`registry=${registry}`];
  const secrets = ["--secret", `id=npmrc,src=${join(folder, "npmrc")}`];
  if (authorities && existsSync(authorities)) {
    lines.push("cafile=/run/authorities.pem");
    secrets.push("--secret", `id=authorities,src=${authorities}`);
  }
  writeFileSync(join(folder, "npmrc"), `${lines.join("\n")}\n`);
  return secrets;
}

export interface BuildOptions {
  name?: string;
  /** Uses nothing of earlier builds. */
  anew?: boolean;
}

export async function buildImage(
  podman: Podman,
  base: string,
  say: (text: string) => void,
  { name = IMAGE, anew = false }: BuildOptions = {},
): Promise<string> {
  say(`Building ${name} on ${base} …`);
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "flockmail-build-"));
  try {
    const args = Object.entries({
      BASE: base,
      VERSION,
      REVISION: "0123456789abcdef",
      CREATED: new Date(SOURCE_DATE_EPOCH * 1_000).toISOString(),
    }).flatMap(([key, value]) => ["--build-arg", `${key}=${value}`]);
    const how = ["--format", "docker", "--pull=never", "--network", "host", "--cgroup-parent", `/${CGROUP}/build`];
    const times = ["--timestamp", `${SOURCE_DATE_EPOCH}`];
    const cache = anew ? ["--no-cache"] : ["--layers"];
    const secrets = await registrySecrets(folder);
    await podman(["build", ...how, ...times, ...cache, ...args, ...secrets, "--tag", name, ROOT], {
      timeoutMs: BUILD_TIMEOUT_MS,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  say(`Built in ${((performance.now() - began) / 1_000).toFixed(0)} s.`);
  return name;
}

interface Inspected {
  Architecture: string;
  Os: string;
  Created: string;
  Config: object;
  History: { created: string; created_by: string }[];
  RootFS: { Layers: string[] };
}

/**
 * Layer digests and configuration, equal for equal builds. Excludes the configuration's digest, because in Docker's
 * format podman writes random container names into it.
 */
export async function contentOf(podman: Podman, name: string): Promise<string[]> {
  const [image] = JSON.parse(await podman(["image", "inspect", name])) as [Inspected];
  const { Architecture, Os, Created, Config, History, RootFS } = image;
  const steps = History.map(({ created, created_by }) => ({ created, created_by }));
  return [JSON.stringify({ Architecture, Os, Created, Config, steps }), ...RootFS.Layers];
}
