import { A, B } from "../../support/gateway.ts";
import { json, MISSING, startThings, statusAndBody, type Things } from "./things.ts";

describe("the conventions of the API", () => {
  let gateway: Things;
  beforeAll(async () => {
    gateway = await startThings();
  });
  afterAll(() => gateway.stop());
  const fetchIt: Things["ask"] = (path, init) => gateway.ask(path, init);

  test("a path without its slash is redirected with 308, keeping the query", async () => {
    const response = await fetchIt("/api/emails/things?page=2", { method: "POST" });
    expect([response.status, response.headers.get("location")]).toEqual([308, "/api/emails/things/?page=2"]);
    expect((await fetchIt(`/api/emails/things/${A}`)).headers.get("location")).toBe(`/api/emails/things/${A}/`);
  });

  test("unknown paths are 404, with and without a slash, also outside of the API", async () => {
    for (const path of [
      "/api/emails/",
      "/api/emails/nothing",
      "/api/emails/nothing/",
      "//evil.example/x",
      "/%zz/",
      "/API/emails/things/",
    ]) {
      expect(await statusAndBody(await fetchIt(path))).toEqual([404, { detail: "Not found." }]);
    }
  });

  test("another method is 405 with Allow; OPTIONS lists the same; HEAD is GET without a body", async () => {
    const put = await fetchIt("/api/emails/things/", { method: "PUT" });
    expect(await statusAndBody(put)).toEqual([405, { detail: 'Method "PUT" not allowed.' }]);
    expect(put.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
    const options = await fetchIt("/api/emails/things/", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, POST, OPTIONS"]);
    const head = await fetchIt("/api/emails/things/", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(10);
  });

  test("pages of other sites may use public endpoints only, including JSON", async () => {
    const asked = async (path: string) => {
      const { headers, status } = await fetchIt(path, { method: "OPTIONS" });
      return [status, headers.get("access-control-allow-origin"), headers.get("access-control-allow-methods")];
    };
    const open = `/api/emails/public/things/${A}/`;
    expect(await asked(open)).toEqual([204, "*", "POST, OPTIONS"]);
    expect(await asked("/api/emails/things/")).toEqual([204, null, null]);
    expect((await fetchIt(open, json({}))).headers.get("access-control-allow-origin")).toBe("*");
    expect((await fetchIt(open, json([]))).headers.get("access-control-allow-origin")).toBe("*");
    expect((await fetchIt("/api/emails/things/")).headers.has("access-control-allow-origin")).toBe(false);
  });

  test("a path that is itself a route is never an id: 405 with the allowed methods", async () => {
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const answer = await fetchIt("/api/emails/things/bulk/", { method });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    }
    expect((await fetchIt("/api/emails/things/bulk/", json({}))).status).toBe(200);
  });

  test("changing a missing resource is 404, whatever the body", async () => {
    const change = (id: string, body: object) =>
      fetchIt(`/api/emails/things/${id}/`, { ...json(body), method: "PATCH" }).then(statusAndBody);
    expect(await change(MISSING, { n: "x" })).toEqual([404, { detail: "Not found." }]);
    expect(await change(A, { n: "x" })).toEqual([400, { n: ["A valid integer is required."] }]);
    expect((await change(A, { n: 1 }))[0]).toBe(200);
  });

  test("a body of another media type is 415; invalid JSON is 400", async () => {
    const plain = await fetchIt("/api/emails/things/", json("hello", { "Content-Type": "text/plain; charset=utf-8" }));
    expect(await statusAndBody(plain)).toEqual([415, { detail: 'Unsupported media type "text/plain" in request.' }]);
    const malformed = await fetchIt("/api/emails/things/", json('{"note": '));
    expect(await statusAndBody(malformed)).toEqual([400, { detail: expect.stringMatching(/^JSON parse error - /) }]);
    const latin = await fetchIt("/api/emails/things/", { ...json(""), body: Buffer.from('{"note":"\xe9"}', "latin1") });
    expect(await statusAndBody(latin)).toEqual([400, { detail: expect.stringMatching(/^JSON parse error - /) }]);
    const zipped = await fetchIt("/api/emails/things/", json("{}", { "Content-Encoding": "gzip" }));
    expect(zipped.status).toBe(415);
  });

  test("a body that is not an object is reported as non_field_errors; a missing body is an empty object", async () => {
    const list = await fetchIt("/api/emails/things/", json([1]));
    expect(await statusAndBody(list)).toEqual([
      400,
      { non_field_errors: ["Invalid data. Expected a dictionary, but got list."] },
    ]);
    const nothing = await fetchIt("/api/emails/things/", { method: "POST" });
    expect(await statusAndBody(nothing)).toEqual([400, { note: ["This field is required."] }]);
  });

  test("a body of more than 1 MiB is 413 before it is read, and the connection stays usable", async () => {
    const response = await fetchIt("/api/emails/things/", json(`{"note":"${"x".repeat(1024 * 1024)}"}`));
    expect([response.status, await response.json()]).toEqual([413, { detail: expect.any(String) }]);
    const chunked = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 2; i++) controller.enqueue(Buffer.alloc(1024 * 1024, "x"));
        controller.close();
      },
    });
    const streamed = await fetchIt("/api/emails/things/", {
      ...json(""),
      body: chunked,
      duplex: "half",
    } as RequestInit);
    expect([streamed.status, await streamed.json()]).toEqual([413, { detail: expect.any(String) }]);
    expect((await fetchIt("/api/emails/things/", json({ note: "ok" }))).status).toBe(201);
  });

  test("keys named __proto__ are dropped, other prototype names are plain fields", async () => {
    const body =
      '{"note":"a","data":{"\\u005f_proto__":{"admin":true},"x":{"__proto__":1},"constructor":{"prototype":2}},"__proto__":{"n":5}}';
    const { params } = (await (await fetchIt("/api/emails/things/", json(body))).json()) as { params: object };
    expect(params).toEqual({ note: "a", data: { x: {}, constructor: { prototype: 2 } } });
  });

  test("an invalid uuid is 404 in a path and 400 in a query; an id in the path overrides body and query", async () => {
    expect(await statusAndBody(await fetchIt("/api/emails/things/17/"))).toEqual([404, { detail: "Not found." }]);
    expect(await statusAndBody(await fetchIt("/api/emails/things/?campaign=17"))).toEqual([
      400,
      { campaign: ["Must be a valid UUID."] },
    ]);
    expect(await (await fetchIt(`/api/emails/things/${A}/?id=${B}`)).json()).toMatchObject({ params: { id: A } });
  });

  test("query values are converted to the contract's types, or are field errors", async () => {
    const { results } = (await (await fetchIt("/api/emails/things/?flag=true&search=a%20b&unknown=1")).json()) as {
      results: unknown[];
    };
    expect(results).toEqual([{ flag: true, search: "a b" }]);
    expect(await statusAndBody(await fetchIt("/api/emails/things/?flag=maybe"))).toEqual([
      400,
      { flag: ["Must be a valid boolean."] },
    ]);
    expect(await statusAndBody(await fetchIt(`/api/emails/things/${A}/?n=1e3`))).toEqual([
      400,
      { n: ["A valid integer is required."] },
    ]);
  });

  test.each(["0", "-1", "x", "1.5", "99999999999999999999"])("page %j does not exist", async (page) => {
    expect(await statusAndBody(await fetchIt(`/api/emails/things/?page=${page}`))).toEqual([
      404,
      { detail: "Invalid page." },
    ]);
  });

  test("a parameter without a value is ignored", async () => {
    const [status, body] = await statusAndBody(
      await fetchIt("/api/emails/things/?page=&page_size=&search=&flag=&ordering="),
    );
    expect([status, (body as { results: unknown[] }).results]).toEqual([200, [{}]]);
  });

  test("page_size over 100 is capped, and an invalid one is the default", async () => {
    const sizeOf = async (size: string) =>
      ((await (await fetchIt(`/api/emails/things/?page_size=${size}`)).json()) as { results: { page_size?: number }[] })
        .results[0]!.page_size;
    expect(await Promise.all(["7", "500", "0", "x", "-3"].map(sizeOf))).toEqual([
      7,
      100,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("next and previous are absolute on BASE_URL and keep the other parameters", async () => {
    const page = async (query: string) => (await (await fetchIt(`/api/emails/things/${query}`)).json()) as object;
    const base = "https://api.example.com/api/emails/things/";
    expect(await page("")).toMatchObject({ count: 45, next: `${base}?page=2&cursor=onward`, previous: null });
    expect(await page("?search=a+b&page=2&cursor=here")).toMatchObject({
      next: `${base}?search=a+b&page=3&cursor=onward`,
      previous: `${base}?search=a+b&page=1&cursor=back`,
    });
    expect(await page("?page=1&cursor=here")).toMatchObject({ previous: `${base}?page=1&cursor=back` });
  });

  test("a defect is a 500 with the request's id and no details", async () => {
    const response = await fetchIt("/api/emails/broken/", { headers: { "X-Request-Id": "abc-1" } });
    expect(await statusAndBody(response)).toEqual([500, { detail: "Internal server error.", request_id: "abc-1" }]);
  });

  test("an actor that times out or is missing is 503 with Retry-After", async () => {
    const slow = await fetchIt("/api/emails/slow/");
    expect(await statusAndBody(slow)).toEqual([503, { detail: expect.any(String) }]);
    expect(slow.headers.get("retry-after")).toBe("5");
  });

  test("a valid request id of the caller is used, else a new one; actions get it", async () => {
    const response = await fetchIt(`/api/emails/things/${A}/`, { headers: { "X-Request-Id": "trace-17" } });
    expect(response.headers.get("x-request-id")).toBe("trace-17");
    expect(await response.json()).toMatchObject({ meta: { requestId: "trace-17" } });
    const insane = await fetchIt(`/api/emails/things/${A}/`, { headers: { "X-Request-Id": "<script>" } });
    expect(insane.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("every answer has the security headers, including errors, and none sets a cookie", async () => {
    for (const path of [`/api/emails/things/${A}/`, "/nothing/", "/api/emails/broken/", "/docs/", "/openapi.json"]) {
      const { headers, body } = await fetchIt(path);
      await body?.cancel();
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
      expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
      expect(headers.get("set-cookie")).toBeNull();
      expect(headers.get("x-powered-by")).toBeNull();
    }
  });
});
