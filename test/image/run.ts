/**
 * `npm run test:image [-- FILE] [-t NAME]`: builds the image on a local base and runs test/image with it. Needs Linux,
 * root and Debian's packages. Everything runs in its own mount, process and network namespaces: containers, mounts and
 * addresses disappear at the end, however it ends. IMAGE_FOLDER keeps images between runs.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { unpackedFolder } from "../support/programs.ts";
import { fetchServers } from "../support/servers.ts";
import { baseImage } from "./rig/base-image.ts";
import { buildImage, contentOf } from "./rig/build-image.ts";
import { NFT } from "./rig/network.ts";
import { CGROUP, openCgroup, openPodman, type Podman } from "./rig/podman.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const NAMESPACES = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
/** The machine's limits count each of some twenty pods as a process like this one. */
const BUSY_AT_ONCE = 20;
const INSIDE = "--inside";

const say = (text: string) => void process.stdout.write(`${text}\n`);

function whyNot(): string | undefined {
  if (process.platform !== "linux") return "it needs Linux";
  if (process.getuid?.() !== 0)
    return "only root may start containers so: run it as root, in a virtual machine for example";
  if (spawnSync("unshare", [...NAMESPACES, "--net", "true"], { stdio: "ignore" }).status !== 0) {
    return "this machine allows no namespaces (unshare): give it CAP_SYS_ADMIN";
  }
  return undefined;
}

async function finished(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(command, args, { stdio: "inherit", cwd: ROOT, env: { ...process.env, ...env } });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** Builds again from scratch. Only in full runs, because it downloads all packages again. */
async function isRepeatable(podman: Podman, base: string, image: string): Promise<boolean> {
  const again = await buildImage(podman, base, say, { name: `${image}-again`, anew: true });
  const [first, second] = [await contentOf(podman, image), await contentOf(podman, again)];
  const isSame = JSON.stringify(first) === JSON.stringify(second);
  say(
    isSame
      ? "Two builds have the same layers, byte by byte, and the same configuration."
      : `Two builds differ:\n${first.join("\n")}\n\n${second.join("\n")}`,
  );
  return isSame;
}

async function inside(folder: string, rest: string[]): Promise<number> {
  openCgroup(BUSY_AT_ONCE);
  const podman = await openPodman(folder);
  const base = await baseImage(podman, say);
  const image = await buildImage(podman, base, say);
  if (rest.length === 0 && !(await isRepeatable(podman, base, image))) return 1;
  // The tests run without network access.
  await fetchServers();
  await unpackedFolder(...NFT);
  const [part = "-"] = rest;
  const which = part.startsWith("-") ? ["test/image/", ...rest] : [`test/image/${part}`, ...rest.slice(1)];
  const jest = [process.execPath, "node_modules/jest/bin/jest.js", "--runInBand"];
  return finished("unshare", ["--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...jest, ...which], {
    IMAGE: "long",
    IMAGE_FOLDER: folder,
    IMAGE_BASE: base,
    IMAGE_NAME: image,
  });
}

/** Removes groups of containers that were killed with their namespace. */
function removeCgroups(): void {
  for (const controller of ["", ...readdirSync("/sys/fs/cgroup")]) {
    const folder = join("/sys/fs/cgroup", controller, CGROUP);
    const all = spawnSync("find", [folder, "-depth", "-type", "d"], { encoding: "utf8" }).stdout.split("\n");
    for (const one of all.filter(Boolean)) {
      try {
        rmdirSync(one);
      } catch {
        // A process in it has not ended yet; the group disappears with the machine.
      }
    }
  }
}

async function main(): Promise<number> {
  const [first, folder, ...rest] = process.argv.slice(2);
  if (first === INSIDE) return inside(folder!, rest);
  const reason = whyNot();
  if (reason) {
    say(`The tests of the image cannot run here: ${reason}.`);
    return 1;
  }
  // Must outlive the processes inside it.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  const kept = process.env.IMAGE_FOLDER;
  if (kept) mkdirSync(kept, { recursive: true });
  // Not /tmp, which may be memory.
  const storage = kept ?? mkdtempSync("/var/tmp/flockmail-image-");
  try {
    const again = [process.execPath, import.meta.filename, INSIDE, storage, ...process.argv.slice(2)];
    return await finished("unshare", [...NAMESPACES, ...again], {});
  } finally {
    removeCgroups();
    if (!kept) rmSync(storage, { recursive: true, force: true });
  }
}

process.exitCode = await main();
