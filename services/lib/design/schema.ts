/** The JSON Schema of designs, made from the settings of the blocks. Published in the OpenAPI document. */
import { BLOCKS } from "./blocks/fields.ts";
import { BRAND_COLOURS } from "./brand.ts";
import { DESIGN_VERSION, MAX_BLOCKS, MAX_COLUMNS, SECTION, SETTINGS } from "./design.ts";
import { colour, type Field, type Fields, link } from "./fields.ts";

const MAX_ADDRESS = 2_048;
const MAX_TEXT = 50_000;
const MAX_HTML = 200_000;

const COLOUR = `^(?:|#[0-9a-fA-F]{6}|brand\\.(?:${BRAND_COLOURS.join("|")}))$`;
/** BCP 47, or empty. */
const LANGUAGE = {
  type: "string",
  pattern: "^(?:|[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4})$",
  default: "",
  description: "Language of the mail (BCP 47), for screen readers. Empty: unknown.",
  examples: ["en"],
};
const strict = { type: "object", additionalProperties: false } as const;
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });

/** Meaning of a setting by its name, which is the same in every kind of block. */
const ABOUT: Record<string, string> = {
  align: "Alignment.",
  alt: "What the image shows, for people who do not see it. Empty: decoration.",
  author: "Name of the person quoted. Empty: no name is shown.",
  background: "Background colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty.",
  button: "Words on the button. Empty: no button.",
  cells: "Cells of the row, as many as the first row has.",
  color: "Colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty for the usual one.",
  content_background: "Background of sections that have none of their own.",
  entries: "Entries, in order.",
  header: "True: the first row has the headings of the columns.",
  height: "Height in pixels.",
  href: "Address that opens: http, https, mailto, tel, or starting with a variable. Empty: none.",
  html: "HTML of the author, with everything that the body of a template may contain.",
  kind: "Marks before the entries.",
  level: "Level of the heading; 1 is the largest.",
  link_color: "Colour of links in texts.",
  links: "Links, in order.",
  network: "Network whose name is shown.",
  padding: "Space above and below in pixels.",
  preferences: "Words of the link to the preferences page. Empty: no link.",
  price: "Price, as text.",
  radius: "Radius of the corners in pixels.",
  rows: "Rows, in order.",
  size: "Size of the text in pixels.",
  src: "http or https address of the image, or one that starts with a variable. Empty: no image.",
  stack: "True: columns stand below each other on phones.",
  text: "Text; may contain variables.",
  text_color: "Colour of texts that have none of their own.",
  thickness: "Thickness in pixels.",
  title: "Title; may contain variables.",
  unsubscribe: "Words of the link that unsubscribes. Empty: no link.",
  value: "Colour: `#rrggbb`, or a brand colour such as `brand.primary`.",
  vertical: "Alignment of columns of different height.",
  wide: "True: as wide as the column.",
  width: "Width in pixels; 0: as wide as possible.",
};
const EXAMPLES: Partial<Record<Field["kind"], unknown>> = {
  line: "Hello [[first_name|default:there]]",
  html: "<p>Hello</p>",
  link: "https://example.com/",
  image: "https://example.com/lantern.png",
  colour: "brand.primary",
  flag: true,
};
const examplesOf = (field: Field) => {
  const example = field.kind === "pixels" ? field.default : EXAMPLES[field.kind];
  return example === undefined ? {} : { examples: [example] };
};

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
        examples: [[{}]],
        minItems: field.minimum,
        maxItems: field.maximum,
        items: { ...strict, properties: properties(field.fields) },
      };
  }
}

const properties = (fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      { ...fieldSchema(field), description: ABOUT[name], ...examplesOf(field) },
    ]),
  );

/** Description of an object of this `type`. */
const KINDS: Record<string, string> = {
  bold: "Bold text.",
  break: "Line break.",
  bullets: "List with bullets.",
  button: "Button.",
  card: "Card of a product: image, title, text, price and button.",
  colour: "Coloured text.",
  divider: "Horizontal line.",
  doc: "Paragraphs and lists with marks, as ProseMirror stores them.",
  each: "Repeats its blocks for each entry of a variable.",
  footer: "Company name and footer text, with the links to unsubscribe and to the preferences.",
  header: "Logo of the company, or its name.",
  heading: "Heading.",
  html: "HTML of the author.",
  if: "Blocks for recipients for whom a variable is filled and not false, and others for everybody else.",
  image: "Image, which may be a link.",
  italic: "Italic text.",
  item: "Entry of a list.",
  link: "Text that is a link.",
  list: "List of short texts.",
  numbers: "Numbered list.",
  paragraph: "Paragraph.",
  quote: "Quotation.",
  saved: "Saved block, by its id.",
  section: "Section of one to four columns.",
  social: "Links to profiles in social networks.",
  spacer: "Empty space.",
  strike: "Struck text.",
  table: "Table of texts.",
  text: "Text.",
  underline: "Underlined text.",
};

const tagged = (type: string, more: Record<string, unknown>, required: string[] = []) => ({
  ...strict,
  description: KINDS[type],
  required: ["type", ...required],
  properties: { type: { type: "string", const: type, description: "Kind." }, ...more },
});

const blocks = (name: "blocks" | "sections") => ({
  type: "array",
  maxItems: MAX_BLOCKS,
  items: ref(name),
  description: "Blocks, from top to bottom.",
  examples: [[]],
});
const variable = {
  type: "string",
  minLength: 1,
  maxLength: 200,
  description: "Name of a variable, with dots for objects.",
  examples: ["vip"],
};
const text = {
  type: "string",
  minLength: 1,
  maxLength: MAX_TEXT,
  description: "Text; may contain variables.",
  examples: ["Hello [[first_name|default:there]]"],
};

/** A condition, a loop and a saved block, which stand among sections and within columns. */
const around = (name: "blocks" | "sections") => ({
  if: tagged("if", { variable, blocks: blocks(name), else: blocks(name) }, ["variable", "blocks"]),
  each: tagged("each", { variable, blocks: blocks(name) }, ["variable", "blocks"]),
  saved: tagged(
    "saved",
    {
      id: {
        type: "string",
        format: "uuid",
        description: "Id of the saved block.",
        examples: ["0190b3a4-7a1c-7c3f-9a52-0d6c1f6a2b11"],
      },
    },
    ["id"],
  ),
});

const withPrefix = (prefix: string, schemas: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${prefix}_${name}`, schema]));
const oneOf = (prefix: string, schemas: Record<string, unknown>) => ({
  type: "object",
  description: "One of these kinds, by `type`.",
  required: ["type"],
  discriminator: { propertyName: "type" },
  oneOf: Object.keys(schemas).map((name) => ref(`${prefix}_${name}`)),
});

const inColumns = {
  ...Object.fromEntries(Object.entries(BLOCKS).map(([type, fields]) => [type, tagged(type, properties(fields))])),
  ...around("blocks"),
};
const SHARE = {
  type: "number",
  minimum: 0.1,
  maximum: 10,
  default: 1,
  description: "Share of the section's width; with 1 everywhere columns are equally wide.",
  examples: [2],
};
const columns = {
  type: "array",
  description: "Columns, from the start of the line.",
  examples: [[{ blocks: [] }]],
  minItems: 1,
  maxItems: MAX_COLUMNS,
  items: {
    ...strict,
    required: ["blocks"],
    properties: { share: SHARE, blocks: blocks("blocks") },
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
    {
      attrs: {
        ...strict,
        description: "Settings of the mark.",
        required: ["href"],
        properties: properties({ href: link() }),
      },
    },
    ["attrs"],
  ),
  colour: tagged(
    "colour",
    {
      attrs: {
        ...strict,
        description: "Settings of the mark.",
        required: ["value"],
        properties: properties({ value: colour() }),
      },
    },
    ["attrs"],
  ),
};
const marks = {
  type: "array",
  description: "Marks of the text.",
  examples: [[{ type: "bold" }]],
  maxItems: Object.keys(markSchemas).length,
  items: ref("mark"),
};
const inlineSchemas = { text: tagged("text", { text, marks }, ["text"]), break: tagged("break", { marks }) };
const items = {
  type: "array",
  description: "Entries of the list.",
  examples: [[{ type: "item", content: [{ type: "paragraph" }] }]],
  minItems: 1,
  maxItems: 200,
  items: ref("item"),
};
const richSchemas = {
  paragraph: tagged("paragraph", {
    attrs: {
      ...strict,
      description: "Settings of the paragraph.",
      properties: { align: { type: "string", enum: ["left", "center", "right"], description: ABOUT.align } },
    },
    content: {
      type: "array",
      maxItems: 1_000,
      items: ref("inline"),
      description: "Texts and line breaks.",
      examples: [[{ type: "text", text: "Hello" }]],
    },
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
  item: tagged(
    "item",
    {
      content: {
        type: "array",
        minItems: 1,
        maxItems: 50,
        items: ref("rich_paragraph"),
        description: "Paragraphs.",
        examples: [[{ type: "paragraph" }]],
      },
    },
    ["content"],
  ),
  ...withPrefix("rich", richSchemas),
  rich: oneOf("rich", richSchemas),
  richText: tagged(
    "doc",
    {
      content: {
        type: "array",
        minItems: 1,
        maxItems: 500,
        items: ref("rich"),
        description: "Paragraphs and lists.",
        examples: [[{ type: "paragraph" }]],
      },
    },
    ["content"],
  ),
};

export const DESIGN_SCHEMA = {
  ...strict,
  required: ["version", "blocks"],
  properties: {
    version: { type: "integer", const: DESIGN_VERSION, description: "Version of this format." },
    settings: {
      ...strict,
      description: "Look of the whole mail.",
      properties: { ...properties(SETTINGS), language: LANGUAGE },
    },
    blocks: blocks("sections"),
  },
} as const;
