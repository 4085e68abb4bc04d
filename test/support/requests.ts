/**
 * Generates requests from the OpenAPI document with fast-check: valid ones, and ones with a violation. URLs and mail
 * servers stay on this machine.
 */
import fc from "fast-check";
import type { OpenApi } from "../../services/gateway/openapi/document.ts";
import { ONE_LINE_PATTERN } from "../../services/lib/one-line.ts";

export type Schema = Record<string, unknown> & {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};
interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
}
interface Described {
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: Record<string, unknown> }> };
}

export interface GeneratedRequest {
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
}

const HOSTILE: unknown[] = [
  "",
  " ",
  "\0",
  "\ud800",
  "a\r\nb",
  "x".repeat(70_000),
  "[[#each x]][[",
  "9999-12-31T23:59:59-23:59",
  "__proto__",
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  true,
  null,
  [],
  {},
  [null],
  { toString: null },
];

/** Values that would leave the machine or contain the caller's credentials. */
const FIXED: Record<string, fc.Arbitrary<unknown>> = {
  host: fc.constantFrom("127.0.0.1", "localhost"),
  port: fc.constantFrom(9, 2525),
  url: fc.constantFrom("http://127.0.0.1:9/hook", "http://localhost:9/"),
  website: fc.constantFrom("http://127.0.0.1:9/", "https://localhost/"),
};

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const MAX_DEPTH = 3;

export class Requests {
  readonly #document: OpenApi;
  readonly #ids: readonly string[];
  /** Blocks around the one being made. */
  #depth = 0;

  constructor(document: OpenApi, ids: readonly string[]) {
    this.#document = document;
    this.#ids = ids;
  }

  operation(method: string, path: string): Described {
    const documented = path.replaceAll(/:(\w+)/g, "{$1}");
    const operation = this.#document.paths[documented]![method.toLowerCase()] as unknown as Described;
    const given = (operation.parameters ?? []) as (Parameter | { $ref: string })[];
    const parameters = given.map((one) => ("$ref" in one ? this.#component("parameters", one.$ref) : one));
    return { ...operation, parameters: parameters as Parameter[] };
  }

  bodyOf(method: string, path: string) {
    const body = this.operation(method, path).requestBody?.content["application/json"];
    return body && { ...body, schema: this.#whole(body.schema) };
  }

  request(method: string, path: string): fc.Arbitrary<GeneratedRequest> {
    const { parameters } = this.operation(method, path);
    const schema = this.bodyOf(method, path)?.schema;
    const of = (location: string) => {
      const here = parameters.filter((parameter) => parameter.in === location);
      const texts = here.map(({ name, schema }) => [name, fc.oneof(this.value(schema), this.#wrong()).map(asText)]);
      const some = fc.record(Object.fromEntries(texts) as Record<string, fc.Arbitrary<string>>, { requiredKeys: [] });
      return some as fc.Arbitrary<Record<string, string>>;
    };
    const body = schema ? this.body(schema) : fc.constant(undefined);
    const headers = of("header").map((given) =>
      Object.fromEntries(Object.entries(given).map(([name, text]) => [name, text.replaceAll(/[^\x20-\x7e]/g, "")])),
    );
    return fc.record({ query: of("query"), headers, body });
  }

  /** Half of the bodies are valid, the others have one invalid field. */
  body(schema: Schema): fc.Arbitrary<Record<string, unknown>> {
    const right = this.value(schema) as fc.Arbitrary<Record<string, unknown>>;
    const names = Object.keys(schema.properties ?? {});
    if (names.length === 0) return right;
    const wrong = fc
      .tuple(right, fc.constantFrom(...names), this.#wrong())
      .map(([body, name, value]) => ({ ...body, [name]: value }));
    const lacking = fc.tuple(right, fc.constantFrom(...names)).map(([body, name]) => ({ ...body, [name]: undefined }));
    return fc.oneof({ arbitrary: right, weight: 3 }, { arbitrary: wrong, weight: 2 }, lacking);
  }

  value(given: Schema, name = ""): fc.Arbitrary<unknown> {
    const fixed = FIXED[name];
    if (fixed) return fixed;
    const schema = this.#whole(given);
    if ("const" in schema) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.discriminator) return this.#block(schema.oneOf ?? []);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => this.value(one, name)));
    if (Array.isArray(schema.type)) {
      return fc.oneof(...schema.type.map((type) => this.value({ ...schema, type }, name)));
    }
    switch (schema.type) {
      case "string":
        return this.#text(schema);
      case "integer":
        return fc.integer({
          min: Number(schema.minimum ?? -100),
          max: Math.min(Number(schema.maximum ?? 1e6), 2 ** 31),
        });
      case "number":
        return fc.double({ noNaN: true, noDefaultInfinity: true });
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      case "array":
        return fc.array(this.value(schema.items ?? {}), {
          minLength: Number(schema.minItems ?? 0),
          maxLength: Math.max(Number(schema.minItems ?? 0), Math.min(Number(schema.maxItems ?? 4), 4)),
        });
      case "object":
        return this.#object(schema);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  /** Designs contain blocks within blocks: deeper ones are all of one kind. */
  #block(kinds: readonly Schema[]): fc.Arbitrary<unknown> {
    if (this.#depth >= MAX_DEPTH) return fc.constant({ type: "divider" });
    this.#depth++;
    const any = fc.oneof(...kinds.map((kind) => this.value(kind)));
    this.#depth--;
    return any;
  }

  #wrong = () => fc.oneof(fc.constantFrom(...HOSTILE), fc.jsonValue({ maxDepth: 3 }));

  #component(kind: "schemas" | "parameters", ref: string): unknown {
    return this.#document.components[kind][ref.split("/").at(-1)!];
  }

  /** Resolves a reference. */
  #whole(schema: Schema): Schema {
    return schema.$ref ? (this.#component("schemas", schema.$ref) as Schema) : schema;
  }

  #object({ properties = {}, required = [], oneOf, allOf = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
    const groups = [{ oneOf }, ...allOf].flatMap((one) =>
      one.oneOf ? [one.oneOf.flatMap((schema) => schema.required ?? [])] : [],
    );
    const either = groups.flat();
    const of = (names: string[], needed: string[]) =>
      fc.record(Object.fromEntries(names.map((name) => [name, this.value(properties[name]!, name)])), {
        requiredKeys: needed,
      });
    const names = Object.keys(properties).filter((name) => !either.includes(name));
    const own = fc
      .tuple(of(names, required), ...groups.map((group) => fc.oneof(...group.map((name) => of([name], [name])))))
      .map((parts) => Object.assign({}, ...parts) as Record<string, unknown>);
    if (typeof additionalProperties !== "object") return own;
    const more = fc.dictionary(fc.stringMatching(/^[a-z_]{1,12}$/), this.value(additionalProperties as Schema), {
      maxKeys: 3,
    });
    return fc.tuple(more, own).map(([free, named]) => ({ ...free, ...named }));
  }

  #text({ format, pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
    switch (format) {
      case "uuid":
        return fc.oneof({ arbitrary: fc.constantFrom(...this.#ids), weight: 4 }, fc.uuid());
      case "email":
        return fc.stringMatching(/^[a-z0-9]{1,12}$/).map((name) => `${name}@example.com`);
      case "date-time":
        return fc
          .date({ noInvalidDate: true, min: new Date(0), max: new Date("2100-01-01") })
          .map((at) => at.toISOString());
      case "day-or-time":
        return fc
          .date({ noInvalidDate: true, min: new Date(0), max: new Date("2100-01-01") })
          .map((at) => at.toISOString().slice(0, 10));
      case "uri":
        return fc.constant("http://127.0.0.1:9/");
    }
    const [min, max] = [Number(minLength), Math.min(Number(maxLength), 60)];
    const free = fc.string({ unit: "grapheme", minLength: min, maxLength: max }).filter((text) => text.length <= max);
    if (!pattern || pattern === ONE_LINE_PATTERN) return free;
    if (pattern === "\\S") return free.map((text) => `${text.slice(0, max - 1)}x`);
    if (pattern.startsWith("^attributes")) return fc.stringMatching(/^attributes\.[a-z]{1,10}$/);
    return fc.stringMatching(new RegExp(pattern));
  }
}
