/** A pod's memory from its control group, version 1 or 2. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const MEBIBYTE = 1024 * 1024;

export interface Memory {
  /** Memory that only its processes use. */
  anonymousMib: number;
  /** Memory as the kubelet computes it: without file cache that can be dropped at once. */
  workingSetMib: number;
  /** Processes killed by the kernel's out-of-memory killer. */
  kills: number;
}

function folderOf(pid: number): string {
  const groups = readFileSync(`/proc/${pid}/cgroup`, "utf8");
  const [, first] = /^\d+:memory:(.+)$/m.exec(groups) ?? [];
  if (first) return join("/sys/fs/cgroup/memory", first);
  return join("/sys/fs/cgroup", /^0::(.+)$/m.exec(groups)![1]!);
}

/** Undefined after the process has ended. */
export function memoryOf(pid: number): Memory | undefined {
  try {
    const folder = folderOf(pid);
    const read = (file: string) => readFileSync(join(folder, file), "utf8");
    const field = (text: string, ...names: string[]) =>
      Number(names.map((name) => new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]).find(Boolean) ?? 0);
    const isFirst = existsSync(join(folder, "memory.usage_in_bytes"));
    const usage = Number(read(isFirst ? "memory.usage_in_bytes" : "memory.current"));
    const stat = read("memory.stat");
    return {
      anonymousMib: field(stat, "total_rss", "anon") / MEBIBYTE,
      workingSetMib: (usage - field(stat, "total_inactive_file", "inactive_file")) / MEBIBYTE,
      kills: field(read(isFirst ? "memory.oom_control" : "memory.events"), "oom_kill"),
    };
  } catch {
    return undefined;
  }
}
