/** The header of an import: which column is what. */

import { isAttributeName, MAX_ATTRIBUTES } from "../../lib/attributes.ts";
import { withoutGuard } from "../../lib/csv.ts";
import { type FieldErrors, invalid } from "../../lib/errors.ts";

export interface Columns {
  email: number;
  /** -1 where the file has none. */
  firstName: number;
  lastName: number;
  attributes: { name: string; at: number }[];
  width: number;
}

export const fileFault = (sentence: string) => invalid({ file: [sentence] } satisfies FieldErrors);
export const notUtf8 = () => fileFault("The file is not UTF-8 text. Save it as CSV UTF-8.");

/** `First Name`, `first-name` and `FIRST_NAME` are all first_name. */
const known = (name: string) => name.toLowerCase().replace(/[\s-]+/g, "_");

/** An export has them, so that a file which comes back is not refused or kept as attributes; an import sets neither. */
const READ_ONLY = new Set(["status", "created_at"]);

export function columnsOf(header: readonly string[]): Columns {
  if (header.some((cell) => /[\0\uFFFD]/.test(cell))) throw notUtf8();
  const names = header.map((cell) => withoutGuard(cell.replace(/\s+/g, " ").trim()));
  const columns: Columns = { email: -1, firstName: -1, lastName: -1, attributes: [], width: names.length };
  const seen = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (name === "" || READ_ONLY.has(known(name))) continue;
    const key = ["email", "first_name", "last_name"].includes(known(name)) ? known(name) : name;
    if (seen.has(key)) throw fileFault(`The column "${key.slice(0, 100)}" is there twice.`);
    seen.add(key);
    if (key === "email") columns.email = at;
    else if (key === "first_name") columns.firstName = at;
    else if (key === "last_name") columns.lastName = at;
    else if (isAttributeName(name)) columns.attributes.push({ name, at });
    else throw fileFault(`The column name "${name.slice(0, 100)}" cannot be used.`);
  }
  if (columns.email === -1) throw fileFault('The header has no column "email".');
  if (columns.attributes.length > MAX_ATTRIBUTES) {
    throw fileFault(`No more than ${MAX_ATTRIBUTES} columns besides email, first_name and last_name are allowed.`);
  }
  return columns;
}
