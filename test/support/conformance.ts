/**
 * Checks responses against the OpenAPI document. A response that the document does not describe is an error in one of
 * the two.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { contractOf } from "../../services/contracts.ts";
import { describeApi, type OpenApi } from "../../services/gateway/openapi/document.ts";
import { defaultStatusesOf } from "../../services/gateway/openapi/error-responses.ts";
import { routes } from "../../services/gateway/routes.ts";
import { permissionOf } from "../../services/permissions.ts";

export interface Seen {
  status: number;
  headers: Headers;
  body: unknown;
  text: string;
}

type Schema = Record<string, unknown>;
interface Response {
  $ref?: string;
  content?: Record<string, { schema: Schema }>;
}
interface Template {
  path: string;
  pattern: RegExp;
  operations: Record<string, { responses: Record<string, Response> }>;
}

/** Closes objects that list their properties, so that an extra field is noticed. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  return copy.properties && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

export class Conformance {
  readonly #templates: Template[];
  readonly #responses: Record<string, Response>;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #compiled = new Map<Schema, ValidateFunction>();

  constructor(document: OpenApi) {
    addFormats.default(this.#ajv, ["date-time", "uri", "uuid"]);
    this.#ajv.addFormat("email", /@/);
    this.#ajv.addFormat("binary", true);
    this.#ajv.addSchema({ $id: "api", components: closed(document.components) });
    this.#responses = document.components.responses as Record<string, Response>;
    this.#templates = Object.entries(document.paths).map(([path, operations]) => ({
      path,
      pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      operations: operations as Template["operations"],
    }));
  }

  /** Describes the difference; null if the response conforms. */
  errorIn(method: string, path: string, seen: Seen): string | null {
    if (/^\/(docs\/|openapi\.json$|$|api\/$)/.test(path)) return null;
    const missing = this.#missingHeader(seen);
    if (missing) return `lacks the header ${missing}`;
    const template = this.#templates.find(({ pattern }) => pattern.test(path));
    const documentedMethod = method === "HEAD" ? "GET" : method;
    const operation = template?.operations[documentedMethod.toLowerCase()];
    if (!operation) return this.#undescribed(method, template !== undefined, seen);
    const response = operation.responses[seen.status] ?? this.#rest(documentedMethod, template!, seen.status);
    if (!response) return `${seen.status} is not among ${Object.keys(operation.responses).join(", ")}`;
    const described = response.$ref ? this.#responses[response.$ref.split("/").at(-1)!]! : response;
    return method === "HEAD" ? null : this.#contentFault(described, seen);
  }

  /** `default` covers only some statuses, depending on the route. */
  #rest(method: string, { path, operations }: Template, status: number): Response | undefined {
    const route = routes.find((one) => one.method === method && one.path.replaceAll(/:(\w+)/g, "{$1}") === path);
    return route && defaultStatusesOf(route).includes(status)
      ? operations[method.toLowerCase()]!.responses.default
      : undefined;
  }

  #missingHeader({ status, headers }: Seen): string | undefined {
    const expected = ["X-Request-Id", "X-Content-Type-Options", "Content-Security-Policy"];
    if (status === 429 || status === 503) expected.push("Retry-After");
    if (status === 401) expected.push("WWW-Authenticate");
    return expected.find((name) => !headers.has(name));
  }

  /** Expected statuses of paths and methods that the document does not contain. */
  #undescribed(method: string, isPath: boolean, { status }: Seen): string | null {
    if (method === "OPTIONS" && isPath) return status === 204 ? null : `OPTIONS answered ${status}`;
    const expected = isPath ? [405] : [404, 308];
    return expected.includes(status) ? null : `is not described and answered ${status}`;
  }

  #contentFault({ content }: Response, seen: Seen): string | null {
    const type = (seen.headers.get("content-type") ?? "").split(";")[0]!;
    if (!content) return seen.text === "" ? null : "has a body where none is described";
    const media = content[type] ?? content["*/*"];
    if (!media) return `has the type ${type} instead of ${Object.keys(content).join(" or ")}`;
    if (type !== "application/json") return null;
    const validate = this.#validator(media.schema);
    return validate(seen.body) ? null : this.#ajv.errorsText(validate.errors, { dataVar: "body" });
  }

  #validator(schema: Schema): ValidateFunction {
    const compiled = this.#compiled.get(schema);
    if (compiled) return compiled;
    const text = JSON.stringify(closed(schema)).replaceAll('"#/components/', '"api#/components/');
    const validate = this.#ajv.compile(JSON.parse(text) as Schema);
    this.#compiled.set(schema, validate);
    return validate;
  }
}

/** Shared by the test files of a worker: compiling the schemas of a response takes longer than the request. */
const store = globalThis as unknown as Record<symbol, { text: string; conformance: Conformance } | undefined>;
const KEY = Symbol.for("conformance that test files share");

function conformanceTo(document: OpenApi): Conformance {
  const text = JSON.stringify(document);
  if (store[KEY]?.text !== text) store[KEY] = { text, conformance: new Conformance(document) };
  return store[KEY]!.conformance;
}

let shared: Conformance | undefined;

/** Throws for an undescribed response, and for a 500, which is described but never right in a test. */
export function checkResponse(method: string, path: string, seen: Seen): void {
  shared ??= conformanceTo(describeApi({ routes, contractOf, permissionOf, baseUrl: "http://localhost" }));
  const error = seen.status === 500 ? "is a 500" : shared.errorIn(method, path, seen);
  if (error) throw new Error(`${method} ${path} → ${seen.status} ${error}\n${seen.text.slice(0, 2_000)}`);
}
