import { cursorOf } from "../../../services/lib/download.ts";
import { notFound } from "../../../services/lib/errors.ts";
import { Type } from "../../../services/lib/shapes.ts";
import { type Sample, sample, startGateway, type TestGateway } from "../../support/gateway.ts";

const None = Type.Object({});
const Any = Type.Unknown();
const BySent = Type.Object({ sent_email_id: Type.String({ format: "uuid" }) });
const ByName = Type.Object({ filename: Type.String({ maxLength: 20 }) });
const MAIL = "0190a0a0-0000-7000-8000-00000000000a";
const page = { access: "public", answer: "html" } as const;
const publicPath = "/api/emails/public";

let pagesAsked = 0;
function failing(): never {
  throw new Error("the database went away");
}

const samples: Record<string, Sample> = {
  export: sample({ method: "GET", path: "/api/emails/subscribers/export/", answer: "csv" }, None, Any, (ctx) =>
    cursorOf(ctx) === undefined ? { body: "email\r\n", next: "1" } : { body: "a@example.com\r\n", next: null },
  ),
  results: sample({ method: "GET", path: "/api/emails/campaigns/export/", answer: "csv" }, None, Any, () => failing()),
  half: sample({ method: "GET", path: "/api/emails/segments/export/", answer: "csv" }, None, Any, (ctx) =>
    cursorOf(ctx) === undefined ? { body: "email\r\n", next: "1" } : failing(),
  ),
  endless: sample({ method: "GET", path: "/api/emails/lists/export/", answer: "csv" }, None, Any, () => {
    pagesAsked++;
    return { body: "x".repeat(100_000), next: "1" };
  }),
  view: sample({ method: "GET", path: `${publicPath}/view/:sent_email_id/`, ...page }, BySent, Any, ({ meta }) => ({
    content_type: "text/html; charset=utf-8",
    body: `<p>${meta.http?.acceptLanguage}</p>`,
    headers: { "Content-Security-Policy": "sandbox" },
  })),
  gone: sample({ method: "GET", path: `${publicPath}/gone/`, ...page }, None, Any, () => {
    throw notFound();
  }),
  unsubscribe: sample(
    { method: "POST", path: `${publicPath}/unsubscribe/:sent_email_id/`, ...page, anyBody: true },
    Type.Object({ sent_email_id: Type.String({ format: "uuid" }), "List-Unsubscribe": Type.Optional(Type.Unknown()) }),
    Any,
    ({ params }) => ({ content_type: "application/json", body: JSON.stringify(params) }),
  ),
  preferences: sample(
    { method: "POST", path: `${publicPath}/preferences/`, ...page },
    Type.Object({ list: Type.Optional(Type.Unknown()), first_name: Type.Optional(Type.String()) }),
    Any,
    ({ params }) => ({ status: 202, content_type: "application/json", body: JSON.stringify(params) }),
  ),
  media: sample(
    { method: "GET", path: `${publicPath}/media/:filename`, access: "public", answer: "bytes" },
    ByName,
    Any,
    () => ({
      content_type: "image/png",
      body: Buffer.from([0x89, 0x50, 0, 0xff]),
      headers: { "Cache-Control": "public, max-age=31536000, immutable" },
    }),
  ),
};

describe("answers other than JSON", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(samples);
  });
  afterAll(() => gateway.stop());
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(gateway.url + path, {
      ...init,
      headers: { "X-API-Key": "fm_good", ...(init.headers as Record<string, string>) },
    });

  test("a CSV download has a name with a date", async () => {
    const response = await ask("/api/emails/subscribers/export/");
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("content-disposition")).toMatch(
      /^attachment; filename="subscribers-\d{4}-\d\d-\d\d\.csv"$/,
    );
    expect(await response.text()).toBe("email\r\na@example.com\r\n");
  });

  test("a download that fails before its first byte is a 500 in JSON; a later failure cuts it off", async () => {
    const early = await ask("/api/emails/campaigns/export/");
    expect([early.status, await early.json()]).toMatchObject([500, { detail: "Internal server error." }]);
    expect(early.headers.get("content-disposition")).toBeNull();
    const late = await ask("/api/emails/segments/export/");
    expect(late.status).toBe(200);
    await expect(late.text()).rejects.toThrow();
  });

  test("a download ends when its client disconnects", async () => {
    const leave = new AbortController();
    const response = await ask("/api/emails/lists/export/", { signal: leave.signal });
    await response.body!.getReader().read();
    leave.abort();
    let before = -1;
    while (pagesAsked > before) {
      before = pagesAsked;
      await new Promise((done) => setTimeout(done, 100));
    }
  });

  test("a page sets its own policy and gets the reader's language; headers that it does not set stay strict", async () => {
    const response = await ask(`${publicPath}/view/${MAIL}/`, { headers: { "Accept-Language": "de" } });
    expect(await response.text()).toBe("<p>de</p>");
    expect(response.headers.get("content-security-policy")).toBe("sandbox");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("a public problem is a page for people and JSON for programs", async () => {
    const html = await ask(`${publicPath}/view/17/`, { headers: { Accept: "text/html,*/*;q=0.8" } });
    expect([html.status, html.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await html.text()).toContain("<h1>This page does not exist</h1>");
    const german = { Accept: "text/html,*/*;q=0.8", "Accept-Language": "de-AT" };
    const page = await ask(`${publicPath}/nothing/`, { headers: german });
    expect([page.status, page.headers.get("content-language")]).toEqual([404, "de"]);
    expect(page.headers.get("content-security-policy")).toMatch(/style-src 'sha256-/);
    expect(await page.text()).toMatch(
      /<html lang="de" dir="ltr">[\s\S]*<style>[\s\S]*<h1>Diese Seite gibt es nicht<\/h1>/,
    );
    const json = await ask(`${publicPath}/gone/`, { headers: { Accept: "*/*" } });
    expect([json.status, await json.json()]).toEqual([404, { detail: "Not found." }]);
  });

  test("bytes are sent unchanged with their own headers", async () => {
    const response = await ask(`${publicPath}/media/a.png`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from([0x89, 0x50, 0, 0xff]));
    expect(response.headers.get("cache-control")).toContain("immutable");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("a path value that the schema refuses is a 404", async () => {
    expect((await ask(`${publicPath}/media/${"x".repeat(30)}`)).status).toBe(404);
    expect((await ask(`${publicPath}/media/a%00b`)).status).toBe(404);
    expect((await ask(`${publicPath}/media/a%ff`)).status).toBe(200);
  });

  describe("one-click unsubscribe accepts any body of mailbox providers (RFC 8058)", () => {
    const form = new FormData();
    form.set("List-Unsubscribe", "One-Click");
    test.each<[string, RequestInit, object]>([
      [
        "urlencoded",
        { body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }) },
        { "List-Unsubscribe": "One-Click" },
      ],
      ["multipart", { body: form }, { "List-Unsubscribe": "One-Click" }],
      [
        "JSON",
        { body: '{"List-Unsubscribe":"One-Click"}', headers: { "Content-Type": "application/json" } },
        { "List-Unsubscribe": "One-Click" },
      ],
      ["nothing", {}, {}],
      ["broken JSON", { body: "{", headers: { "Content-Type": "application/json" } }, {}],
      ["text", { body: "List-Unsubscribe=One-Click", headers: { "Content-Type": "text/plain" } }, {}],
      ["broken multipart", { body: "x", headers: { "Content-Type": "multipart/form-data" } }, {}],
      ["no type at all", { body: Buffer.from("x") }, {}],
    ])("%s", async (_, init, fields) => {
      const response = await ask(`${publicPath}/unsubscribe/${MAIL}/`, { method: "POST", ...init });
      expect([response.status, await response.json()]).toEqual([200, { sent_email_id: MAIL, ...fields }]);
    });
  });

  test("a page's form may repeat a field; its status is the documented one", async () => {
    const body = new URLSearchParams([
      ["list", "a"],
      ["list", "b"],
      ["first_name", "Ann"],
      ["__proto__", "x"],
    ]);
    const response = await ask(`${publicPath}/preferences/`, { method: "POST", body });
    expect([response.status, await response.json()]).toEqual([202, { list: ["a", "b"], first_name: "Ann" }]);
  });
});
