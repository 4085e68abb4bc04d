/** Converts attributes to form fields and back. A value keeps its type, although browsers send only text. */
import type { AttributeChanges, Attributes, AttributeValue } from "../../lib/attributes.ts";
import type { Errors } from "../form-errors.ts";
import { messages } from "../messages.ts";

/** Kinds of attributes in the form; a date is stored as text in the format YYYY-MM-DD. */
export const ATTRIBUTE_KINDS = ["text", "number", "boolean", "date", "list"] as const;
type Kind = (typeof ATTRIBUTE_KINDS)[number];

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Refuses days that Date would change, such as 30 February. */
function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return DATE.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function kindOf(value: AttributeValue): Kind {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  if (Array.isArray(value)) return "list";
  return isDate(value) ? "date" : "text";
}

const textOf = (value: AttributeValue): string => (Array.isArray(value) ? value.join("\n") : String(value));

/** Browsers send line breaks as CRLF. */
const withUnixLineBreaks = (text: string): string => text.replaceAll("\r\n", "\n");

interface AttributeField {
  /** Prefix of the names of the attribute's form fields, such as "attribute.0". */
  prefix: string;
  name: string;
  kind: Kind;
  value: string;
  /** Value when the form was rendered; an unchanged value is not written. */
  was: string;
  isLong: boolean;
  isRemoved: boolean;
}

const LONG = 60;

/** Form fields of the attributes, with the typed values of a refused form. */
export function attributeFields(attributes: Attributes, typed: Record<string, string>): AttributeField[] {
  return Object.entries(attributes).map(([name, value], n) => {
    const prefix = `attribute.${n}`;
    const isTyped = typed[`${prefix}.name`] === name;
    const text = textOf(value);
    return {
      prefix,
      name,
      kind: kindOf(value),
      value: isTyped ? (typed[`${prefix}.value`] ?? text) : text,
      was: text,
      isLong: Array.isArray(value) || text.length > LONG || text.includes("\n"),
      isRemoved: isTyped && typed[`${prefix}.gone`] !== undefined,
    };
  });
}

const t = messages.person;

/** Parses a value, or returns the error's text. */
function parseValue(kind: string, text: string): { value: AttributeValue } | { error: string } {
  switch (kind) {
    case "number": {
      const value = Number(text.trim().replace(",", "."));
      return text.trim() === "" || !Number.isFinite(value) ? { error: t.notNumber } : { value };
    }
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : { error: t.notBoolean };
    case "date":
      return isDate(text) ? { value: text } : { error: t.notDate };
    case "list":
      return {
        value: withUnixLineBreaks(text)
          .split("\n")
          .filter((line) => line.trim() !== ""),
      };
    default:
      return { value: withUnixLineBreaks(text) };
  }
}

interface ReadAttributes {
  changes: AttributeChanges;
  errors: Errors;
}

function readOne(form: Record<string, string>, prefix: string, { changes, errors }: ReadAttributes): void {
  const name = form[`${prefix}.name`]!;
  const { [`${prefix}.value`]: text = "", [`${prefix}.was`]: was = "", [`${prefix}.kind`]: kind = "text" } = form;
  if (form[`${prefix}.gone`] !== undefined) changes[name] = null;
  else if (withUnixLineBreaks(text) !== withUnixLineBreaks(was)) {
    const given = parseValue(kind, text);
    if ("error" in given) errors[`${prefix}.value`] = [given.error];
    else changes[name] = given.value;
  }
}

/** Returns the changes of a form. `known`: names that are already used. */
export function attributeChanges(form: Record<string, string>, known: readonly string[]): ReadAttributes {
  const given: ReadAttributes = { changes: {}, errors: {} };
  for (const key of Object.keys(form)) {
    const prefix = /^(attribute\.\d+)\.name$/.exec(key)?.[1];
    if (prefix) readOne(form, prefix, given);
  }
  const { "new.name": name = "", "new.kind": kind = "text", "new.value": text = "" } = form;
  if (name.trim() === "" && text === "") return given;
  const fresh = parseValue(kind, text);
  if (name.trim() === "") given.errors["new.name"] = [t.noName];
  else if (known.includes(name.trim())) given.errors["new.name"] = [t.nameTaken(name.trim())];
  else if ("error" in fresh) given.errors["new.value"] = [fresh.error];
  else given.changes[name.trim()] = fresh.value;
  return given;
}
