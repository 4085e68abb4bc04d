/**
 * A place in an ordered list, as `next` and `previous` carry it. Sealed: keys may be addresses and names, which must not show in
 * access logs, and what anybody else made or altered is refused. It opens for the order that it was made for, and for no other.
 */
import { invalidPage } from "../../services/lib/errors.ts";
import { seal, unseal } from "../../services/lib/secrets.ts";

export interface Cursor {
  /** Sort key of the row beside the page, as PostgreSQL's texts; null: the list's end, or its beginning. */
  key: string[] | null;
  /** The page is the one before this place. */
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
