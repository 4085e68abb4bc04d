/** Common set-up of real mail servers: root, and a folder that their users may enter. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, untilListening } from "../child.ts";
import { type Delivery, deliveriesIn } from "./deliveries.ts";

/** The user nobody on every Linux. */
export const NOBODY = { uid: 65_534, gid: 65_534, name: "nobody" };

export interface MailServer {
  port: number;
  folder: string;
  child: Child;
  /** The log so far. */
  log(): string;
  deliveries(): Delivery[];
  stop(): Promise<void>;
}

/** Real mail servers change users, which needs root. */
export function needRoot(name: string): void {
  if (process.getuid?.() === 0) return;
  throw new Error(
    `${name} can only be started by root: run this test as root, in a container for example (npm run test:mta).`,
  );
}

/** A folder that other users may enter; its `mail` takes the maildirs. */
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
  /** Reads the log; default: stdout and stderr. */
  log?: () => string;
  /** Ends the server if ending the child is not enough. */
  end?: (child: Child) => Promise<void>;
}

/** Waits until the server listens; otherwise stops it and throws with its log. */
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

/** Matching lines of the log. */
export const linesOf = (log: string, pattern: RegExp): string[] => log.split("\n").filter((line) => pattern.test(line));
