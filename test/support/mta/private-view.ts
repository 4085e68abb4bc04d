/**
 * Runs servers that expect users and folders of their installed package in a separate mount namespace (unshare, bind
 * and overlay mounts), so the system stays unchanged. Needs root and CAP_SYS_ADMIN.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "../child.ts";
import { needRoot } from "./daemon.ts";

/** Added to /etc/passwd and /etc/group in the namespace; user and group have the same number. */
export interface SystemUser {
  name: string;
  id: number;
  home?: string;
}

export interface View {
  users: SystemUser[];
  /** Paths to mount over others; both must exist. */
  binds?: Bind[];
  /** A package's usr folder, overlaid on /usr for programs that look there. */
  usr?: string;
}

interface Bind {
  from: string;
  to: string;
}

const OVERLAY = 'if [ -n "$1" ]; then mount -t overlay overlay -o "lowerdir=$1:/usr" /usr; fi';
const BIND = 'while [ "$n" -gt 0 ]; do mount --bind "$1" "$2"; shift 2; n=$((n - 1)); done';
const SCRIPT = `set -e; ${OVERLAY}; n=$2; shift 2; ${BIND}; exec "$@"`;

function withUsers(folder: string, users: SystemUser[]): Bind[] {
  const files = {
    passwd: users.map(({ name, id, home = "/nonexistent" }) => `${name}:x:${id}:${id}::${home}:/usr/sbin/nologin\n`),
    group: users.map(({ name, id }) => `${name}:x:${id}:\n`),
  };
  return Object.entries(files).map(([file, added]) => {
    const to = `/etc/${file}`;
    const content = readFileSync(to, "utf8")
      .split("\n")
      .filter((line) => line && !users.some(({ name }) => line.startsWith(`${name}:`)));
    const from = join(folder, file);
    writeFileSync(from, `${content.join("\n")}\n${added.join("")}`);
    return { from, to };
  });
}

/** Starts a program in such a namespace; `folder` stores its files. */
export function startInView(
  folder: string,
  { users, binds = [], usr = "" }: View,
  command: string[],
  env: Record<string, string>,
): Child {
  needRoot(command[0]!);
  const unshare = ["--mount", "--propagation", "private"];
  if (spawnSync("unshare", [...unshare, "true"]).status !== 0) {
    throw new Error(
      `${command[0]} needs a mount namespace, which this container does not allow: give it CAP_SYS_ADMIN.`,
    );
  }
  const all = [...withUsers(folder, users), ...binds];
  const pairs = all.flatMap(({ from, to }) => [from, to]);
  const script = ["sh", "-c", SCRIPT, "sh", usr, `${all.length}`, ...pairs];
  return startChild("unshare", [...unshare, ...script, ...command], { env, detached: true });
}

/** Ends the program and its child processes, which may still hold its output open. */
export async function stopGroup(child: Child): Promise<void> {
  try {
    process.kill(-child.pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  await child.stop();
}
