/** Flattens JSON of other products into attributes: `{"likes": {"tea": true}}` becomes `likes.tea`. */
import { type Attributes, type AttributeValue, isAttributeName, MAX_TEXT, MAX_TEXTS } from "../../lib/attributes.ts";

import { parseExactJson } from "../../lib/exact-json.ts";

const MAX_DEPTH = 5;

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function attributeOf(value: unknown): AttributeValue {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(textOf);
  return typeof value === "number" || typeof value === "boolean" ? value : textOf(value);
}

function sizeError(name: string, value: AttributeValue): string | undefined {
  const texts = [value].flat();
  if (texts.length > MAX_TEXTS) return `${name}: Ensure this field has no more than ${MAX_TEXTS} elements.`;
  const isLong = texts.some((text) => typeof text === "string" && text.length > MAX_TEXT);
  return isLong ? `${name}: Ensure this field has no more than ${MAX_TEXT} characters.` : undefined;
}

/** Adds the members of an object to `attributes`; an error names the one that cannot be kept. */
function addMembers(object: object, prefix: string, depth: number, attributes: Attributes): string | undefined {
  for (const [key, value] of Object.entries(object)) {
    const name = prefix + key.trim();
    if (value === null || value === "") continue;
    const isDeeper = typeof value === "object" && !Array.isArray(value) && depth < MAX_DEPTH;
    if (isDeeper) {
      const error = addMembers(value, `${name}.`, depth + 1, attributes);
      if (error) return error;
      continue;
    }
    if (!isAttributeName(name)) return `"${name.slice(0, 100)}" cannot be the name of an attribute.`;
    const attribute = attributeOf(value);
    const error = sizeError(name, attribute);
    if (error) return error;
    attributes[name] = attribute;
  }
  return undefined;
}

/** Undefined if the text is no JSON object. */
export function readObject(text: string): { attributes: Attributes } | { error: string } | undefined {
  if (!text.startsWith("{")) return undefined;
  let object: object;
  try {
    object = parseExactJson(text) as object;
  } catch {
    return { error: "Not valid JSON." };
  }
  // Escaped lone surrogates and NUL cannot be stored by PostgreSQL.
  if (/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(object))) return { error: "Not a valid string." };
  const attributes: Attributes = {};
  const error = addMembers(object, "", 1, attributes);
  return error ? { error } : { attributes };
}
