/** What this process uses of its machine, and may: for operators who look at every node at once. Costs some 0.1 ms. */
import { readdirSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { eventLoopLagMs } from "../metrics.ts";
import { VERSION } from "../version.ts";

export interface Vitals {
  version: string;
  /** Of Node, without the "v". */
  node_version: string;
  /** Spent since the start, by all threads. */
  cpu_seconds: number;
  /** Since the start, at the same moment. */
  elapsed_seconds: number;
  /** Of the container; null where nothing below the machine's own memory bounds it. */
  memory_limit_bytes: number | null;
  event_loop_lag_ms: number;
  /** Files and sockets; null where the system does not say. */
  open_files: number | null;
  max_open_files: number | null;
  /** This machine's clock, in milliseconds since 1970. */
  clock_ms: number;
}

function memoryLimit(): number | null {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : null;
}

function openFiles(): number | null {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return null;
  }
}

let maxOpenFiles: number | null | undefined;

/** The soft limit, which does not change while the process runs. */
function openFilesLimit(): number | null {
  if (maxOpenFiles !== undefined) return maxOpenFiles;
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    maxOpenFiles = soft ? Number(soft) : null;
  } catch {
    maxOpenFiles = null;
  }
  return maxOpenFiles;
}

export function vitals(): Vitals {
  const { user, system } = process.cpuUsage();
  return {
    version: VERSION,
    node_version: process.versions.node,
    cpu_seconds: (user + system) / 1e6,
    elapsed_seconds: process.uptime(),
    memory_limit_bytes: memoryLimit(),
    event_loop_lag_ms: Math.round(eventLoopLagMs()),
    open_files: openFiles(),
    max_open_files: openFilesLimit(),
    clock_ms: Date.now(),
  };
}
