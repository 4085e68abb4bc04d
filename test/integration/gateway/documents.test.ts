import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { bannerText } from "../../../mixins/start-banner.middleware.ts";
import { config } from "../../../services/lib/config.ts";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { createClient, each } from "../../client/client.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany } from "../../support/client.ts";

/** Reads the body, because an unread response keeps its socket. */
async function statusOf(url: string | URL): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}

describe("the documents of the gateway", () => {
  let app: App;
  beforeAll(async () => {
    const env = { HEALTH_PORT: String(await unusedPort()), SERVICE_NAME: "Ann & Co" };
    app = await startApp({ services: ["gateway", "console", "accounts", "subscribers"], env });
  });
  afterAll(() => app.stop());

  test.each(["/", "/api/"])("GET %s describes the service and links to its documents", async (path) => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8"));
    const base = config().BASE_URL;
    const { status, body, headers } = await client(app).get(path);
    expect([status, body]).toEqual([
      200,
      { name: "Ann & Co", version, docs: `${base}/docs/`, openapi: `${base}/openapi.json` },
    ]);
    expect(headers.get("vary")).toContain("Accept");
    for (const link of [body.docs, body.openapi]) expect(await client(app).get(link)).toMatchObject({ status: 200 });
  });

  test.each(["/", "/api/"])("GET %s is a page for browsers whose links work", async (path) => {
    const page = await client(app).get(path, { headers: { Accept: "text/html,*/*;q=0.8" } });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(page.text).toContain("<h1>Ann &amp; Co</h1>");
    const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, link]) => new URL(link!, `${app.url}${path}`));
    expect(links).toHaveLength(4);
    for (const link of links) expect(await statusOf(link)).toBe(200);
  });

  test("the path without its slash leads to it", async () => {
    expect((await client(app).get("/api")).headers.get("location")).toBe("/api/");
  });

  test("every link of the start banner works", async () => {
    const links = [...bannerText(config()).matchAll(/https?:\/\/[^\s)]+/g)].map(([link]) => link);
    expect(links).toHaveLength(4);
    for (const link of links) expect(await statusOf(link.replace(config().BASE_URL, app.url))).toBe(200);
  });

  test("GET /openapi.json is OpenAPI 3.1 with every operation, its errors and its security", async () => {
    const { status, body } = await client(app).get("/openapi.json");
    expect(status).toBe(200);
    expect(body).toMatchObject({ openapi: "3.1.0", info: { version: "1.0.0" } });
    const { get, patch } = body.paths["/api/companies/{id}/"];
    expect([get.security, body.security]).toEqual([undefined, [{ apiKey: [] }, { bearer: [] }]]);
    expect(Object.keys(patch.responses)).toEqual(["200", "400", "401", "403", "404", "429", "default"]);
    const { examples } = body.components.responses.Failure.content["application/json"];
    expect(Object.keys(examples)).toEqual(expect.arrayContaining(["405", "408", "413", "415", "500", "503"]));
    expect(body.paths["/api/auth/login/"].post.requestBody.content["application/json"].example).toBeDefined();
  });

  test.each(["/openapi.json", "/docs/"])(
    "GET %s is compressed, and 304 for a client with the current version",
    async (path) => {
      const plain = await fetch(`${app.url}${path}`, { headers: { "Accept-Encoding": "identity" } });
      const text = await plain.text();
      for (const encoding of ["br", "gzip"]) {
        const first = await fetch(`${app.url}${path}`, { headers: { "Accept-Encoding": encoding } });
        expect([first.headers.get("content-encoding"), await first.text()]).toEqual([encoding, text]);
        expect(first.headers.get("cache-control")).toMatch(/public, max-age=\d+/);
        expect(first.headers.get("vary")).toContain("Accept-Encoding");
        const tag = first.headers.get("etag")!;
        const again = await fetch(`${app.url}${path}`, {
          // Otherwise fetch asks for a new copy.
          headers: { "Accept-Encoding": encoding, "If-None-Match": tag, "Cache-Control": "max-age=0" },
        });
        expect([again.status, await again.text()]).toEqual([304, ""]);
        expect(tag).not.toBe(plain.headers.get("etag"));
      }
    },
  );

  test("operation ids are unique and each schema in the document compiles", async () => {
    const { body } = await client(app).get("/openapi.json");
    const operations = Object.values(body.paths as Record<string, object>).flatMap((path) => Object.values(path));
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "api", components: body.components });
    for (const name of Object.keys(body.components.schemas)) {
      expect(ajv.getSchema(`api#/components/schemas/${name}`)).toBeDefined();
    }
  });

  test("GET /docs/ loads nothing from other hosts and runs no inline script", async () => {
    const page = await client(app).get("/docs/");
    expect(page.headers.get("content-security-policy")).toMatch(/default-src 'none'; script-src 'self';/);
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source!);
    expect(sources.filter((source) => /^(https?:)?\/\//.test(source))).toEqual([]);
    expect(page.text).not.toMatch(/<script>/);
    for (const file of sources.filter((source) => /\.(css|js)$/.test(source))) {
      expect(await client(app).get(`/docs/${file}`)).toMatchObject({ status: 200 });
    }
    expect((await client(app).get("/docs")).headers.get("location")).toBe("/docs/");
  });

  test("a company registers, creates a key and pages through its lists with the generated client", async () => {
    const { key, id } = await newCompany(app);
    const api = createClient({ baseUrl: app.url, apiKey: key });
    expect(await api.getPlan({ path: { id } })).toMatchObject({ plan: "unlimited" });
    for (const name of ["One", "Two", "Three"]) await api.createList({ body: { name } });
    const names: string[] = [];
    for await (const list of each(api.listLists, { query: { page_size: 2, ordering: "name" } })) names.push(list.name);
    expect(names).toEqual(["One", "Three", "Two"]);
    await expect(api.getList({ path: { id } })).rejects.toMatchObject({ status: 404, body: { detail: "Not found." } });
  });
});
