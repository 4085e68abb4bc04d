/**
 * CPU microseconds of a process and of PostgreSQL. Rates change with whatever else the machine does; CPU time per event
 * hardly does.
 */
import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ, on every Linux that Node runs on. */
const US_PER_TICK = 10_000;

/** Fields of /proc/<pid>/stat behind the program's name: state, parent …, user and system time at 11 and 12. */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ");
  } catch {
    return [];
  }
}

const ticks = (stat: string[]) => Number(stat[11] ?? 0) + Number(stat[12] ?? 0);

/** Of the process `pid` and those it started that still run. */
export function cpuUs(pid: number): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = all.map(statOf).filter((stat) => stat[1] === String(pid));
  return [statOf(String(pid)), ...children].reduce((sum, stat) => sum + ticks(stat), 0) * US_PER_TICK;
}

/** Reads the process id of the server out of its data folder. */
export const postmasterOf = (dataDir: string): number =>
  Number(readFileSync(`${dataDir}/postmaster.pid`, "latin1").split("\n")[0]);
