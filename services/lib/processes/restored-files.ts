/** What the folder of the embedded database says of where its files come from. */
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * When the folder was made: a copy later than what it was copied from. Empty where the file system does not know (Node gives
 * the time of the last change then, which PostgreSQL moves on at each start), and where the database is elsewhere.
 */
export function madeAt(directory: string): string {
  const folder = statSync(join(directory, "postgres"), { throwIfNoEntry: false });
  if (!folder || folder.birthtimeMs <= 0 || folder.birthtimeMs === folder.ctimeMs) return "";
  return `/${Math.floor(folder.birthtimeMs)}`;
}

const mark = (directory: string) => join(directory, "restored");

/** Said by an operator: the next look of the service finds a database that it does not know. */
export const markRestored = (directory: string): void => writeFileSync(mark(directory), "");
export const isMarkedRestored = (directory: string): boolean => existsSync(mark(directory));
export const forgetMark = (directory: string): void => rmSync(mark(directory), { force: true });
