/** Reports this process's resource usage and limits, for operators who view all nodes at once. */
import { readdirSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { eventLoopLagMs } from "../metrics.ts";
import { VERSION } from "../version.ts";

export interface Vitals {
  version: string;
  /** Node's version, without the "v". */
  node_version: string;
  /** CPU time of all threads since the start. */
  cpu_seconds: number;
  /** Time since the start, at the same moment. */
  elapsed_seconds: number;
  /** Memory limit of the container; null if only the machine's memory limits it. */
  memory_limit_bytes: number | null;
  event_loop_lag_ms: number;
  /** Open files and sockets; null if unknown. */
  open_files: number | null;
  max_open_files: number | null;
  /** Clock of this machine, in milliseconds since 1970. */
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
