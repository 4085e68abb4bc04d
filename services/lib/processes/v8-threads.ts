/**
 * V8 marks garbage and optimizes code on a thread of its own (`--v8-pool-size`), for half a second at a time. On two cores that
 * mails and PostgreSQL keep in use it takes one of them from whoever asks meanwhile, so that it gets what is left: p99 of another
 * company beside sends to 2,000 receivers is 50 to 54 ms instead of 73 to 82 (24 in silence). With 4 instead of 10 it was 63 and 104.
 *
 * The event loop marks more itself then. `test/bench delivery 40000`, three runs each in turn, with and without: 2,466 to 2,645 and
 * 2,562 to 2,764 mails per second, of the event loop 296 and 273 µs a mail on average.
 */
import { readdirSync, readFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** More than the other threads have. */
const NICER = 10;
const TASKS = "/proc/self/task";

/** Linux alone has a priority for each thread; elsewhere nothing changes. Whoever lowered it cannot raise it again. */
export function lowerV8Threads(): void {
  let threads: string[];
  try {
    threads = readdirSync(TASKS);
  } catch {
    return;
  }
  const nice = Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICER);
  for (const thread of threads) {
    try {
      if (/v8/i.test(readFileSync(`${TASKS}/${thread}/comm`, "latin1"))) setPriority(Number(thread), nice);
    } catch {
      // It ended meanwhile, or a container's profile forbids it: the service runs as well as it did.
    }
  }
}
