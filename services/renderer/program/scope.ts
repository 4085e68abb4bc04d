/** One recipient's data as a template sees it, and how a path is looked up in it: own properties, nothing else. */

import type { Path } from "../../lib/template/parser.ts";
import { Unrenderable } from "../content.ts";

export type Data = Record<string, unknown>;

/** What a mail is made for; `id` is the sent email's. */
export interface Recipient {
  id: string;
  email: string;
  first_name?: string | null;
  last_name?: string | null;
  subscriber_id?: string | null;
  cc?: string[] | null;
  bcc?: string[] | null;
  /** The subscriber's attributes (sends to a list). */
  attributes?: Data | null;
  /** The receiver's own fields (inline receivers); they win over the subscriber's. */
  variables?: Data | null;
}

export interface Scope {
  id: string;
  email: string;
  firstName: unknown;
  lastName: unknown;
  variables: Data;
  attributes: Data;
  /** What is said where the recipient has no such variable: the company's own facts. */
  fallback: Data;
  preferencesUrl: () => string;
  /** Tokens of the tracked links by number; 0 is the open pixel. */
  tokens: readonly string[];
  /** Characters that may still be written: loops multiply, and this is where that ends. */
  room: number;
  /** Pieces that may still be looked at: a loop may do much and write nothing. */
  steps: number;
}

export type Read = (scope: Scope, item: unknown, index: number) => unknown;

export const MAX_OUTPUT = 5_000_000;
/** Of 75 ns each: no mail holds up the others of its process for longer than a blink. */
export const MAX_STEPS = 500_000;
const NOTHING: Data = Object.freeze({});

export function spend(scope: Scope, characters: number): void {
  scope.room -= characters;
  if (scope.room < 0) throw new Unrenderable(`The message grows over ${MAX_OUTPUT} characters.`);
}

/** Counts what is done, whether it writes anything or not. */
export function work(scope: Scope, steps: number): void {
  scope.steps -= steps;
  if (scope.steps < 0) throw new Unrenderable(`The message takes more than ${MAX_STEPS} steps.`);
}

export function scopeOf(recipient: Recipient, facts: Pick<Scope, "fallback" | "tokens" | "preferencesUrl">): Scope {
  const variables = recipient.variables ?? NOTHING;
  const own = (name: string) => (Object.hasOwn(variables, name) ? variables[name] : undefined);
  return {
    id: recipient.id,
    email: recipient.email,
    firstName: own("first_name") ?? recipient.first_name,
    lastName: own("last_name") ?? recipient.last_name,
    variables,
    attributes: recipient.attributes ?? NOTHING,
    fallback: facts.fallback,
    preferencesUrl: facts.preferencesUrl,
    tokens: facts.tokens,
    room: MAX_OUTPUT,
    steps: MAX_STEPS,
  };
}

/** Follows `steps` from the one at `from` through own properties of objects and arrays. */
function dig(value: unknown, steps: readonly string[], from: number): unknown {
  let current = value;
  for (let i = from; i < steps.length; i++) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, steps[i]!)) return undefined;
    current = (current as Data)[steps[i]!];
  }
  return current;
}

/** A field whose name has a dot in it is found by its whole name, before the dot is taken for a step. */
function find(data: Data, name: string, steps: readonly string[]): unknown {
  if (Object.hasOwn(data, name)) return data[name];
  return steps.length > 1 ? dig(data, steps, 0) : undefined;
}

const builtIns: Record<string, Read> = {
  email: (scope) => scope.email,
  first_name: (scope) => scope.firstName,
  last_name: (scope) => scope.lastName,
  preferences_url: (scope) => scope.preferencesUrl(),
  // Written as text with the id in it (program.ts); here only a condition asks whether they are there.
  unsubscribe_url: (scope) => scope.id,
  view_in_browser_url: (scope) => scope.id,
};

export function reader(path: Path): Read {
  if (path.from === "index") return (_scope, _item, index) => index;
  const { steps } = path;
  if (path.from === "item") return steps.length === 0 ? (_scope, item) => item : (_scope, item) => dig(item, steps, 0);
  const { name } = path;
  if (Object.hasOwn(builtIns, name)) return builtIns[name]!;
  return (scope) =>
    find(scope.variables, name, steps) ?? find(scope.attributes, name, steps) ?? find(scope.fallback, name, steps);
}

/** False for what a person would call absent or off; "false" and "0" come from CSV files. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value) && value !== "false" && value !== "0";
}

/** A value in words: lists joined, objects (which have no words) empty. In a template `scope` pays for long lists. */
export function textOf(value: unknown, scope?: Scope): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!Array.isArray(value)) return "";
  if (scope) work(scope, value.length);
  return value.filter((item) => item !== null && typeof item !== "object").join(", ");
}
