/** Promises of the reference: everything has a description and an example, and the document stays small. */
import { brotliCompressSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { contractOf } from "../../../services/contracts.ts";
import { describeApi } from "../../../services/gateway/openapi/document.ts";
import { routes } from "../../../services/gateway/routes.ts";
import { permissionOf } from "../../../services/permissions.ts";

type Node = Record<string, unknown>;
const document = describeApi({ routes, contractOf, permissionOf, baseUrl: "https://mail.lantern.example" });
const isObject = (node: unknown): node is Node => typeof node === "object" && node !== null && !Array.isArray(node);

const behind = (node: Node): Node => {
  const [, , kind, name] = typeof node.$ref === "string" ? node.$ref.split("/") : [];
  return kind ? ((document.components as unknown as Record<string, Record<string, Node>>)[kind]![name!] as Node) : node;
};

/** These keys contain values, in which a field called "properties" would be no schema. */
const VALUES = ["example", "examples", "enum", "const", "default"];

/** Returns each field with its path, except below a schema that has an example of its own. */
function fieldsIn(node: unknown, place: string): [place: string, field: Node][] {
  if (Array.isArray(node)) return node.flatMap((one) => fieldsIn(one, place));
  if (!isObject(node)) return [];
  const own = isObject(node.properties) && !node.not ? Object.entries(node.properties) : [];
  const fields = own
    .filter(([, field]) => isObject(field) && !isObject(field.not))
    .map(([name, field]): [string, Node] => [`${place}.${name}`, behind(field as Node)]);
  const more = Object.entries(node).flatMap(([key, value]) => {
    if (VALUES.includes(key)) return [];
    if (key !== "properties") return fieldsIn(value, place);
    return own.flatMap(([name, field]) => (behind(field as Node).examples ? [] : fieldsIn(field, `${place}.${name}`)));
  });
  return [...fields, ...more];
}

/** True if values are listed, or the parts have examples. */
const speaks = (given: Node): boolean => {
  const schema = behind(given);
  if (["examples", "example", "enum", "const"].some((key) => key in schema)) return true;
  const alternatives = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as Node[] | undefined;
  if (alternatives) return alternatives.every(speaks);
  if (schema.properties) return true;
  const types = [schema.type].flat();
  if (types.includes("array")) return speaks(schema.items as Node);
  return types.every((type) => type === "boolean" || type === "null");
};

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
);
const places: [string, Node][] = [
  ...operations.flatMap(([place, operation]) => fieldsIn(operation, place)),
  ...Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    (schema as Node).examples ? [] : fieldsIn(schema, name),
  ),
  ...Object.entries(document.webhooks).flatMap(([name, operation]) => fieldsIn(operation, `webhook ${name}`)),
];

describe("the reference", () => {
  test("has a description of every field", () => {
    expect(places.length).toBeGreaterThan(500);
    expect(places.filter(([, field]) => !behind(field).description).map(([place]) => place)).toEqual([]);
  });

  test("has an example of every field without listed values", () => {
    expect(places.filter(([, field]) => !speaks(field)).map(([place]) => place)).toEqual([]);
  });

  test("has examples that satisfy their fields", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addFormat("binary", true);
    ajv.addSchema({ $id: "api", components: document.components });
    const wrong = places.flatMap(([place, field]) => {
      const validate = ajv.compile(JSON.parse(JSON.stringify(field).replaceAll('"#/', '"api#/')) as object);
      const examples = (field.examples ?? []) as unknown[];
      return examples.filter((example) => !validate(example)).map((example) => `${place}: ${JSON.stringify(example)}`);
    });
    expect(wrong).toEqual([]);
  });

  test("has a description and an example of every parameter, header, status and error", () => {
    const parameters = operations.flatMap(([place, { parameters }]) =>
      ((parameters ?? []) as Node[]).map((one): [string, Node] => [`${place} ${one.name ?? one.$ref}`, behind(one)]),
    );
    const headers = Object.entries(document.components.headers) as [string, Node][];
    // A body shared by several media types belongs to its operation.
    const resources = (Object.entries(document.components.schemas) as [string, Node][]).filter(
      ([name, { type }]) => type === "object" && !name.endsWith("Body"),
    );
    const described = [...parameters, ...headers, ...resources];
    expect(described.filter(([, { description }]) => !description).map(([place]) => place)).toEqual([]);
    const shown = [...parameters, ...headers].filter(([, one]) => !speaks(one) && !speaks(one.schema as Node));
    expect(shown.map(([place]) => place)).toEqual([]);

    const responses = operations.flatMap(([place, operation]) =>
      Object.entries(operation.responses).map(([status, one]): [string, Node] => [
        `${place} ${status}`,
        behind(one as Node),
      ]),
    );
    expect(responses.filter(([, { description }]) => !description)).toEqual([]);
    const mute = responses.filter(([, { content }]) =>
      Object.entries((content ?? {}) as Record<string, Node>).some(
        ([type, media]) => type !== "*/*" && !media.example && !media.examples && !speaks(media.schema as Node),
      ),
    );
    expect(mute.map(([place]) => place)).toEqual([]);
  });

  test("has a description of every tag, and operation ids with verb and object", () => {
    expect(document.tags).toHaveLength(new Set(operations.map(([, { tags }]) => (tags as string[])[0])).size);
    for (const { description } of document.tags as Node[]) expect(description).toMatch(/\w\.$/);
    const ids = operations.map(([, { operationId }]) => operationId);
    // A verb and its object.
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(["createTemplate", "listSentEmails", "deleteSubscriber", "sendToList"]));
  });

  test("has every webhook event with its payload", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addFormat("binary", true);
    ajv.addSchema({ $id: "api", components: document.components });
    for (const [type, webhook] of Object.entries(document.webhooks)) {
      const body = (webhook as { post: { requestBody: { content: Record<string, { schema: Node; example: Node }> } } })
        .post.requestBody.content["application/json"]!;
      const schema = JSON.parse(JSON.stringify(body.schema).replaceAll('"#/', '"api#/')) as Node;
      expect([body.example.type, ajv.compile(schema)(body.example)]).toEqual([type, true]);
    }
  });

  test("avoids repetition: per operation 2.6 KB of text, 400 bytes compressed", () => {
    const text = JSON.stringify(document);
    expect(text.length / operations.length).toBeLessThan(2_600);
    expect(brotliCompressSync(text).length / operations.length).toBeLessThan(400);
  });
});
