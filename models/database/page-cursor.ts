/**
 * Seals the position in an ordered list for `next` and `previous`: keys may be addresses and names, which must not show
 * in access logs, and forged cursors are refused. A cursor is valid only for its own order.
 */
import { invalidPage } from "../../services/lib/errors.ts";
import { seal, unseal } from "../../services/lib/secrets.ts";

export interface Cursor {
  /** Sort key of the adjacent row, as PostgreSQL's texts; null: the start or end of the list. */
  key: string[] | null;
  /** The page precedes this position. */
  isBackward: boolean;
  /** An estimate that took its time is carried on instead of being made for each page. */
  estimate?: number;
}

const contextOf = (order: string) => `cursor ${order}`;

export const sealCursor = (cursor: Cursor, order: string): string =>
  seal(JSON.stringify(cursor), contextOf(order)).toString("base64url");

export function openCursor(text: string, order: string): Cursor {
  try {
    return JSON.parse(unseal(Buffer.from(text, "base64url"), contextOf(order)));
  } catch {
    throw invalidPage();
  }
}
