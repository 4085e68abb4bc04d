import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const readFile = (path: string) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** Command lines of all processes whose command or environment contains the text, such as a data folder. Linux only. */
export function processesNaming(text: string): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => readFile(`/proc/${pid}/cmdline`).includes(text) || readFile(`/proc/${pid}/environ`).includes(text))
    .map((pid) => `${pid} ${readFile(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim()}`)
    .filter((line) => line.includes(" "));
}

/** Processes that still run after the time; tests expect none. */
export async function leftAfter(milliseconds: number, text: string): Promise<string[]> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const remaining = processesNaming(text);
    if (remaining.length === 0 || Date.now() > deadline) return remaining;
    // Each check reads files of every process on the machine.
    await sleep(250);
  }
}
