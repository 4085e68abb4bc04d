/** A design in contracts: its tree is checked by check.ts, whose sentences name paths, and shown by its own schema. */
import { type Static, Type } from "../shapes.ts";
import { DEFINITIONS, DESIGN_SCHEMA } from "./schema.ts";

const DESCRIPTION =
  "Extension. Document of a visual template: a tree of blocks, from which body and text part are made.";

export const DesignTree = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  shownAs: { $ref: "#/components/schemas/Design" },
});
/** A block of any kind, at the top of a design or in a column. */
export const BlockTree = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  shownAs: { anyOf: [{ $ref: "#/components/schemas/DesignSections" }, { $ref: "#/components/schemas/DesignBlocks" }] },
});
export type DesignTree = Static<typeof DesignTree>;

const pascal = (name: string) => name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
const component = (name: string) => `Design${pascal(name)}`;
const address = (name: string) => `#/components/schemas/${component(name)}`;
const nameOf = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

/** Formats that only this service knows. */
const OWN_FORMATS: Record<string, string> = {
  link: "http, https, mailto or tel address, or one that starts with a variable. Empty: no link.",
  image: "http or https address, or one that starts with a variable. Empty: no image.",
};

type Node = Record<string, unknown>;

function published(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(published);
  if (typeof node !== "object" || node === null) return node;
  const { format, discriminator, ...rest } = node as Node & { oneOf?: { $ref: string }[] };
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, published(value)]));
  if (typeof rest.$ref === "string") return { $ref: address(nameOf(rest.$ref)) };
  if (typeof format === "string")
    Object.assign(copy, format in OWN_FORMATS ? { description: OWN_FORMATS[format] } : { format });
  if (discriminator && rest.oneOf) {
    // Without a mapping the value of `type` would have to be the name of the component.
    const mapping = rest.oneOf.map(({ $ref }) => [nameOf($ref).split("_").at(-1), address(nameOf($ref))]);
    Object.assign(copy, { discriminator: { propertyName: "type", mapping: Object.fromEntries(mapping) } });
  }
  return copy;
}

/** Schemas of designs for the OpenAPI document, by name. */
export const designComponents = (): Record<string, Node> => ({
  Design: { ...(published(DESIGN_SCHEMA) as Node), description: DESCRIPTION },
  ...Object.fromEntries(
    Object.entries(DEFINITIONS).map(([name, schema]) => [component(name), published(schema) as Node]),
  ),
});
