/**
 * podman, conmon and runc, unpacked from Debian packages, with all state in one folder: installs nothing and sees none
 * of the machine's own containers. Works without systemd and without podman's network.
 */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { libraryFolders, unpackedFolder } from "../../support/programs.ts";

const PACKAGES = [
  "podman",
  "conmon",
  "runc",
  "netavark",
  "golang-github-containers-common",
  "golang-github-containers-image",
];
const TIMEOUT_MS = 600_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Parent of all containers, under which leftovers are found. */
export const CGROUP = "flockmail-image";
/** Twenty pods request some 4,000 (`plans.ts`); in a cluster, PostgreSQL, NATS and Redis need as much. */
const SERVERS_SHARES = 4_096;

/**
 * A container's CPU share is its group's, whatever its nice value: all containers together get as much as this many
 * processes. This process and its servers form another group; as single processes they would starve beside twenty pods.
 */
export function openCgroup(processes: number): void {
  const weight = processes * 1.25 ** -getPriority();
  const isSecond = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const folder = join("/sys/fs/cgroup", isSecond ? "" : "cpu", CGROUP);
  const servers = join(folder, "servers");
  mkdirSync(servers, { recursive: true });
  // The defaults of both versions, 1024 and 100, equal one process of normal priority.
  const set = (group: string, shares: number) => {
    const [file, value] = isSecond ? ["cpu.weight", shares / 10.24] : ["cpu.shares", shares];
    if (existsSync(join(group, file))) {
      writeFileSync(join(group, file), `${Math.min(10_000, Math.max(2, Math.round(value)))}`);
    }
  };
  set(folder, 1_024 * weight);
  set(servers, SERVERS_SHARES);
  writeFileSync(join(servers, "cgroup.procs"), `${process.pid}`);
}

export interface RunOptions {
  timeoutMs?: number;
  /** Exit codes that are results instead of failures. Without output, the result is empty. */
  codes?: number[];
  /** Includes stderr, like a container's log. */
  both?: boolean;
}

export type Podman = (args: string[], options?: RunOptions) => Promise<string>;

/** This machine's hard limits: podman would request more, which needs CAP_SYS_RESOURCE. */
function ulimits(): string[] {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const hard = (title: string) => new RegExp(`^Max ${title} +\\S+ +(\\S+)`, "m").exec(limits)![1]!;
  return [
    ["nofile", hard("open files")],
    ["nproc", hard("processes")],
  ].map(([name, value]) => `${name}=${value}:${value}`.replaceAll("unlimited", "1048576"));
}

/** Opens the state in `folder`: images, containers, configuration. */
export async function openPodman(folder: string): Promise<Podman> {
  const root = await unpackedFolder("podman", PACKAGES);
  const home = join(folder, "home");
  const configuration = join(home, ".config/containers");
  mkdirSync(configuration, { recursive: true });
  const libraries = libraryFolders(root).join(delimiter);
  // conmon starts runc with its own environment, without the path of libraries.
  const wrapped = (program: string) => {
    const file = join(home, program.split("/").at(-1)!);
    writeFileSync(file, `#!/bin/sh\nLD_LIBRARY_PATH='${libraries}' exec '${join(root, program)}' "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const [conmon, runc] = [wrapped("usr/bin/conmon"), wrapped("usr/sbin/runc")];
  writeFileSync(join(configuration, "policy.json"), '{ "default": [{ "type": "insecureAcceptAnything" }] }\n');
  writeFileSync(join(configuration, "registries.conf"), "unqualified-search-registries = []\n");
  writeFileSync(
    join(home, "containers.conf"),
    `[containers]
default_ulimits = [${ulimits().map((limit) => JSON.stringify(limit))}]
seccomp_profile = ${JSON.stringify(join(root, "usr/share/containers/seccomp.json"))}
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
conmon_path = [${JSON.stringify(conmon)}]
helper_binaries_dir = [${JSON.stringify(join(root, "usr/lib/podman"))}]
runtime = "runc"
[engine.runtimes]
runc = [${JSON.stringify(runc)}]
`,
  );
  const places = ["--root", join(folder, "storage"), "--runroot", join(folder, "run"), "--tmpdir", join(folder, "tmp")];
  const global = [...places, "--storage-driver", "overlay", "--cgroup-manager", "cgroupfs"];
  const env = {
    // Builds search runc here.
    PATH: [home, process.env.PATH].join(delimiter),
    HOME: home,
    TMPDIR: folder,
    LD_LIBRARY_PATH: libraries,
    CONTAINERS_CONF: join(home, "containers.conf"),
    // Timers for health checks need systemd.
    DISABLE_HC_SYSTEMD: "true",
  };
  return async (args, { timeoutMs = TIMEOUT_MS, codes = [], both = false } = {}) => {
    const options = { env, timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES };
    try {
      const { stdout, stderr } = await promisify(execFile)(join(root, "usr/bin/podman"), [...global, ...args], options);
      return `${stdout}${both ? stderr : ""}`.trim();
    } catch (error) {
      const { code, stdout, stderr, message } = error as Error & { code?: number; stdout: string; stderr: string };
      if (codes.includes(code as number)) return stdout.trim();
      throw new Error(`podman ${args.join(" ").slice(0, 300)}: ${stderr?.trim() || message}`);
    }
  };
}
