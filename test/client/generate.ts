/**
 * Generates the typed half of the client (generated.ts) from the OpenAPI document. Other generators write over 10,000
 * lines and a runtime, and `npm test` must compare the output without a network.
 */
import type { OpenApi } from "../../services/gateway/openapi/document.ts";

type Node = Record<string, unknown>;
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Node;
}
interface Body {
  required?: boolean;
  content: Record<string, { schema: Node }>;
}
interface Described {
  operationId: string;
  summary: string;
  parameters?: Node[];
  requestBody?: Body;
  responses: Record<string, Node>;
}

const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const comment = (text: unknown) =>
  typeof text === "string" && text !== "" ? `/** ${text.replaceAll(/\s+/g, " ").replaceAll("*/", "*\\/")} */\n` : "";
/** A union inside an array or intersection needs parentheses. */
const grouped = (type: string) => (type.includes(" | ") ? `(${type})` : type);

function objectType(schema: Node): string {
  const {
    properties = {},
    required = [],
    additionalProperties: more,
  } = schema as {
    properties?: Record<string, Node>;
    required?: string[];
    additionalProperties?: boolean | Node;
  };
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${comment(field.description)}${key(name)}${required.includes(name) ? "" : "?"}: ${typeOf(field)};`,
  );
  const isOpen = more === true || (typeof more === "object" && fields.length === 0) || fields.length === 0;
  const rest =
    isOpen && more !== false ? [`[name: string]: ${typeof more === "object" ? typeOf(more) : "unknown"};`] : [];
  return `{\n${[...fields, ...rest].join("\n")}\n}`;
}

function plainType(type: unknown, schema: Node): string {
  switch (type) {
    case "string":
      return schema.format === "binary" ? "Blob" : "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return `${grouped(typeOf((schema.items ?? {}) as Node))}[]`;
    case "object":
      return objectType(schema);
    default:
      return "unknown";
  }
}

/** Converts a JSON Schema to a type. Keeps one of two alternatives of equal type that differ only by limits. */
function typeOf(schema: Node): string {
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1)!;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const union = (schema.anyOf ?? (schema.properties ? undefined : schema.oneOf)) as Node[] | undefined;
  if (union) return [...new Set(union.map(typeOf))].join(" | ");
  // Types cannot express additional patterns.
  const parts = (schema.allOf as Node[] | undefined)?.filter((one) => one.$ref ?? one.type);
  if (parts && parts.length > 0) return parts.map((one) => grouped(typeOf(one))).join(" & ");
  const types = [schema.type].flat();
  return [...new Set(types.map((type) => plainType(type, schema)))].join(" | ");
}

export function generate(document: OpenApi): string {
  const { components } = document;
  const behind = (node: Node): Node => {
    const [, , kind, name] = typeof node.$ref === "string" ? node.$ref.split("/") : [];
    return kind ? ((components as unknown as Record<string, Record<string, Node>>)[kind]![name!] as Node) : node;
  };
  const schemas = Object.entries(components.schemas as Record<string, Node>).map(
    ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};`,
  );

  const parametersType = (parameters: Parameter[]) =>
    `{\n${parameters
      .map(({ name, required, description, schema }) => {
        return `${comment(description)}${key(name)}${required ? "" : "?"}: ${typeOf(schema)};`;
      })
      .join("\n")}\n}`;

  /** The type of a call's `path`, `query` and `body`; a part without required fields may be omitted. */
  function requestType({ parameters = [], requestBody }: Described): string {
    const all = parameters.map((one) => behind(one) as unknown as Parameter);
    const parts: string[] = [];
    for (const place of ["path", "query"]) {
      const here = all.filter((one) => one.in === place);
      if (here.length === 0) continue;
      parts.push(`${place}${here.some(({ required }) => required) ? "" : "?"}: ${parametersType(here)};`);
    }
    if (requestBody) {
      const types = Object.entries(requestBody.content)
        .filter(([type]) => type !== "application/x-www-form-urlencoded")
        .map(([, { schema }]) => typeOf(schema));
      parts.push(`body${requestBody.required ? "" : "?"}: ${[...new Set(types)].join(" | ")};`);
    }
    return parts.length === 0 ? "Record<string, never>" : `{ ${parts.join("\n")} }`;
  }

  function answerOf({ responses }: Described): [kind: string, type: string] {
    const kinds: string[] = [];
    const types: string[] = [];
    for (const [status, response] of Object.entries(responses)) {
      if (!/^2/.test(status)) continue;
      const content = (behind(response).content ?? {}) as Record<string, { schema: Node }>;
      const json = content["application/json"];
      const isText = Object.keys(content).some((type) => type.startsWith("text/"));
      kinds.push(json ? "json" : isText ? "text" : content["*/*"] ? "bytes" : "none");
      types.push(json ? typeOf(json.schema) : isText ? "string" : content["*/*"] ? "Blob" : "null");
    }
    return [kinds[0] ?? "none", [...new Set(types)].join(" | ") || "null"];
  }

  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return { path, method: method.toUpperCase(), operation: operation as unknown as Described };
    }),
  );
  const types = operations.map(({ operation }) => {
    const [, answer] = answerOf(operation);
    return `${comment(operation.summary)}${operation.operationId}: { request: ${requestType(operation)}; answer: ${answer} };`;
  });
  const table = operations.map(({ path, method, operation }) => {
    const [answer] = answerOf(operation);
    const media = Object.keys(operation.requestBody?.content ?? {});
    const isForm = media[0] === "multipart/form-data";
    const takesKey = (operation.parameters ?? []).some((one) => behind(one).name === "Idempotency-Key");
    const more = `${isForm ? ", form: true" : ""}${takesKey ? ", takesKey: true" : ""}`;
    return `${operation.operationId}: { method: "${method}", path: "${path}", answer: "${answer}"${more} },`;
  });
  return `// Written by \`npm run client\` from the OpenAPI document. Changes belong into the contracts.

${schemas.join("\n\n")}

/** Parameters and result of each operation. */
export interface Operations {
${types.join("\n")}
}

export interface OperationEntry {
  method: string;
  path: string;
  answer: "json" | "text" | "bytes" | "none";
  /** The body is form-data. */
  form?: boolean;
  /** Takes an Idempotency-Key. */
  takesKey?: boolean;
}

export const operations: { readonly [O in keyof Operations]: OperationEntry } = {
${table.join("\n")}
};
`;
}
