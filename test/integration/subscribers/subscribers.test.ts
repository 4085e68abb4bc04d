import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

const PATH = "/api/emails/subscribers/";
const SOME_ID = "018f0000-0000-7000-8000-00000000abcd";

let app: App;
let own: TestCompany;
let other: TestCompany;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
  [own, other] = [await newCompany(app), await newCompany(app)];
});
afterAll(() => app.stop());

const newList = async (of = own, name = "A list") => (await of.api.post("/api/emails/lists/", { name })).body.id;

describe("creating a subscriber", () => {
  test("trims names", async () => {
    const names = { first_name: " Ann ", last_name: "Lee " };
    const made = await own.api.post(PATH, { email: "spaces@example.com", ...names });
    expect(made.body).toMatchObject({ first_name: "Ann", last_name: "Lee" });
    const changed = await own.api.patch(`${PATH}${made.body.id}/`, { first_name: "  Bea" });
    expect(changed.body).toMatchObject({ first_name: "Bea", last_name: "Lee" });
    expect((await own.api.post(PATH, { email: "spaces@example.com", first_name: "  " })).body.first_name).toBe("Bea");
  });

  test("answers with all fields", async () => {
    const list = await newList();
    const attributes = { city: "London", age: 36, vip: true, tags: ["math", "engines"] };
    const given = { email: " Ada@Example.com ", first_name: "Ada", last_name: "Lovelace", attributes, lists: [list] };
    const { status, body } = await own.api.post(PATH, given);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      email: "Ada@Example.com",
      first_name: "Ada",
      last_name: "Lovelace",
      status: "active",
      attributes,
      lists: [list],
      suppression: null,
      created_at: expect.any(String),
    });
    expect((await own.api.get(`${PATH}${body.id}/`)).body).toEqual(body);
  });

  test("returns the same subscriber for a repeated address in another case, with the given values filled in", async () => {
    const first = (await own.api.post(PATH, { email: "grace@example.com", first_name: "Grace", attributes: { a: 1 } }))
      .body;
    const { status, body } = await own.api.post(PATH, {
      email: "GRACE@example.com",
      first_name: "",
      last_name: "Hopper",
      attributes: { b: "2" },
    });
    expect(status).toBe(201);
    expect(body).toEqual({ ...first, last_name: "Hopper", attributes: { a: 1, b: "2" } });
  });

  test("creates one in twenty concurrent requests", async () => {
    const asked = Array.from({ length: 20 }, () => own.api.post(PATH, { email: "twenty@example.com" }));
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test("accepts an address that another company has", async () => {
    const mine = await own.api.post(PATH, { email: "shared@example.com" });
    const theirs = await other.api.post(PATH, { email: "shared@example.com" });
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(mine.body.id);
  });

  test("reports all errors at once, and stores nothing", async () => {
    const foreign = await newList(other);
    const { status, body } = await own.api.post(PATH, {
      email: "nobody@",
      first_name: "a\nb",
      last_name: 3,
      attributes: { nested: { a: 1 }, none: null, mixed: ["a", 1] },
      lists: [foreign],
    });
    expect(status).toBe(400);
    expect(body).toEqual({
      email: ["Enter a valid email address."],
      first_name: ["Line breaks and control characters are not allowed."],
      last_name: ["Not a valid string."],
      attributes: expect.arrayContaining([
        "none: This field may not be null.",
        "mixed: Item at index 1: Not a valid string.",
      ]),
      lists: [`Invalid pk "${foreign}" - object does not exist.`],
    });
    expect((await own.api.get(PATH, { query: { search: "nobody@" } })).body.count).toBe(0);
  });

  test.each([
    [{}, { email: ["This field is required."] }],
    [{ email: null }, { email: ["This field may not be null."] }],
    [
      { email: "a@b.de", first_name: "n".repeat(256) },
      { first_name: ["Ensure this field has no more than 255 characters."] },
    ],
    [{ email: "a@b.de", attributes: { "": "x" } }, { attributes: ['"" is not a valid name.'] }],
    [{ email: "a@b.de", attributes: [] }, { attributes: ['Expected a dictionary of items but got type "list".'] }],
    [
      { email: "a@b.de", attributes: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`k${n}`, n])) },
      { attributes: ["Ensure this field has no more than 100 elements."] },
    ],
    [
      {
        email: "a@b.de",
        attributes: Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`k${n}`, "x".repeat(4_000)])),
      },
      { attributes: ["Ensure this field has no more than 16384 bytes as JSON."] },
    ],
    [{ email: "a@b.de", lists: "x" }, { lists: ['Expected a list of items but got type "str".'] }],
    [{ email: "a@b.de", lists: [SOME_ID] }, { lists: [`Invalid pk "${SOME_ID}" - object does not exist.`] }],
  ])("%# is refused in the specification's words", async (given, errors) => {
    expect(await own.api.post(PATH, given)).toMatchObject({ status: 400, body: errors });
  });

  test("ignores status and other read-only or unknown fields", async () => {
    const { body } = await own.api.post(PATH, { email: "readonly@example.com", status: "bounced", id: SOME_ID, x: 1 });
    expect(body.status).toBe("active");
    expect(body.id).not.toBe(SOME_ID);
  });
});

describe("one subscriber", () => {
  test("is changed by PATCH: attributes merged, lists added, email and status unchanged", async () => {
    const { id } = (await own.api.post(PATH, { email: "patch@example.com", attributes: { a: "1", b: "2" } })).body;
    const list = await newList();
    const { status, body } = await own.api.patch(`${PATH}${id}/`, {
      first_name: "P",
      email: "new@example.com",
      status: "bounced",
      attributes: { b: 3 },
      lists: [list],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      email: "patch@example.com",
      first_name: "P",
      last_name: "",
      status: "active",
      attributes: { a: "1", b: 3 },
      lists: [list],
    });
  });

  test("loses an attribute that a PATCH sets to null; a create refuses null", async () => {
    const attributes = { a: "1", b: "", c: ["x"] };
    const { id } = (await own.api.post(PATH, { email: "null@example.com", attributes })).body;
    const { body } = await own.api.patch(`${PATH}${id}/`, { attributes: { a: null, unknown: null } });
    expect(body.attributes).toEqual({ b: "", c: ["x"] });
    const created = await own.api.post(PATH, { email: "null@example.com", attributes: { b: null } });
    expect(created).toMatchObject({ status: 400, body: { attributes: ["b: This field may not be null."] } });
  });

  test("cannot exceed the limit of attributes through several changes", async () => {
    const { id } = (await own.api.post(PATH, { email: "greedy@example.com" })).body;
    const some = (from: number) => Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`k${from + n}`, n]));
    expect((await own.api.patch(`${PATH}${id}/`, { attributes: some(0) })).status).toBe(200);
    const answer = await own.api.patch(`${PATH}${id}/`, { attributes: some(60) });
    expect(answer).toMatchObject({ status: 400, body: { attributes: [expect.any(String)] } });
    expect(Object.keys((await own.api.get(`${PATH}${id}/`)).body.attributes)).toHaveLength(60);
  });

  test("is deleted permanently; sent messages stay, without the reference", async () => {
    const list = await newList();
    const { id } = (await own.api.post(PATH, { email: "gone@example.com", lists: [list] })).body;
    await query("insert into sent_emails (campaign_no, seq, subscriber_id) values (9, 1, $1)", [id]);
    expect((await own.api.delete(`${PATH}${id}/`)).status).toBe(204);
    expect((await own.api.get(`${PATH}${id}/`)).status).toBe(404);
    expect((await own.api.delete(`${PATH}${id}/`)).status).toBe(404);
    expect((await own.api.get(`/api/emails/lists/${list}/`)).body.subscriber_count).toBe(0);
    // The row now has the address instead of the reference.
    expect(await query("select email, subscriber_id from sent_emails where campaign_no = 9")).toEqual([
      { email: "gone@example.com", subscriber_id: null },
    ]);
  });

  test("is 404 for another company, and stays unchanged", async () => {
    const { id } = (await own.api.post(PATH, { email: "mine@example.com", first_name: "Mine" })).body;
    expect((await other.api.get(`${PATH}${id}/`)).body).toEqual({ detail: "Not found." });
    expect((await other.api.patch(`${PATH}${id}/`, { first_name: "Theirs" })).status).toBe(404);
    expect((await other.api.delete(`${PATH}${id}/`)).status).toBe(404);
    expect((await own.api.get(`${PATH}${id}/`)).body.first_name).toBe("Mine");
  });
});

describe("the list of subscribers", () => {
  let company: TestCompany;
  let list: string;
  beforeAll(async () => {
    company = await newCompany(app);
    list = await newList(company);
    for (let no = 1; no <= 25; no++) {
      const email = `p${String(no).padStart(2, "0")}@example.com`;
      const first_name = no === 7 ? "Zoë" : `Name ${26 - no}`;
      await company.api.post(PATH, { email, first_name, last_name: "Doe_5%", lists: no > 20 ? [list] : [] });
    }
  });

  const emails = async (given: Record<string, string | number>) =>
    (await company.api.get(PATH, { query: given })).body.results.map(({ email }: { email: string }) => email);

  test("is sorted newest first in pages of twenty, with links that keep the query", async () => {
    const { body } = await company.api.get(PATH, { query: { ordering: "-created_at" } });
    expect(body.count).toBe(25);
    expect(body.results).toHaveLength(20);
    expect(body.results[0].email).toBe("p25@example.com");
    expect(body.previous).toBeNull();
    const next = (await company.api.get(body.next)).body;
    expect(next.results.map(({ email }: { email: string }) => email)).toEqual(
      [5, 4, 3, 2, 1].map((no) => `p0${no}@example.com`),
    );
    expect(next.next).toBeNull();
  });

  test("is sorted by the allowed fields only", async () => {
    expect(await emails({ ordering: "email", page_size: 2 })).toEqual(["p01@example.com", "p02@example.com"]);
    expect(await emails({ ordering: "-first_name", page_size: 1 })).toEqual(["p07@example.com"]);
    expect(await company.api.get(PATH, { query: { ordering: "attributes" } })).toMatchObject({
      status: 400,
      body: { ordering: [expect.stringContaining("is not a sortable field")] },
    });
  });

  test("can be searched by email and names, ignoring case, without wildcards", async () => {
    expect(await emails({ search: "P07@EXAMPLE" })).toEqual(["p07@example.com"]);
    expect(await emails({ search: "zoë" })).toEqual(["p07@example.com"]);
    expect(await emails({ search: "zoë doe" })).toEqual(["p07@example.com"]);
    expect((await company.api.get(PATH, { query: { search: "oe_5%" } })).body.count).toBe(25);
    expect(await emails({ search: "p%7" })).toEqual([]);
  });

  test("can be filtered by status and by list", async () => {
    await query("update subscribers set status = 'bounced' where company_id = $1 and email = 'p03@example.com'", [
      company.id,
    ]);
    expect(await emails({ status: "bounced" })).toEqual(["p03@example.com"]);
    expect((await company.api.get(PATH, { query: { list } })).body.count).toBe(5);
    expect((await company.api.get(PATH, { query: { status: "gone" } })).status).toBe(400);
    expect((await company.api.get(PATH, { query: { list: "x" } })).status).toBe(400);
  });

  test("is 404 for a page that does not exist", async () => {
    expect(await company.api.get(PATH, { query: { page: 3 } })).toMatchObject({
      status: 404,
      body: { detail: "Invalid page." },
    });
  });

  test("neither repeats nor omits a row on any page, near either end or in the middle", async () => {
    const many = await newCompany(app);
    await query(
      "insert into subscribers (company_id, email, first_name) select $1, 'n' || n || '@example.com', 'Same' from generate_series(1, 2500) n",
      [many.id],
    );
    for (const ordering of ["created_at", "-created_at", "first_name", "-email"]) {
      const seen: string[] = [];
      for (let page = 1; page <= 25; page++) {
        const { body } = await many.api.get(PATH, { query: { ordering, page, page_size: 100 } });
        seen.push(...body.results.map(({ id }: { id: string }) => id));
      }
      expect(new Set(seen).size).toBe(2_500);
    }
  });
});
