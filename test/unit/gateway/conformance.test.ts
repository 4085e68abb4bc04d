import { compileValidator } from "../../../mixins/ajv-validator.ts";
import { contractOf } from "../../../services/contracts.ts";
import { pathNames } from "../../../services/gateway/http/params.ts";
import { describeApi } from "../../../services/gateway/openapi/document.ts";
import { routes } from "../../../services/gateway/routes.ts";
import { permissionOf } from "../../../services/permissions.ts";
import { Conformance, checkResponse } from "../../support/conformance.ts";

const conformance = new Conformance(describeApi({ routes, contractOf, permissionOf, baseUrl: "http://localhost" }));
const ID = "0190a0a0-0000-7000-8000-000000000001";
const headers = (more: Record<string, string> = {}) =>
  new Headers({
    "X-Request-Id": "r",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
    "Content-Type": "application/json; charset=utf-8",
    ...more,
  });
const seen = (status: number, body: unknown, more?: Record<string, string>) => ({
  status,
  headers: headers(more),
  body,
  text: body === undefined ? "" : JSON.stringify(body),
});
const list = {
  id: ID,
  name: "Readers",
  description: "",
  visibility: "private",
  public_name: "",
  public_description: "",
  archive: false,
  double_opt_in: null,
  subscriber_count: 0,
  created_at: "2026-01-01T00:00:00.000Z",
};
const path = `/api/emails/lists/${ID}/`;
const fault = (method: string, at: string, response: ReturnType<typeof seen>) =>
  conformance.errorIn(method, at, response);

describe("the check of every response in the test suite", () => {
  test("accepts what the document describes", () => {
    expect(fault("GET", path, seen(200, list))).toBeNull();
    expect(fault("GET", path, seen(404, { detail: "Not found." }))).toBeNull();
    expect(fault("DELETE", path, seen(204, undefined))).toBeNull();
    expect(
      fault("GET", "/api/emails/lists/", seen(200, { count: 1, next: null, previous: null, results: [list] })),
    ).toBeNull();
    expect(fault("POST", "/api/emails/lists/", seen(400, { name: ["This field is required."] }))).toBeNull();
  });

  test.each<[string, string, string, ReturnType<typeof seen>]>([
    ["a status that is not described", "GET", path, seen(202, list)],
    ["a field too many, which may be a secret", "GET", path, seen(200, { ...list, password: "x" })],
    ["a field too few", "GET", path, seen(200, { ...list, name: undefined })],
    ["a field of another type", "GET", path, seen(200, { ...list, subscriber_count: "0" })],
    ["a time that is none", "GET", path, seen(200, { ...list, created_at: "yesterday" })],
    ["a body where there is none", "DELETE", path, seen(204, list)],
    ["another media type", "GET", path, seen(200, list, { "Content-Type": "text/plain" })],
    ["an error of another shape", "GET", path, seen(404, { error: "no" })],
    ["field errors that are not lists", "POST", "/api/emails/lists/", seen(400, { name: "required" })],
    ["a 429 without Retry-After", "GET", path, seen(429, { detail: "Request was throttled." })],
    ["a 401 without WWW-Authenticate", "GET", path, seen(401, { detail: "Invalid API key." })],
    ["an unknown path that answers", "GET", "/api/emails/secrets/", seen(200, {})],
    ["an unknown method that answers", "PUT", path, seen(200, list)],
  ])("refuses %s", (_, method, at, response) => {
    expect(fault(method, at, response)).not.toBeNull();
  });

  test("refuses a 500, although described", () => {
    const broken = seen(500, { detail: "Internal server error.", request_id: "r" });
    expect(fault("GET", path, broken)).toBeNull();
    expect(() => checkResponse("GET", path, broken)).toThrow(/is a 500/);
  });
});

describe("the document", () => {
  const document = describeApi({ routes, contractOf, permissionOf, baseUrl: "http://localhost" });
  const operations = Object.values(document.paths).flatMap((operation) => Object.values(operation));

  test("has each route once, with a unique id, a summary and a tag", () => {
    expect(operations).toHaveLength(routes.length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
    for (const { summary, tags } of operations) {
      expect(summary.length).toBeGreaterThan(3);
      expect(tags).not.toEqual(["Other"]);
    }
  });

  // The provider documents raw bodies.
  const withContract = routes.filter(({ rawWith }) => !rawWith);
  test.each(withContract.map((route) => [route.method, route.path, contractOf(route.action)] as const))(
    "%s %s: examples satisfy the contract",
    (_, at, { params, example }) => {
      if (example === undefined) return;
      const inPath = Object.fromEntries(pathNames(at).map((name) => [name, ID]));
      expect(compileValidator({ ...params })({ ...(example as object), ...inPath })).toEqual({});
    },
  );

  test("shows an example of each JSON body that has required fields", () => {
    const without = Object.entries(document.paths).flatMap(([at, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody }]) => {
        const body = requestBody as { required: boolean; content: Record<string, { example?: unknown }> } | undefined;
        const json = body?.content["application/json"];
        return json && body.required && json.example === undefined ? [`${method} ${at}`] : [];
      }),
    );
    expect(without).toEqual([]);
  });

  test("resolves all its references", () => {
    const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!);
    expect(new Set(refs.filter((name) => !(name in document.components.schemas)))).toEqual(new Set());
    expect(refs).toEqual(
      expect.arrayContaining(["Campaign", "Subscriber", "SubscriberList", "EmailTemplate", "Suppression"]),
    );
  });
});
