/** Provides one recipient's data to a template. Paths are looked up in own properties only. */

import type { Path } from "../../lib/template/parser.ts";
import type { LinkTokens } from "../../lib/tokens/link-token.ts";
import { Unrenderable } from "../content.ts";

export type Data = Record<string, unknown>;

/** The recipient of an email; `id` is the sent email's. */
export interface Recipient {
  id: string;
  /** The part of the Message-ID before the "@"; default: the id. */
  message_id?: string;
  email: string;
  first_name?: string | null;
  last_name?: string | null;
  subscriber_id?: string | null;
  cc?: string[] | null;
  bcc?: string[] | null;
  /** The subscriber's attributes (sends to a list); both also as JSON. */
  attributes?: Data | string | null;
  /** Variant of the campaign; none: the campaign's own content. */
  variant?: number | null;
  /** The receiver's own fields (inline receivers); they take precedence over the subscriber's. */
  variables?: Data | string | null;
}

export interface Scope {
  id: string;
  email: string;
  firstName: unknown;
  lastName: unknown;
  variables: Data;
  attributes: Data;
  /** Values for variables that the recipient does not have: the company's. */
  fallback: Data;
  preferencesUrl: () => string;
  /** Tokens of the tracked links by number; 0 is the open pixel. Null if nothing is tracked. */
  tokens: Pick<LinkTokens, "text"> | null;
  /** Characters that may still be written: nested loops multiply the output. */
  charactersLeft: number;
  /** Remaining evaluations: a loop may do much work and write nothing. */
  stepsLeft: number;
}

export type Read = (scope: Scope, item: unknown, index: number) => unknown;

/** Up to 40 ns each: encoded for the wire, by the thread that serves everybody. */
export const MAX_OUTPUT = 2_000_000;
/** About 75 ns each: no mail blocks its process for more than 40 ms. */
export const MAX_STEPS = 500_000;
const NOTHING: Data = Object.freeze({});

export function spendCharacters(scope: Scope, characters: number): void {
  scope.charactersLeft -= characters;
  if (scope.charactersLeft < 0) throw new Unrenderable(`The message is longer than ${MAX_OUTPUT} characters.`);
}

/** Counts evaluated parts, even if they write nothing. */
export function spendSteps(scope: Scope, steps: number): void {
  scope.stepsLeft -= steps;
  if (scope.stepsLeft < 0) throw new Unrenderable(`The message takes more than ${MAX_STEPS} steps.`);
}

const dataOf = (data: Data | string | null | undefined): Data =>
  (typeof data === "string" ? (JSON.parse(data) as Data | null) : data) ?? NOTHING;

/** The receiver's own field wins over the subscriber's; one in another case fills a gap. */
const nameIn = (variables: Data, name: string, otherwise: string | null | undefined): unknown =>
  ownValue(variables, name) ?? (otherwise || (variables === NOTHING ? otherwise : ownAnyCase(variables, name)));

export function scopeOf(recipient: Recipient, facts: Pick<Scope, "fallback" | "tokens" | "preferencesUrl">): Scope {
  const variables = dataOf(recipient.variables);
  return {
    id: recipient.id,
    email: recipient.email,
    firstName: nameIn(variables, "first_name", recipient.first_name),
    lastName: nameIn(variables, "last_name", recipient.last_name),
    variables,
    attributes: dataOf(recipient.attributes),
    fallback: facts.fallback,
    preferencesUrl: facts.preferencesUrl,
    tokens: facts.tokens,
    charactersLeft: MAX_OUTPUT,
    stepsLeft: MAX_STEPS,
  };
}

/** The one name that differs from `name` in case alone. */
function otherSpelling(data: Data, name: string): string | null {
  const lower = name.toLowerCase();
  let found: string | null = null;
  // Lengths first, in a plain loop: each recipient may lack several names among hundreds.
  for (const key in data) {
    if (key.length !== name.length || key.toLowerCase() !== lower || !Object.hasOwn(data, key)) continue;
    if (found !== null) return null;
    found = key;
  }
  return found;
}

/** An own property, by another case of its name where that names one only. */
function ownAnyCase(data: Data, name: string): unknown {
  if (Object.hasOwn(data, name)) return data[name];
  const spelling = otherSpelling(data, name);
  return spelling === null ? undefined : data[spelling];
}

const ownValue = (data: Data, name: string): unknown => (Object.hasOwn(data, name) ? data[name] : undefined);

/** Follows `steps` through own properties of objects and arrays. */
function dig(value: unknown, steps: readonly string[], property: typeof ownValue): unknown {
  let current = value;
  for (let i = 0; i < steps.length; i++) {
    if (typeof current !== "object" || current === null) return undefined;
    current = property(current as Data, steps[i]!);
  }
  return current;
}

/** A field whose name contains a dot is found by its full name before the dot is taken as a path separator. */
function find(data: Data, name: string, steps: readonly string[], property: typeof ownValue): unknown {
  if (data === NOTHING) return undefined;
  const value = property(data, name);
  return value === undefined && steps.length > 1 ? dig(data, steps, property) : value;
}

const findIn = (scope: Scope, name: string, steps: readonly string[], property: typeof ownValue): unknown =>
  find(scope.variables, name, steps, property) ??
  find(scope.attributes, name, steps, property) ??
  find(scope.fallback, name, steps, property);

const builtIns: Record<string, Read> = {
  email: (scope) => scope.email,
  first_name: (scope) => scope.firstName,
  last_name: (scope) => scope.lastName,
  preferences_url: (scope) => scope.preferencesUrl(),
  // program.ts writes these as text with the id in it; here they are read by conditions only.
  unsubscribe_url: (scope) => scope.id,
  view_in_browser_url: (scope) => scope.id,
};

/** Returns whether the name is built in, ignoring case. */
export const isBuiltIn = (name: string): boolean => Object.hasOwn(builtIns, name.toLowerCase());

export function reader(path: Path): Read {
  if (path.from === "index") return (_scope, _item, index) => index;
  const { steps } = path;
  if (path.from === "item") {
    return steps.length === 0 ? (_scope, item) => item : (_scope, item) => dig(item, steps, ownAnyCase);
  }
  const { name } = path;
  if (Object.hasOwn(builtIns, name)) return builtIns[name]!;
  const builtIn = isBuiltIn(name) ? builtIns[name.toLowerCase()]! : undefined;
  // An exact match wins, wherever it is.
  return (scope, item, index) =>
    findIn(scope, name, steps, ownValue) ?? builtIn?.(scope, item, index) ?? findIn(scope, name, steps, ownAnyCase);
}

/** False for absent, empty and off; "false" and "0" come from CSV files. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value) && value !== "false" && value !== "0";
}

/** A value as text: lists joined, objects empty. In a template, long lists count against the `scope`'s steps. */
export function textOf(value: unknown, scope?: Scope): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!Array.isArray(value)) return "";
  if (scope) spendSteps(scope, value.length);
  return value.filter((item) => item !== null && typeof item !== "object").join(", ");
}
