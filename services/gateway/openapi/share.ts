/**
 * Moves repeated fields, bodies and responses to `components` and references them there; written out, they would be
 * most of the document.
 */
import type { Schema } from "./describe-fields.ts";

type Kind = "schemas" | "responses";
interface Use {
  kind: Kind;
  node: Schema;
  name: string;
  /** Prefix for a name that another schema already has: the resource or operation around it. */
  scope: string;
  times: number;
}
type Visit = (kind: Kind, name: string, scope: string, node: Schema) => unknown;

const pascal = (text: string) =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)(\w)/g, (_, letter: string) => letter.toUpperCase());
const isObject = (node: unknown): node is Schema => typeof node === "object" && node !== null;

/** Keys that contain values instead of schemas, whatever their fields are called. */
const VALUES = new Set(["example", "examples", "enum", "const", "default"]);

/** Copies `node`; `visit` may replace each field, body and response. */
function mapped(node: unknown, scope: string, visit: Visit): unknown {
  if (Array.isArray(node)) return node.map((one) => mapped(one, scope, visit));
  if (!isObject(node)) return node;
  const inner = typeof node.operationId === "string" ? pascal(node.operationId) : scope;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (VALUES.has(key) || !isObject(value)) return [key, value];
      const eachAs = (kind: Kind) =>
        Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visit(kind, name, inner, one as Schema)]));
      if (key === "properties") return [key, eachAs("schemas")];
      if (key === "responses") return [key, eachAs("responses")];
      if (key === "schema" && value.type === "object") return [key, visit("schemas", `${inner}Body`, inner, value)];
      return [key, mapped(value, inner, visit)];
    }),
  );
}

/** Names a response after its content. */
function responseName({ content }: Schema): string {
  const [type, media] = Object.entries((content ?? {}) as Record<string, { schema?: Schema }>)[0] ?? [];
  if (!type) return "Done";
  if (type === "*/*") return "Bytes";
  const schema = media?.schema ?? {};
  const results = (schema.properties as Record<string, Schema> | undefined)?.results;
  const ref = (schema.$ref ?? (results?.items as Schema | undefined)?.$ref) as string | undefined;
  if (!ref) return pascal(type.split("/")[1]!);
  return `${ref.split("/").at(-1)}${results ? "Page" : ""}`;
}

/** A schema with such a name would shadow the platform's type in generated clients. */
const PLATFORM_TYPES = ["Array", "Blob", "Date", "File", "Object", "Record", "Request", "Response", "String"];

/** Shorter than a reference would be. */
const isSmall = (text: string) => text.length < 60;

export interface Shared {
  paths: unknown;
  webhooks: unknown;
  schemas: Record<string, Schema>;
  responses: Record<string, object>;
}

export function share({ paths, webhooks, schemas, responses }: Shared): Shared {
  const uses = new Map<string, Use>();
  const keyOf = (kind: Kind, node: Schema) => `${kind} ${JSON.stringify(node)}`;
  const count: Visit = (kind, name, scope, node) => {
    const known = uses.get(keyOf(kind, node));
    if (known) known.times += 1;
    else if (!("$ref" in node)) uses.set(keyOf(kind, node), { kind, node, name, scope, times: 1 });
    return mapped(node, scope, count);
  };
  mapped({ paths, webhooks }, "", count);
  for (const [name, schema] of Object.entries(schemas)) mapped(schema, name, count);

  const names = new Map<string, string>();
  const usedNames: Record<Kind, Set<string>> = {
    schemas: new Set([...Object.keys(schemas), ...PLATFORM_TYPES]),
    responses: new Set(Object.keys(responses)),
  };
  const often = [...uses].filter(([key, { times }]) => times > 1 && !isSmall(key));
  for (const [key, { kind, node, name, scope }] of often.toSorted(([, a], [, b]) => b.times - a.times)) {
    const plain = kind === "responses" ? responseName(node) : pascal(name);
    // The same operation also accepts a shorter body as a form.
    const longer = name === `${scope}Body` ? `${scope}JsonBody` : `${plain}Of${scope}`;
    const candidates = [plain, longer, ...Array.from({ length: 99 }, (_, at) => `${plain}${at + 2}`)];
    const chosen = candidates.find((one) => !usedNames[kind].has(one))!;
    usedNames[kind].add(chosen);
    names.set(key, chosen);
  }

  const replace: Visit = (kind, _, scope, node) => {
    const name = names.get(keyOf(kind, node));
    return name ? { $ref: `#/components/${kind}/${name}` } : mapped(node, scope, replace);
  };
  const hoisted = (kind: Kind) =>
    Object.fromEntries(
      often
        .filter(([, use]) => use.kind === kind)
        .map(([key, { node, scope }]) => [names.get(key)!, mapped(node, scope, replace)]),
    );
  return {
    ...(mapped({ paths, webhooks }, "", replace) as Pick<Shared, "paths" | "webhooks">),
    schemas: {
      ...Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, mapped(one, name, replace) as Schema])),
      ...(hoisted("schemas") as Record<string, Schema>),
    },
    responses: { ...responses, ...(hoisted("responses") as Record<string, object>) },
  };
}
