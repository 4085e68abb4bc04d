/** Which unknown and repeated parameters are refused, and that one response lists all errors. */
import { type App, startApp } from "../../support/app.ts";
import { fileForm, newCompany, type TestCompany } from "../../support/client.ts";

const E = "/api/emails";
const UNKNOWN_ID = "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b";
const ONCE = ["Give this parameter once."];

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
});
afterAll(() => app.stop());

describe("an unknown parameter", () => {
  test.each([
    ["GET", `${E}/subscribers/export/?lists=abc`, "lists"],
    ["GET", `${E}/subscribers/export/?statuss=active`, "statuss"],
    ["GET", `${E}/subscribers/export/?lists=`, "lists"],
    ["GET", `${E}/suppressions/export/?kind=manual`, "kind"],
    ["GET", `${E}/campaigns/${UNKNOWN_ID}/export/?status=sent`, "status"],
    ["GET", `${E}/stats/?from=2026-01-01`, "from"],
    ["GET", `${E}/stats/domains/?since=2026-01-01`, "since"],
    ["DELETE", `${E}/lists/${UNKNOWN_ID}/?with_subscribers=true`, "with_subscribers"],
    ["POST", `${E}/send/custom/?dry_run=true`, "dry_run"],
  ] as const)("%s %s", async (method, path, name) => {
    const { status, body } = await company.api.request(method, path, method === "POST" ? {} : undefined);
    expect([status, Object.keys(body)]).toEqual([400, expect.arrayContaining([name])]);
  });

  test("list endpoints ignore unknown parameters that do not resemble a known one", async () => {
    expect((await company.api.get(`${E}/subscribers/?_=17&utm_source=x`)).status).toBe(200);
  });
});

describe("a repeated parameter", () => {
  test.each([
    [`${E}/subscribers/?page=1&page=2`, "page"],
    [`${E}/subscribers/?search=a&search=b`, "search"],
    [`${E}/events/?since=2026-01-01&since=2026-02-01`, "since"],
    [`${E}/stats/domains/?campaign=${UNKNOWN_ID}&campaign=x`, "campaign"],
    [`${E}/stats/?days=1&days=2`, "days"],
  ])("is refused if it is not a filter: %s", async (path, name) => {
    expect(await company.api.get(path)).toMatchObject({ status: 400, body: { [name]: ONCE } });
  });

  test("counts as one value if all values that are not blank are equal", async () => {
    await company.api.post(`${E}/subscribers/`, { email: "ann@example.com" });
    const { body } = await company.api.get(`${E}/subscribers/?status=active&status=&status=active&page=1&page=1`);
    expect(body.count).toBe(1);
  });

  test("has a value if it is blank where that means something: media files in no folder", async () => {
    const upload = (folder: string) => {
      const form = fileForm("text", "a.txt");
      form.append("folder", folder);
      return company.api.post(`${E}/media/`, form);
    };
    const [bare, inFolder] = [await upload(""), await upload("Autumn")];
    const found = async (query: string) => {
      const { results } = (await company.api.get(`${E}/media/?${query}`)).body;
      return results.map(({ id }: { id: string }) => id);
    };
    expect(await found("folder=")).toEqual([bare.body.id]);
    expect(await found("folder=&folder=Autumn&search=")).toEqual([inFolder.body.id, bare.body.id]);
    expect(await found("content_type=")).toHaveLength(2);
  });

  test("is refused with the position of each invalid value if it is a filter", async () => {
    const { status, body } = await company.api.get(`${E}/subscribers/?status=active&status=gone`);
    expect([status, body]).toEqual([400, { status: ['Item at index 1: "gone" is not a valid choice.'] }]);
    const one = await company.api.get(`${E}/subscribers/?status=gone`);
    expect(one.body).toEqual({ status: ['"gone" is not a valid choice.'] });
  });

  test("matches, in exports and lists, entries with any of its values", async () => {
    for (const email of ["bob@example.com", "cleo@example.com"]) await company.api.post(`${E}/subscribers/`, { email });
    await company.api.post(`${E}/suppressions/`, { email: "bob@example.com", kind: "unsubscribed" });
    await company.api.post(`${E}/suppressions/`, { email: "cleo@example.com", kind: "complained" });
    const { text } = await company.api.get(`${E}/subscribers/export/?status=unsubscribed&status=complained`);
    expect(text.match(/\w+@example\.com/g)?.toSorted()).toEqual(["bob@example.com", "cleo@example.com"]);
    const { body } = await company.api.get(`${E}/suppressions/?kind=unsubscribed&kind=complained&page_size=1`);
    expect(body).toMatchObject({ count: 2, next: expect.stringContaining("kind=unsubscribed&kind=complained") });
    expect((await company.api.get(new URL(body.next).pathname + new URL(body.next).search)).body).toMatchObject({
      results: [{ email: "bob@example.com" }],
      next: null,
    });
  });
});

test("a send reports all its errors at once, and so does its draft", async () => {
  const body = {
    template_id: UNKNOWN_ID,
    smtp_config_id: UNKNOWN_ID,
    list_id: UNKNOWN_ID,
    send_at: "now",
    colour: "red",
  };
  const sent = await company.api.post(`${E}/send/to-list/`, { name: "N", ...body });
  expect([sent.status, Object.keys(sent.body).toSorted()]).toEqual([
    400,
    ["colour", "list_id", "send_at", "smtp_config_id", "template_id"],
  ]);
  const draft = await company.api.post(`${E}/drafts/`, { name: "N", kind: "to-list", body });
  const checked = await company.api.get(`${E}/drafts/${draft.body.id}/check/`);
  expect(checked.body.errors).toEqual(sent.body);
  expect(await company.api.post(`${E}/drafts/${draft.body.id}/send/`, {})).toMatchObject({
    status: 400,
    body: sent.body,
  });
});
