/** CPU microseconds of a process and of PostgreSQL. Unlike rates, they hardly depend on other work of the machine. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** USER_HZ is 100 on every Linux that Node runs on. */
const US_PER_TICK = 10_000;

/** Fields of /proc/<pid>/stat after the program's name: state, parent …, user and system time from 11 on. */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ");
  } catch {
    return [];
  }
}

function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "latin1").trim();
  } catch {
    return "";
  }
}

const OWN = [11, 12];
/** Includes ended children, because a PostgreSQL connection may close during the run. */
const WITH_ENDED = [...OWN, 13, 14];
/** Ended children only. */
const ENDED = [13, 14];
const usOf = (stat: string[], fields: number[]) =>
  fields.reduce((sum, field) => sum + Number(stat[field] ?? 0), 0) * US_PER_TICK;

/** The process without its children. */
export const ownCpuUs = (pid: number): number => usOf(statOf(String(pid)), OWN);

/** Ended children of this process. */
export const endedChildrenUs = (): number => usOf(statOf("self"), ENDED);

/**
 * CPU time by kind of thread: the event loop, V8 (garbage collection, compilation), and others (files, DNS,
 * signatures).
 */
export interface ThreadsUs {
  main: number;
  v8: number;
  pool: number;
}

export function threadsUs(pid: number): ThreadsUs {
  const sum: ThreadsUs = { main: 0, v8: 0, pool: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const name = nameOf(`${pid}/task/${thread}`);
    const kind = thread === String(pid) ? "main" : /v8/i.test(name) ? "v8" : "pool";
    sum[kind] += usOf(statOf(`${pid}/task/${thread}`), OWN);
  }
  return sum;
}

/** The process `pid` and its children. */
export function cpuUs(pid: number): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = all.map(statOf).filter((stat) => stat[1] === String(pid));
  return [statOf(String(pid)), ...children].reduce((sum, stat) => sum + usOf(stat, WITH_ENDED), 0);
}

/** Reads the server's process id from its data folder. */
export const postmasterOf = (dataDir: string): number =>
  Number(readFileSync(`${dataDir}/postmaster.pid`, "latin1").split("\n")[0]);

const QUIET_FOR_MS = 2_000;
/** Idle polling takes up to 7 % of a core. */
const QUIET_SHARE = 0.1;
const MOST_WAIT_MS = 120_000;

/**
 * Waits until PostgreSQL has finished follow-up work, such as vacuum after an import, whose CPU must not count for
 * mails.
 */
export async function untilQuiet(pid: number): Promise<void> {
  const endMs = performance.now() + MOST_WAIT_MS;
  for (let before = cpuUs(pid); ; ) {
    await sleep(QUIET_FOR_MS);
    const now = cpuUs(pid);
    if (now - before < QUIET_SHARE * QUIET_FOR_MS * 1_000) return;
    if (performance.now() > endMs) throw new Error(`Process ${pid} does not become idle.`);
    before = now;
  }
}
