/** Shortens JSON Schemas for the document and adds an example to each id, time and address. */
export type Schema = Record<string, unknown>;

const BY_FORMAT: Record<string, string> = {
  uuid: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
  "date-time": "2026-10-05T08:00:00.000Z",
  email: "ann@example.com",
  uri: "https://lantern.example/books",
};

/** JSON Schema writes `null` beside one type as a list of types. */
function withoutNullUnion(schema: Schema): Schema {
  const { anyOf, ...rest } = schema as { anyOf?: Schema[] };
  if (anyOf?.length !== 2 || anyOf[1]!.type !== "null" || typeof anyOf[0]!.type !== "string") return schema;
  const { type, ...one } = anyOf[0]!;
  const values = one.enum ? { enum: [...(one.enum as unknown[]), null] } : {};
  return { ...one, ...rest, type: [type, "null"], ...values };
}

const types = ({ type }: Schema): unknown[] => (Array.isArray(type) ? type : [type]);

/** True if the values are listed or the parts have their own examples. */
function isSelfExplanatory(schema: Schema): boolean {
  if (["enum", "const", "examples", "$ref"].some((key) => key in schema)) return true;
  const alternatives = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (alternatives) return alternatives.every((one) => one.type === "null" || partsHaveExamples(one));
  if (types(schema).includes("array")) return partsHaveExamples((schema.items ?? {}) as Schema);
  return types(schema).includes("boolean") || schema.properties !== undefined;
}

const partsHaveExamples = (schema: Schema): boolean => "$ref" in schema || "enum" in schema || "properties" in schema;

/** A field or parameter, with an example if the format alone determines one. */
export function describedField(given: Schema): Schema {
  const field = withoutNullUnion(given);
  const example = BY_FORMAT[field.format as string];
  return described(example === undefined || isSelfExplanatory(field) ? field : { ...field, examples: [example] });
}

export function described(given: Schema): Schema {
  const schema = withoutNullUnion(given);
  const within = (node: unknown) => described(node as Schema);
  const copy: Schema = { ...schema };
  // An example of the object makes examples of its fields redundant.
  if (schema.properties && !schema.examples) {
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, describedField(field as Schema)]),
    );
  }
  if (schema.items && !schema.examples) copy.items = within(schema.items);
  for (const key of ["anyOf", "oneOf"]) if (schema[key]) copy[key] = (schema[key] as unknown[]).map(within);
  return copy;
}
