import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const IN_MEMORY = "/dev/shm";
const NEEDED_MEMORY = 6 * 2 ** 30;

/** A file system without a disk, where the machine has one with room: a PostgreSQL for tests makes thousands of files. */
export function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) > NEEDED_MEMORY ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
