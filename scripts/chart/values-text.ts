/** Writes values.yaml with comments and values.schema.json from one description of the values. */
import { stringify } from "yaml";
import type { Json } from "../../test/support/kustomize.ts";

export interface Value {
  description: string;
  initial: unknown;
  schema: Json;
}
export interface Group {
  description: string;
  values: Values;
}
export interface Values {
  [name: string]: Value | Group;
}

const COLUMNS = 110;

const isGroup = (one: Value | Group): one is Group => "values" in one;

function comment(text: string, pad: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ").filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < COLUMNS) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${pad}# ${word}`);
  }
  return lines;
}

function valueLines(values: Values, indent: number): string[] {
  const pad = " ".repeat(indent);
  return Object.entries(values).flatMap(([name, one]) => {
    const above = comment(one.description, pad);
    if (isGroup(one)) return [...above, `${pad}${name}:`, ...valueLines(one.values, indent + 2)];
    // Helm reads YAML 1.1, where an unquoted "off" is a boolean.
    const yaml = stringify({ [name]: one.initial }, { version: "1.1", lineWidth: 0 }).trimEnd();
    return [...above, ...yaml.split("\n").map((line) => pad + line)];
  });
}

export function valuesFile(head: string, values: Values): string {
  const groups = Object.entries(values).map(([name, one]) => valueLines({ [name]: one }, 0).join("\n"));
  return `${comment(head, "").join("\n")}\n\n${groups.join("\n\n")}\n`;
}

function schemaOf(one: Value | Group): Json {
  const described = one.description ? { description: one.description } : {};
  if (!isGroup(one)) return { ...described, ...one.schema };
  const properties = Object.entries(one.values).map(([name, inner]) => [name, schemaOf(inner)]);
  return {
    ...described,
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

/** The schema that Helm validates values with; it refuses unknown names. */
export function valuesSchema(title: string, values: Values): string {
  const { properties, ...rest } = schemaOf({ description: title, values }) as Json & { properties: Json };
  // Values that a parent chart shares with this one.
  const schema = { ...rest, properties: { ...properties, global: { type: "object" } } };
  return `${JSON.stringify({ $schema: "http://json-schema.org/draft-07/schema#", ...schema }, null, 2)}\n`;
}
