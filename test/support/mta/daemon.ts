/** What all real mail servers need to be started: a folder of their own that their users may enter, and root. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Child } from "../child.ts";
import { type Delivery, deliveriesIn } from "./deliveries.ts";

/** nobody on every Linux. */
export const NOBODY = { uid: 65_534, gid: 65_534, name: "nobody" };

export interface MailServer {
  port: number;
  folder: string;
  child: Child;
  /** Its log so far. */
  log(): string;
  deliveries(): Delivery[];
  stop(): Promise<void>;
}

/** These servers change to other users, which only root can let them do. */
export function needRoot(name: string): void {
  if (process.getuid?.() === 0) return;
  throw new Error(
    `${name} can only be started by root: run this test as root, in a container for example (npm run test:mta).`,
  );
}

/** A folder that other users may pass through; `mail` in it takes the maildirs. */
export function serverFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `flockmail-${name}-`));
  chmodSync(folder, 0o755);
  return folder;
}

export const remove = (folder: string) => rmSync(folder, { recursive: true, force: true });

export const mailIn = (folder: string) => () => deliveriesIn(join(folder, "mail"));

/** The lines of the log that match. */
export const linesOf = (log: string, pattern: RegExp): string[] => log.split("\n").filter((line) => pattern.test(line));
