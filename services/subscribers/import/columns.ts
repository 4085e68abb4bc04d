/**
 * Assigns the columns of a file to fields: by header names of our own export and other products, and by the request's
 * `mapping`, which takes precedence.
 */
import { spellingsOf } from "../../../models/statements/attribute-names.ts";
import { addressText, isAddress } from "../../lib/address.ts";
import { isAttributeName, MAX_ATTRIBUTES } from "../../lib/attributes.ts";
import { withoutGuard } from "../../lib/csv.ts";
import { type FieldErrors, invalid } from "../../lib/errors.ts";
import { ALIASES, type Field, FLAGS, isField, OBJECTS, OWN, READ_ONLY, STATUS } from "./column-names.ts";
import { fileError, notUtf8 } from "./decode-text.ts";
import { squashed } from "./status-words.ts";

export interface Columns {
  email: number;
  /** -1 if missing. */
  firstName: number;
  lastName: number;
  /** First and last name in one. */
  fullName: number;
  /** Status words; or, with a state, a column that sets that state unless its text is a negation. */
  statuses: { at: number; state?: number }[];
  /** JSON objects whose members become attributes; other text becomes one attribute of this name. */
  objects: { name: string; at: number }[];
  attributes: { name: string; at: number }[];
  width: number;
}

/** Maps `First Name`, `first-name` and `FIRST_NAME` to first_name. */
const underscored = (name: string) => name.toLowerCase().replace(/[\s-]+/g, "_");

const MAX_SHOWN = 30;
const listed = (names: readonly string[]) =>
  names
    .filter((name) => name !== "")
    .slice(0, MAX_SHOWN)
    .map((name) => `"${name.slice(0, 100)}"`)
    .join(", ");

/** Column → field, attribute name, or null to ignore the column. */
export type Mapping = Record<string, string | null>;

/** Parses the form's text as a mapping, or returns what is wrong with it. */
export function readMapping(text: string | undefined): { mapping: Mapping } | { errors: FieldErrors } {
  if (text === undefined) return { mapping: {} };
  const refuse = (sentence: string) => ({ errors: { mapping: [sentence] } });
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return refuse('Not valid JSON. It is an object such as {"E-Mail": "email", "Ort": "city"}.');
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) return refuse("Expected an object.");
  const mapping: Mapping = Object.create(null);
  for (const [column, target] of Object.entries(given)) {
    if (target !== null && typeof target !== "string") return refuse(`"${column.slice(0, 100)}": Not a valid string.`);
    if (target && !isField(target) && !isAttributeName(target)) {
      return refuse(`"${target.slice(0, 100)}" cannot be the name of an attribute.`);
    }
    mapping[column] = target || null;
  }
  return { mapping };
}

/** Target of each column that the mapping names. */
function mappedColumns(names: readonly string[], mapping: Mapping): Map<number, string | null> {
  const mapped = new Map<number, string | null>();
  for (const [column, target] of Object.entries(mapping)) {
    const exact = names.indexOf(column.trim());
    const at = exact === -1 ? names.findIndex((name) => squashed(name) === squashed(column)) : exact;
    if (at === -1) {
      const sentence = `The file has no column "${column.slice(0, 100)}". It has: ${listed(names)}.`;
      throw invalid({ mapping: [sentence] });
    }
    if (mapped.has(at)) throw invalid({ mapping: [`The column "${names[at]!.slice(0, 100)}" appears twice.`] });
    mapped.set(at, target);
  }
  return mapped;
}

class Header {
  readonly names: readonly string[];
  readonly #mapped: Map<number, string | null>;
  readonly #isOwn: boolean;
  /** Columns that are not attributes. */
  readonly #taken = new Set<number>();

  constructor(names: readonly string[], mapping: Mapping) {
    this.names = names;
    this.#mapped = mappedColumns(names, mapping);
    this.#isOwn = OWN.every((name, at) => names[at] === name);
    for (const [at, target] of this.#mapped) if (target === null) this.#taken.add(at);
    for (const [at, name] of names.entries()) {
      const isReadOnly = this.#isOwn ? READ_ONLY.has(name) && names.indexOf(name) === at : name === "created_at";
      if (name === "" || (isReadOnly && !this.#mapped.has(at))) this.#taken.add(at);
    }
  }

  #free(): [at: number, name: string][] {
    return [...this.names.entries()].filter(([at]) => !this.#taken.has(at) && !this.#mapped.has(at));
  }

  #take(at: number): number {
    this.#taken.add(at);
    return at;
  }

  #mappedTo(field: Field): number[] {
    return [...this.#mapped].filter(([, target]) => target === field).map(([at]) => this.#take(at));
  }

  #only(field: string, found: number[]): number {
    if (found.length > 1) throw fileError(`The column "${field}" appears twice.`);
    return found[0] ?? -1;
  }

  /** Position in our own export; -1 if missing or mapped to something else. */
  #own(field: string): number {
    const at = OWN.indexOf(field);
    return at === -1 || this.#mapped.has(at) ? -1 : this.#take(at);
  }

  /** The only column of the field, or -1. */
  one(field: keyof typeof ALIASES): number {
    const mapped = this.#mappedTo(field);
    if (mapped.length > 1) throw invalid({ mapping: [`Only one column can be "${field}".`] });
    if (mapped.length > 0) return mapped[0]!;
    if (this.#isOwn) return this.#own(field);
    const named = this.#free().filter(([, name]) => underscored(name) === field);
    if (named.length > 0 && field !== "name")
      return this.#take(
        this.#only(
          field,
          named.map(([at]) => at),
        ),
      );
    for (const alias of ALIASES[field]) {
      const found = this.#free().filter(([, name]) => squashed(name) === alias);
      if (found.length > 0)
        return this.#take(
          this.#only(
            found[0]![1].slice(0, 100),
            found.map(([at]) => at),
          ),
        );
    }
    return -1;
  }

  statuses(): Columns["statuses"] {
    const words = this.#mappedTo("status").map((at) => ({ at }));
    // Further columns such as UNSUB_TIME count, too; the most restrictive status wins.
    if (words.length > 0) return [...words, ...this.#flags()];
    if (this.#isOwn) return [this.#own("status")].filter((at) => at !== -1).map((at) => ({ at }));
    const named = this.#free().filter(([, name]) => STATUS.has(squashed(name)));
    return [...named.map(([at]) => ({ at: this.#take(at) })), ...this.#flags()];
  }

  #flags(): Columns["statuses"] {
    if (this.#isOwn) return [];
    return this.#free().flatMap(([at, name]) => {
      const state = FLAGS.get(squashed(name));
      return state === undefined ? [] : [{ at: this.#take(at), state }];
    });
  }

  objects(): Columns["objects"] {
    const mapped = this.#mappedTo("attributes");
    const found = this.#isOwn ? [] : this.#free().filter(([, name]) => OBJECTS.has(squashed(name)));
    const all = mapped.length > 0 ? mapped : found.map(([at]) => this.#take(at));
    return all.map((at) => ({ at, name: this.names[at]! }));
  }

  /** All remaining columns, and those mapped to attributes. */
  attributes(): Columns["attributes"] {
    const rest = [...this.names.entries()].filter(([at]) => !this.#taken.has(at));
    return rest.map(([at, name]) => ({ at, name: this.#mapped.get(at) ?? name }));
  }

  /** German files with `Name` and `Vorname` have the last name in `Name`. */
  hasVorname(): boolean {
    return this.names.some((name) => squashed(name) === "vorname");
  }
}

export function requireUsable({ email, attributes, objects }: Columns, names: readonly string[]): void {
  if (email === -1) throw missingColumn("email", names);
  const usedNames = new Set<string>();
  for (const { name } of [...attributes, ...objects]) {
    if (usedNames.has(name)) throw fileError(`The column "${name.slice(0, 100)}" appears twice.`);
    usedNames.add(name);
    if (!isAttributeName(name)) throw fileError(`The column name "${name.slice(0, 100)}" cannot be used.`);
  }
  if (attributes.length > MAX_ATTRIBUTES) {
    throw fileError(`No more than ${MAX_ATTRIBUTES} columns besides email, first_name and last_name are allowed.`);
  }
}

export function namesOf(header: readonly string[]): string[] {
  if (header.some((cell) => /[\0\uFFFD]/.test(cell))) throw notUtf8();
  return header.map((cell) => withoutGuard(cell.replace(/\s+/g, " ").trim()));
}

/** Used for files in which only addresses count; -1 if there is none. */
export function addressColumn(names: readonly string[]): number {
  const keys = names.map(squashed);
  return ALIASES.email.map((alias) => keys.indexOf(alias)).find((at) => at !== -1) ?? -1;
}

export const missingColumn = (column: string, names: readonly string[]) =>
  fileError(`The header has no column "${column}". It has: ${listed(names)}.`);

/** Column names of a file without a header: their numbers from 1. */
export const numbersOf = (cells: readonly string[]): string[] => cells.map((_, at) => String(at + 1));

/** Completes a mapping so that all other columns are ignored. */
export const onlyMapped = (names: readonly string[], mapping: Mapping): Mapping => ({
  ...Object.fromEntries(names.map((name) => [name, null])),
  ...mapping,
});

/** Columns of a file without a header; unmapped ones are ignored. */
export function numberedColumns(cells: readonly string[], mapping: Mapping): Columns {
  const names = numbersOf(cells);
  const columns = readColumns(names, onlyMapped(names, mapping));
  if (columns.email === -1) {
    throw invalid({
      mapping: ['Without a header the mapping names the column of addresses by its number: {"1": "email"}.'],
    });
  }
  requireUsable(columns, names);
  return columns;
}

/** Assigns all columns; `email` may be -1, and attribute names may be invalid. */
export function readColumns(names: readonly string[], mapping: Mapping): Columns {
  const header = new Header(names, mapping);
  const email = header.one("email");
  const firstName = header.one("first_name");
  let lastName = header.one("last_name");
  const isGerman = lastName === -1 && header.hasVorname();
  const isNamed = (firstName !== -1 || lastName !== -1) && !isGerman && !Object.values(mapping).includes("name");
  const fullName = isNamed ? -1 : header.one("name");
  const isLastName = fullName !== -1 && firstName !== -1 && isGerman;
  if (isLastName) lastName = fullName;
  return {
    email,
    firstName,
    lastName,
    fullName: isLastName ? -1 : fullName,
    statuses: header.statuses(),
    objects: header.objects(),
    attributes: header.attributes(),
    width: names.length,
  };
}

/** A first line with an address is data, which must not be lost as a header. */
export const looksLikeData = (names: readonly string[]): boolean => names.some((name) => isAddress(addressText(name)));

const NO_HEADER =
  'The first line has an address, so it looks like a person and not like a header. Send `header` false and a `mapping` with column numbers: {"1": "email", "2": "first_name"}.';

export function columnsOf(cells: readonly string[], mapping: Mapping = {}): Columns {
  const names = namesOf(cells);
  if (looksLikeData(names)) throw fileError(NO_HEADER);
  const columns = readColumns(names, mapping);
  requireUsable(columns, names);
  return columns;
}

/** Spells attributes like existing ones of the company; two columns that would coincide stay as they are. */
export async function spelledAsStored(companyId: string, columns: Columns): Promise<Columns> {
  const names = columns.attributes.map(({ name }) => name);
  const spellings = await spellingsOf(companyId, names);
  const usedNames = [...names, ...spellings.values()];
  return {
    ...columns,
    attributes: columns.attributes.map(({ at, name }) => {
      const spelling = spellings.get(name);
      return {
        at,
        name: spelling && usedNames.indexOf(spelling) === usedNames.lastIndexOf(spelling) ? spelling : name,
      };
    }),
  };
}
