/**
 * The cluster's network inside the one that run.ts created: a bridge with an address for each server and each kind of
 * neighbour, and a network namespace per pod with its policies' rules. A pod has no right to change them.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { libraryFolders, unpackedFolder } from "../../support/programs.ts";

/** The program for rules, and its packages. */
export const NFT: [name: string, packages: string[]] = ["nft", ["nftables"]];
const BRIDGE = "pods";
/**
 * Fixed; otherwise the bridge takes the lowest address of its ports, which changes with each pod and is then unknown
 * for half a minute.
 */
const BRIDGE_MAC = "02:00:0a:d5:00:01";
export const POD_NETWORK = "10.213.0.0/16";

/** All belong to this process; the source or target address decides a pod's view of them. */
export const ADDRESS = {
  /** The node, from which the kubelet probes. */
  node: "10.213.0.1",
  ingress: "10.213.0.2",
  monitoring: "10.213.0.3",
  stranger: "10.213.0.4",
  postgres: "10.213.0.10",
  nats: "10.213.0.11",
  redis: "10.213.0.12",
  mail: "10.213.0.25",
  /** NodeLocal DNSCache. */
  names: "169.254.20.10",
  /** Represent the internet, and a private network that pods must not reach. */
  internet: "203.0.113.9",
  elsewhere: "172.16.9.9",
} as const;

const ip = (...args: string[]) => execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });

export function openBridge(): void {
  ip("link", "add", BRIDGE, "address", BRIDGE_MAC, "type", "bridge");
  for (const address of Object.values(ADDRESS)) {
    ip("address", "add", `${address}/${address.startsWith("10.213.") ? 16 : 32}`, "dev", BRIDGE);
  }
  ip("link", "set", BRIDGE, "up");
}

export interface PodNetwork {
  address: string;
  /** The namespace's file, for podman and nsenter. */
  file: string;
  /** Replaces the rules of its policies. */
  restrict(rules: string): void;
  close(): void;
}

async function nft(): Promise<{ path: string; env: NodeJS.ProcessEnv }> {
  const root = await unpackedFolder(...NFT);
  const env = { ...process.env, LD_LIBRARY_PATH: libraryFolders(root).join(delimiter) };
  return { path: join(root, "usr/sbin/nft"), env };
}

/** Assigns addresses in order and never twice, so that an answer to an ended pod reaches nobody. */
export async function podNetworks(folder: string): Promise<() => PodNetwork> {
  mkdirSync(folder, { recursive: true });
  const { path, env } = await nft();
  let n = 0;
  return () => {
    const no = n++;
    const address = `10.213.${1 + Math.floor(no / 200)}.${1 + (no % 200)}`;
    const file = join(folder, `net-${no}`);
    writeFileSync(file, "");
    execFileSync("unshare", [`--net=${file}`, "true"]);
    const [ours, theirs] = [`pod${no}`, `in${no}`];
    ip("link", "add", ours, "type", "veth", "peer", "name", theirs);
    ip("link", "set", theirs, "netns", file);
    ip("link", "set", ours, "master", BRIDGE, "up");
    const within = `ip link set lo up && ip link set ${theirs} name eth0 && ip address add ${address}/16 dev eth0 &&
      ip link set eth0 up && ip route add default via ${ADDRESS.node}`;
    execFileSync("nsenter", [`--net=${file}`, "sh", "-c", within]);
    return {
      address,
      file,
      restrict: (rules) =>
        void execFileSync("nsenter", [`--net=${file}`, path, "-f", "-"], {
          input: rules,
          env,
          stdio: ["pipe", "ignore", "pipe"],
        }),
      close() {
        ip("link", "delete", ours);
        execFileSync("umount", [file]);
      },
    };
  };
}
