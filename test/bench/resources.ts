/** Memory and connections of a process, as the kernel reports them. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";

const megabytes = (pid: number, field: string): number =>
  Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1_024);

export const residentMegabytes = (pid: number) => megabytes(pid, "VmRSS");
export const peakMegabytes = (pid: number) => megabytes(pid, "VmHWM");

/** Resets the peak, so that it excludes the start and the import. */
export const forgetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, "5");

/** The service's own process, which may be a child of a launcher. */
export function serviceProcess(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  const node = children.find((child) => child > 0 && readFileSync(`/proc/${child}/comm`, "utf8").startsWith("node"));
  return node ?? pid;
}

const ESTABLISHED = "01";

/** Inodes of sockets connected to the port on this machine. */
function socketsTo(port: number): Set<string> {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "latin1").split("\n").slice(1);
  const rows = lines.map((line) => line.trim().split(/\s+/));
  const found = rows.filter(([, , remote, state]) => remote?.endsWith(end) && state === ESTABLISHED);
  return new Set(found.map((row) => `socket:[${row[9]}]`));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed while it was examined.
    return "";
  }
}

/** Number of connections to the port per process. */
export function connectionsTo(port: number, pids: readonly number[]): number[] {
  const sockets = socketsTo(port);
  return pids.map(
    (pid) => readdirSync(`/proc/${pid}/fd`).filter((fd) => sockets.has(linkOf(`/proc/${pid}/fd/${fd}`))).length,
  );
}
