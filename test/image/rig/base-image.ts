/**
 * Replaces the official base image where no image registry is reachable: Debian by debootstrap, with Node, npm and user
 * as in the official image, without what the Dockerfile removes. Kept as an archive in .cache/.
 */
import { execFile } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { unpackedFolder } from "../../support/programs.ts";
import { node } from "../../support/service-process.ts";
import type { Podman } from "./podman.ts";

const CACHE = resolve(import.meta.dirname, "../../../.cache/image");
const SUITE = "bookworm";
const DEBOOTSTRAP_TIMEOUT_MS = 1_800_000;
export const BASE_IMAGE = "localhost/flockmail-base:24-slim";

const run = (command: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(command, args, { timeout: DEBOOTSTRAP_TIMEOUT_MS, env: { ...process.env, ...env } });

/** The mirror of this machine's own packages. */
async function mirror(): Promise<string> {
  const { stdout } = await run("apt-get", ["indextargets", "--format", "$(SITE)"]);
  const found = stdout.split("\n").find((site) => /\/debian\/*$/.test(site));
  if (!found) throw new Error("apt knows no mirror of Debian to make the base image from");
  return found;
}

async function debian(target: string): Promise<void> {
  const root = await unpackedFolder("debootstrap", ["debootstrap"]);
  const args = [join(root, "usr/sbin/debootstrap"), "--variant=minbase", SUITE, target, await mirror()];
  try {
    await run("sh", args, { DEBOOTSTRAP_DIR: join(root, "usr/share/debootstrap"), LC_ALL: "C" });
  } catch (error) {
    const { stdout = "" } = error as { stdout?: string };
    throw new Error(`debootstrap could not make a Debian ${SUITE}: ${stdout.trim().split("\n").slice(-5).join("\n")}`);
  }
  for (const unused of ["var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/man"]) {
    rmSync(join(target, unused), { recursive: true, force: true });
  }
}

/** Same layout as in the official image: /usr/local with node, npm, npx and corepack, yarn in /opt, the user node. */
async function addNode(target: string): Promise<void> {
  const local = join(target, "usr/local");
  const modules = join(local, "lib/node_modules");
  copyFileSync(realpathSync(node), join(local, "bin/node"));
  // The npm that runs this, or the machine's.
  const script = process.env.npm_execpath ?? (await run("sh", ["-c", 'realpath "$(command -v npm)"'])).stdout.trim();
  mkdirSync(join(modules, "corepack/dist"), { recursive: true });
  // cpSync takes a link to a file for a folder when it follows links.
  await run("cp", ["--recursive", "--dereference", join(dirname(script), ".."), join(modules, "npm")]);
  mkdirSync(join(target, "opt/yarn-v1.22.22/bin"), { recursive: true });
  for (const [name, to] of [
    ["npm", "../lib/node_modules/npm/bin/npm-cli.js"],
    ["npx", "../lib/node_modules/npm/bin/npx-cli.js"],
    ["corepack", "../lib/node_modules/corepack/dist/corepack.js"],
    ["yarn", "/opt/yarn-v1.22.22/bin/yarn"],
    ["yarnpkg", "/opt/yarn-v1.22.22/bin/yarnpkg"],
  ] as const) {
    symlinkSync(to, join(local, "bin", name));
  }
  appendFileSync(join(target, "etc/passwd"), "node:x:1000:1000::/home/node:/bin/bash\n");
  appendFileSync(join(target, "etc/group"), "node:x:1000:\n");
  mkdirSync(join(target, "home/node"));
}

/** The archive, built once, which takes a minute or two. */
async function archive(say: (text: string) => void): Promise<string> {
  const file = join(CACHE, `base-${SUITE}-${process.arch}.tar`);
  if (existsSync(file)) return file;
  say(`Making a Debian ${SUITE} with Node for the base …`);
  mkdirSync(dirname(file), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "flockmail-base-"));
  try {
    const target = join(folder, "root");
    mkdirSync(target);
    await debian(target);
    await addNode(target);
    const made = `${file}.${process.pid}`;
    await run("tar", ["--create", "--file", made, "--numeric-owner", "--directory", target, "."]);
    renameSync(made, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return file;
}

/** The name of the base image, ready for builds. */
export async function baseImage(podman: Podman, say: (text: string) => void): Promise<string> {
  const has = await podman(["images", "--quiet", BASE_IMAGE]);
  if (has) return BASE_IMAGE;
  const path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  await podman(["import", "--change", path, "--change", 'CMD ["node"]', await archive(say), BASE_IMAGE]);
  return BASE_IMAGE;
}
