/** What all real mail servers need to be started: a folder of their own that their users may enter, and root. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, untilListening } from "../child.ts";
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

interface Started {
  child: Child;
  port: number;
  otherPorts?: number[];
  folder: string;
  /** What it writes to stdout and stderr, unless it has a log of its own. */
  log?: () => string;
  /** Ends it, where that takes more than ending the child. */
  end?: (child: Child) => Promise<void>;
}

/** The server once it listens; one that does not is stopped, and the error has its log. */
export async function serving({ child, port, otherPorts = [], folder, ...given }: Started): Promise<MailServer> {
  const { log = () => child.output(), end = () => child.stop() } = given;
  const stop = async () => {
    await end(child);
    remove(folder);
  };
  try {
    for (const each of [port, ...otherPorts]) await untilListening(child, each);
  } catch (error) {
    const details = log();
    await stop();
    throw new Error(`${(error as Error).message}\n${details}`);
  }
  return { port, folder, child, log, deliveries: () => deliveriesIn(join(folder, "mail")), stop };
}

/** The lines of the log that match. */
export const linesOf = (log: string, pattern: RegExp): string[] => log.split("\n").filter((line) => pattern.test(line));
