/**
 * Gives each field a description and an example where its contract has none (fields/), and shortens what JSON Schema can say
 * in fewer words.
 */
import { audience } from "./fields/audience.ts";
import { common, type FieldNotes } from "./fields/common.ts";
import { people } from "./fields/people.ts";
import { sending } from "./fields/sending.ts";
import { servers } from "./fields/servers.ts";

export type Schema = Record<string, unknown>;

const NOTES: FieldNotes = { ...common, ...sending, ...audience, ...servers, ...people };

const BY_FORMAT: Record<string, string> = {
  uuid: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
  "date-time": "2026-10-05T08:00:00.000Z",
  email: "ann@example.com",
  uri: "https://lantern.example/books",
};

/** `scopes`: the names around the field, the nearest first. */
function noteOf(name: string, scopes: readonly string[]): readonly [description?: string, example?: unknown] {
  const scope = scopes.find((one) => `${one}.${name}` in NOTES);
  const note = NOTES[scope ? `${scope}.${name}` : name];
  return typeof note === "string" ? [note] : (note ?? []);
}

/** `null` beside one type is a type of its own in JSON Schema. */
function withoutNullUnion(schema: Schema): Schema {
  const { anyOf, ...rest } = schema as { anyOf?: Schema[] };
  if (anyOf?.length !== 2 || anyOf[1]!.type !== "null" || typeof anyOf[0]!.type !== "string") return schema;
  const { type, ...one } = anyOf[0]!;
  const values = one.enum ? { enum: [...(one.enum as unknown[]), null] } : {};
  return { ...one, ...rest, type: [type, "null"], ...values };
}

const types = ({ type }: Schema): unknown[] => (Array.isArray(type) ? type : [type]);

/** Its values are listed, or its parts have examples of their own. */
function speaksForItself(schema: Schema): boolean {
  if (["enum", "const", "examples", "$ref"].some((key) => key in schema)) return true;
  const alternatives = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (alternatives) return alternatives.every((one) => one.type === "null" || partsSpeak(one));
  if (types(schema).includes("array")) return partsSpeak((schema.items ?? {}) as Schema);
  return types(schema).includes("boolean") || schema.properties !== undefined;
}

const partsSpeak = (schema: Schema): boolean => "$ref" in schema || "enum" in schema || "properties" in schema;

function noted(schema: Schema, name: string, scopes: readonly string[]): Schema {
  if ("$ref" in schema) return schema;
  const [description, example] = noteOf(name, scopes);
  const shown = example === undefined ? BY_FORMAT[schema.format as string] : example;
  return {
    ...schema,
    ...(schema.description === undefined && description !== undefined ? { description } : {}),
    ...(shown === undefined || speaksForItself(schema) ? {} : { examples: [shown] }),
  };
}

/** A field (or parameter) with its note. */
export function describedField(given: Schema, name: string, scopes: readonly string[]): Schema {
  const field = noted(withoutNullUnion(given), name, scopes);
  return described(field, [name, ...scopes]);
}

export function described(given: Schema, scopes: readonly string[]): Schema {
  const schema = withoutNullUnion(given);
  const within = (node: unknown) => described(node as Schema, scopes);
  const copy: Schema = { ...schema };
  // An example of the whole needs none of its parts.
  if (schema.properties && !schema.examples) {
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, describedField(field as Schema, name, scopes)]),
    );
  }
  if (schema.items && !schema.examples) copy.items = within(schema.items);
  for (const key of ["anyOf", "oneOf"]) if (schema[key]) copy[key] = (schema[key] as unknown[]).map(within);
  return copy;
}
