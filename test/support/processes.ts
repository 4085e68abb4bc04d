import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const read = (path: string) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** Command lines of all running processes whose command or environment names the text (a data folder, say). Linux. */
export function processesNaming(text: string): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes(text) || read(`/proc/${pid}/environ`).includes(text))
    .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim()}`)
    .filter((line) => line.includes(" "));
}

/** What is still running when they all had their time; empty is what a test wants. */
export async function leftAfter(milliseconds: number, text: string): Promise<string[]> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const left = processesNaming(text);
    if (left.length === 0 || Date.now() > deadline) return left;
    // A look reads of every process of the machine.
    await sleep(250);
  }
}
