/** Writes manifests as YAML with Helm expressions: objects in, template text out. */
import { stringify } from "yaml";

type Scalar = string | number | boolean | null;
export type Node = Scalar | Filled | Verbatim | Conditional | Node[] | { [key: string]: Node };
export type Fields = { [key: string]: Node };

/** A value filled in by Helm: on the line of its key, or as YAML on the following lines. */
export class Filled {
  readonly expression: string;
  readonly isYaml: boolean;

  constructor(expression: string, { isYaml = false } = {}) {
    this.expression = expression;
    this.isYaml = isYaml;
  }
}

/** A template line among an object's fields or a list's items; INDENT becomes its indentation. */
export class Verbatim {
  readonly line: string;

  constructor(line: string) {
    this.line = line;
  }
}

/** A conditional field or item; with `areFields`, several fields. */
export class Conditional {
  readonly condition: string;
  readonly node: Node;
  readonly areFields: boolean;

  constructor(condition: string, node: Node, { areFields = false } = {}) {
    this.condition = condition;
    this.node = node;
    this.areFields = areFields;
  }
}

export const inline = (expression: string): Filled => new Filled(expression);
export const asYaml = (expression: string): Filled => new Filled(expression, { isYaml: true });

/** Helm reads YAML 1.1, where an unquoted "off" is a boolean. */
function scalar(value: Scalar): string {
  const text = stringify(value, { version: "1.1", lineWidth: 0 }).trimEnd();
  if (text.includes("\n") || text.includes("{{")) throw new Error(`Cannot be written on one line: ${text}`);
  return text;
}

function fieldLines(key: string, value: Node, indent: number): string[] {
  const pad = " ".repeat(indent);
  if (value instanceof Verbatim) return [pad + value.line.replaceAll("INDENT", String(indent))];
  if (value instanceof Conditional) {
    const inside = value.areFields ? yamlLines(value.node as Fields, indent) : fieldLines(key, value.node, indent);
    return [`${pad}{{- if ${value.condition} }}`, ...inside, `${pad}{{- end }}`];
  }
  if (value instanceof Filled) {
    return value.isYaml
      ? [`${pad}${key}:`, `${pad}  {{- toYaml ${value.expression} | nindent ${indent + 2} }}`]
      : [`${pad}${key}: {{ ${value.expression} }}`];
  }
  if (value === null || typeof value !== "object") return [`${pad}${key}: ${scalar(value)}`];
  if (Object.keys(value).length === 0) return [`${pad}${key}: ${Array.isArray(value) ? "[]" : "{}"}`];
  return [`${pad}${key}:`, ...(Array.isArray(value) ? itemLines(value, indent + 2) : yamlLines(value, indent + 2))];
}

function itemLines(items: Node[], indent: number): string[] {
  const pad = " ".repeat(indent);
  return items.flatMap((item) => {
    if (item instanceof Verbatim) return [pad + item.line.replaceAll("INDENT", String(indent))];
    if (item instanceof Conditional) {
      return [`${pad}{{- if ${item.condition} }}`, ...itemLines([item.node], indent), `${pad}{{- end }}`];
    }
    if (item instanceof Filled) return [`${pad}- {{ ${item.expression} }}`];
    if (item === null || typeof item !== "object") return [`${pad}- ${scalar(item)}`];
    if (Array.isArray(item)) throw new Error("A list within a list is not written");
    if (Object.keys(item).length === 0) return [`${pad}- {}`];
    const [first, ...rest] = yamlLines(item, indent + 2);
    if (first!.trimStart().startsWith("{{")) throw new Error(`An item begins with a condition: ${first}`);
    return [`${pad}- ${first!.trimStart()}`, ...rest];
  });
}

function yamlLines(fields: Fields, indent: number): string[] {
  return Object.entries(fields).flatMap(([key, value]) => fieldLines(key, value, indent));
}

/** One document of a template, without final newline. */
export const templateText = (document: Fields): string => yamlLines(document, 0).join("\n");
