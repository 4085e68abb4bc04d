/** The JSON Schema of designs, made from the settings of the blocks. Published in the OpenAPI document. */
import { BLOCKS } from "./blocks/fields.ts";
import { BRAND_COLOURS } from "./brand.ts";
import { DESIGN_VERSION, MAX_BLOCKS, MAX_COLUMNS, SECTION, SETTINGS } from "./design.ts";
import type { Field, Fields } from "./fields.ts";

const MAX_ADDRESS = 2_048;
const MAX_TEXT = 50_000;
const MAX_HTML = 200_000;

const COLOUR = `^(?:|#[0-9a-fA-F]{6}|brand\\.(?:${BRAND_COLOURS.join("|")}))$`;
/** BCP 47, or empty. */
const LANGUAGE = { type: "string", pattern: "^(?:|[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4})$", default: "" };
const strict = { type: "object", additionalProperties: false } as const;
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });

function fieldSchema(field: Field): Record<string, unknown> {
  switch (field.kind) {
    case "line":
      return { type: "string", maxLength: field.maxLength, default: field.default };
    case "html":
      return { type: "string", maxLength: MAX_HTML, default: "" };
    case "rich":
      return ref("richText");
    case "link":
    case "image":
      return { type: "string", maxLength: MAX_ADDRESS, format: field.kind, default: field.default };
    case "colour":
      return { type: "string", pattern: COLOUR, default: field.default };
    case "pixels":
      return { type: "integer", minimum: field.minimum, maximum: field.maximum, default: field.default };
    case "choice":
      return { type: "string", enum: field.values, default: field.default };
    case "flag":
      return { type: "boolean", default: field.default };
    case "items":
      return {
        type: "array",
        minItems: field.minimum,
        maxItems: field.maximum,
        items: { ...strict, properties: properties(field.fields) },
      };
  }
}

const properties = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]));

const tagged = (type: string, more: Record<string, unknown>, required: string[] = []) => ({
  ...strict,
  required: ["type", ...required],
  properties: { type: { type: "string", const: type }, ...more },
});

const blocks = (name: "blocks" | "sections") => ({ type: "array", maxItems: MAX_BLOCKS, items: ref(name) });
const variable = { type: "string", minLength: 1, maxLength: 200 };
const text = { type: "string", minLength: 1, maxLength: MAX_TEXT };

/** A condition, a loop and a saved block, which stand among sections and within columns. */
const around = (name: "blocks" | "sections") => ({
  if: tagged("if", { variable, blocks: blocks(name), else: blocks(name) }, ["variable", "blocks"]),
  each: tagged("each", { variable, blocks: blocks(name) }, ["variable", "blocks"]),
  saved: tagged("saved", { id: { type: "string", format: "uuid" } }, ["id"]),
});

const withPrefix = (prefix: string, schemas: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${prefix}_${name}`, schema]));
const oneOf = (prefix: string, schemas: Record<string, unknown>) => ({
  type: "object",
  required: ["type"],
  discriminator: { propertyName: "type" },
  oneOf: Object.keys(schemas).map((name) => ref(`${prefix}_${name}`)),
});

const inColumns = {
  ...Object.fromEntries(Object.entries(BLOCKS).map(([type, fields]) => [type, tagged(type, properties(fields))])),
  ...around("blocks"),
};
const columns = {
  type: "array",
  minItems: 1,
  maxItems: MAX_COLUMNS,
  items: {
    ...strict,
    required: ["blocks"],
    properties: { share: { type: "number", minimum: 0.1, maximum: 10, default: 1 }, blocks: blocks("blocks") },
  },
};
const sections = {
  section: tagged("section", { columns, ...properties(SECTION) }, ["columns"]),
  ...around("sections"),
};

const markSchemas = {
  ...Object.fromEntries(["bold", "italic", "underline", "strike"].map((type) => [type, tagged(type, {})])),
  link: tagged(
    "link",
    { attrs: { ...strict, required: ["href"], properties: { href: fieldSchema({ kind: "link", default: "" }) } } },
    ["attrs"],
  ),
  colour: tagged(
    "colour",
    { attrs: { ...strict, required: ["value"], properties: { value: fieldSchema({ kind: "colour", default: "" }) } } },
    ["attrs"],
  ),
};
const marks = { type: "array", maxItems: Object.keys(markSchemas).length, items: ref("mark") };
const inlineSchemas = { text: tagged("text", { text, marks }, ["text"]), break: tagged("break", { marks }) };
const items = { type: "array", minItems: 1, maxItems: 200, items: ref("item") };
const richSchemas = {
  paragraph: tagged("paragraph", {
    attrs: { ...strict, properties: { align: { type: "string", enum: ["left", "center", "right"] } } },
    content: { type: "array", maxItems: 1_000, items: ref("inline") },
  }),
  bullets: tagged("bullets", { content: items }, ["content"]),
  numbers: tagged("numbers", { content: items }, ["content"]),
};

export const DEFINITIONS: Record<string, object> = {
  ...withPrefix("block", inColumns),
  blocks: oneOf("block", inColumns),
  ...withPrefix("part", sections),
  sections: oneOf("part", sections),
  ...withPrefix("mark", markSchemas),
  mark: oneOf("mark", markSchemas),
  ...withPrefix("inline", inlineSchemas),
  inline: oneOf("inline", inlineSchemas),
  item: tagged("item", { content: { type: "array", minItems: 1, maxItems: 50, items: ref("rich_paragraph") } }, [
    "content",
  ]),
  ...withPrefix("rich", richSchemas),
  rich: oneOf("rich", richSchemas),
  richText: tagged("doc", { content: { type: "array", minItems: 1, maxItems: 500, items: ref("rich") } }, ["content"]),
};

export const DESIGN_SCHEMA = {
  ...strict,
  required: ["version", "blocks"],
  properties: {
    version: { type: "integer", const: DESIGN_VERSION },
    settings: { ...strict, properties: { ...properties(SETTINGS), language: LANGUAGE } },
    blocks: blocks("sections"),
  },
} as const;
