/** Turns ajv's errors into field errors with the sentences of Django REST framework. */

import type { ErrorObject } from "ajv";
import { addressError } from "./address.ts";
import type { FieldErrors } from "./errors.ts";
import { ONE_LINE_ERROR } from "./one-line.ts";

export const typeName = (value: unknown): string => {
  if (value === null) return "NoneType";
  if (Array.isArray(value)) return "list";
  if (Number.isInteger(value)) return "int";
  return { string: "str", number: "float", boolean: "bool", object: "dict" }[typeof value as string] ?? typeof value;
};

const FORMATS: Record<string, string> = {
  uuid: "Must be a valid UUID.",
  uri: "Enter a valid URL.",
  line: ONE_LINE_ERROR,
  "day-or-time": "Enter a date (YYYY-MM-DD) or a date-time (YYYY-MM-DDThh:mm:ss[.uuuuuu](+HH:MM|-HH:MM|Z)).",
  "date-time":
    "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm:ss[.uuuuuu](+HH:MM|-HH:MM|Z).",
};

function typeSentence(expected: string, value: unknown): string {
  if (value === null) return "This field may not be null.";
  if (value === "" && expected !== "array" && expected !== "object") return "This field may not be blank.";
  switch (expected) {
    case "string":
      return "Not a valid string.";
    case "boolean":
      return "Must be a valid boolean.";
    case "integer":
      return "A valid integer is required.";
    case "number":
      return "A valid number is required.";
    case "array":
      return `Expected a list of items but got type "${typeName(value)}".`;
    default:
      return `Expected a dictionary of items but got type "${typeName(value)}".`;
  }
}

const MAX_SHOWN = 100;

/**
 * Quotes a value in a sentence. Never `String(value)`: an object from a body may have a `toString` that is not a
 * function.
 */
function shortened(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

export function fieldErrorSentence(error: ErrorObject): string {
  const { keyword, params, data } = error;
  switch (keyword) {
    case "required":
      return "This field is required.";
    case "type":
      return typeSentence([params.type].flat()[0], data);
    case "format":
      if (data === "") return "This field may not be blank.";
      return params.format === "email" ? addressError(data) : (FORMATS[params.format] ?? "Invalid value.");
    case "enum":
    case "const":
      return data === null ? "This field may not be null." : `"${shortened(data)}" is not a valid choice.`;
    case "minLength":
      return data === "" || params.limit === 1
        ? "This field may not be blank."
        : `Ensure this field has at least ${params.limit} characters.`;
    case "pattern":
      return typeof data === "string" && data.trim() === "" ? "This field may not be blank." : "Invalid value.";
    case "maxLength":
      return `Ensure this field has no more than ${params.limit} characters.`;
    case "minimum":
      return `Ensure this value is greater than or equal to ${params.limit}.`;
    case "maximum":
      return `Ensure this value is less than or equal to ${params.limit}.`;
    case "minItems":
      return params.limit === 1
        ? "This list may not be empty."
        : `Ensure this field has at least ${params.limit} elements.`;
    case "maxItems":
    case "maxProperties":
      return `Ensure this field has no more than ${params.limit} elements.`;
    case "additionalProperties":
      return `Unknown field "${shortened(params.additionalProperty)}".`;
    case "propertyNames":
      return `"${params.propertyName}" is not a valid name.`;
    default:
      return error.message ?? "Invalid value.";
  }
}

/** Paths that have errors other than a type error, at or within them. */
function pathsOfOtherErrors(errors: readonly ErrorObject[]): Set<string> {
  const places = new Set<string>();
  for (const { instancePath, keyword } of errors) {
    if (keyword !== "type" && keyword !== "anyOf") places.add(instancePath);
    for (let at = instancePath.lastIndexOf("/"); at > 0; at = instancePath.lastIndexOf("/", at - 1)) {
      places.add(instancePath.slice(0, at));
    }
  }
  return places;
}

const IN_UNION = /\/anyOf\/\d+\/type$/;

/**
 * Drops redundant errors. A wrong property name is reported by "propertyNames". Of a nullable field's two errors
 * ("neither the type nor null") only the first is useful, and of a union only the member matching the value's type.
 */
const isNoise = (error: ErrorObject, others: Set<string>) =>
  error.keyword === "anyOf" ||
  error.keyword === "if" ||
  error.propertyName !== undefined ||
  (error.keyword === "type" &&
    (error.params.type === "null" || (IN_UNION.test(error.schemaPath) && others.has(error.instancePath))));

/** JSON pointer "/receivers/2/email" -> ["receivers", "2", "email"]. */
const steps = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

/** Errors below the top level are listed in the field's array, with the position in words. */
function placed(rest: string[], text: string): string {
  if (rest.length === 0) return text;
  const [first, ...deeper] = rest;
  const label = /^\d+$/.test(first!) ? `Item at index ${first}` : first!;
  return `${label}: ${placed(deeper, text)}`;
}

// Limit for arrays with thousands of faulty items: comparing all with all would take seconds.
const MAX_SENTENCES = 100;

export function addFieldError(fields: FieldErrors, field: string, text: string): void {
  if (!Object.hasOwn(fields, field)) fields[field] = [];
  const sentences = fields[field]!;
  if (sentences.length < MAX_SENTENCES && !sentences.includes(text)) sentences.push(text);
}

/** All errors by top-level field. A body that is not an object is reported as non_field_errors. */
export function fieldErrors(errors: readonly ErrorObject[]): FieldErrors {
  const fields: FieldErrors = {};
  const others = pathsOfOtherErrors(errors);
  for (const error of errors) {
    if (isNoise(error, others)) continue;
    const path = steps(error.instancePath);
    if (error.keyword === "required") path.push(error.params.missingProperty);
    const [field, ...rest] = path;
    if (field === undefined) {
      addFieldError(
        fields,
        "non_field_errors",
        `Invalid data. Expected a dictionary, but got ${typeName(error.data)}.`,
      );
    } else {
      addFieldError(fields, field, placed(rest, fieldErrorSentence(error)));
    }
  }
  return fields;
}
