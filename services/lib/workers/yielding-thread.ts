/**
 * Imported by what runs in worker threads: where all cores are busy, they leave two thirds of the time to the thread that
 * answers requests. Linux keeps priorities by thread; elsewhere this would slow down the whole process.
 */
import { setPriority } from "node:os";
import { isMainThread } from "node:worker_threads";

const NICENESS = 3;
const CURRENT = 0;

if (!isMainThread && process.platform === "linux") {
  try {
    setPriority(CURRENT, NICENESS);
  } catch {
    // A sandbox that forbids it: the work itself must not fail for that.
  }
}
