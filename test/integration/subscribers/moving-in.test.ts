/** Moving in from another product: nobody gets mail who did not get it there, and nobody is missing. */
import { query } from "../../../models/database/db.ts";
import { notSuppressed } from "../../../models/statements/not-suppressed.ts";
import { type App, startApp } from "../../support/app.ts";
import { fileForm, newCompany, type TestCompany } from "../../support/client.ts";
import { EXPORTS, inWindows1252 } from "../../support/exports-of-products.ts";

const SUBSCRIBERS = "/api/emails/subscribers/";

let app: App;
let company: TestCompany;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
});
beforeEach(async () => {
  company = await newCompany(app);
});
afterAll(() => app.stop());

const upload = (content: string | Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}, of = company) =>
  of.api.post(`${SUBSCRIBERS}bulk/`, fileForm(content, "people.csv", fields));

const byEmail = async (email: string, of = company) =>
  (await of.api.get(SUBSCRIBERS, { query: { search: email } })).body.results[0];

async function statuses(of = company): Promise<Record<string, string>> {
  const { results } = (await of.api.get(SUBSCRIBERS, { query: { page_size: 100 } })).body;
  return Object.fromEntries(results.map((one: { email: string; status: string }) => [one.email, one.status]));
}

async function suppressions(of = company): Promise<Record<string, string>> {
  const { results } = (await of.api.get("/api/emails/suppressions/", { query: { page_size: 100 } })).body;
  return Object.fromEntries(results.map((one: { email: string; kind: string }) => [one.email, one.kind]));
}

/** Who would get a newsletter now. */
async function mailable(of = company): Promise<string[]> {
  const allowed = notSuppressed({ key: "s.email_key", company: "$1", transactional: "false" });
  const sql = `select s.email from subscribers s where s.company_id = $1 and s.status = 'active' and ${allowed} order by 1`;
  return (await query<{ email: string }>(sql, [of.id])).map(({ email }) => email);
}

describe("a column with statuses", () => {
  test("keeps mail from everybody who had unsubscribed, bounced or complained, in any spelling", async () => {
    const words = {
      unsubscribed: ["unsubscribed", "Unsubscribed", "UNSUB", "opted-out", "Opted Out", "blocklisted", "disabled"],
      bounced: ["bounced", "Hard-Bounced", "cleaned", "Cleaned", "unreachable"],
      complained: ["complained", "spam", "Marked as spam"],
      unconfirmed: ["unconfirmed", "Pending", "Non-Subscribed"],
      active: ["active", "Subscribed", "enabled", ""],
    };
    const expected: Record<string, string> = {};
    let csv = "email,Status\n";
    for (const [status, spellings] of Object.entries(words)) {
      for (const [n, word] of spellings.entries()) {
        expected[`${status}${n}@x.org`] = status;
        csv += `${status}${n}@x.org,${word}\n`;
      }
    }
    const { body } = await upload(csv);
    expect(body).toMatchObject({ created: Object.keys(expected).length, skipped: 0 });
    expect(await statuses()).toEqual(expected);
    const blocked = Object.entries(expected).filter(([, status]) => !["active", "unconfirmed"].includes(status));
    expect(await suppressions()).toEqual(Object.fromEntries(blocked));
    expect(await mailable()).toEqual(["active0@x.org", "active1@x.org", "active2@x.org", "active3@x.org"]);
  });

  test("makes known subscribers more careful, and never lifts anything", async () => {
    const csv = (status: string) =>
      `email,status\n${["active", "unconfirmed", "unsubscribed", "bounced", "complained"].map((known) => `${known}@x.org,${status}`).join("\n")}\n`;
    await upload("email,status\nactive@x.org,active\nunconfirmed@x.org,unconfirmed\nunsubscribed@x.org,unsubscribed\n");
    await upload("email,status\nbounced@x.org,bounced\ncomplained@x.org,complained\n");
    const begun = await statuses();
    const blocked = await suppressions();
    for (const word of ["active", "subscribed", "unconfirmed", ""]) {
      expect((await upload(csv(word))).body).toMatchObject({ created: 0, updated: 5, skipped: 0 });
      expect([await statuses(), await suppressions()]).toEqual([begun, blocked]);
    }
    await upload(csv("unsubscribed"));
    const careful = { "bounced@x.org": "bounced", "complained@x.org": "complained" };
    expect(await statuses()).toEqual({
      "active@x.org": "unsubscribed",
      "unconfirmed@x.org": "unsubscribed",
      "unsubscribed@x.org": "unsubscribed",
      ...careful,
    });
    await upload(csv("bounced"));
    expect(await suppressions()).toMatchObject({ "active@x.org": "bounced", ...careful });
    await upload(csv("complained"));
    expect(new Set(Object.values(await suppressions()))).toEqual(new Set(["complained"]));
    expect(await mailable()).toEqual([]);
  });

  test("leaves the company's own block as it is", async () => {
    await company.api.post("/api/emails/suppressions/", { email: "a@x.org", reason: "lawyer" });
    await upload("email,status\nA@x.org,unsubscribed\n");
    const { results } = (await company.api.get("/api/emails/suppressions/")).body;
    expect(results).toMatchObject([{ email: "a@x.org", kind: "manual", reason: "lawyer" }]);
  });

  test("of an address that comes twice the most careful status holds, whichever row is last", async () => {
    await upload("email,status\na@x.org,unsubscribed\nA@x.org,active\nb@x.org,active\nb@x.org,bounced\nb@x.org,\n");
    expect(await statuses()).toEqual({ "A@x.org": "unsubscribed", "b@x.org": "bounced" });
    expect(await mailable()).toEqual([]);
  });

  test("with a word that nobody knows imports no one: the row is reported", async () => {
    const { body } = await upload("email,status\na@x.org,Gold\nb@x.org,active\n");
    expect(body).toMatchObject({ total: 2, created: 1, skipped: 1, errors: [{ row: 2, email: "a@x.org" }] });
    expect(body.errors[0].error).toMatch(/^status: "Gold" is not known\./);
    const mapped = await upload("email,status\na@x.org,Gold\n", { mapping: '{"status":"tier"}' });
    expect(mapped.body).toMatchObject({ created: 1, skipped: 0 });
    expect((await byEmail("a@x.org")).attributes).toEqual({ tier: "Gold" });
  });

  test("our own export keeps everybody's status, in this company and in another one", async () => {
    await upload(
      "email,status\na@x.org,active\nu@x.org,unsubscribed\nb@x.org,bounced\nc@x.org,complained\nn@x.org,pending\n",
    );
    await company.api.post(SUBSCRIBERS, {
      email: "d@x.org",
      attributes: {
        status: "gold",
        data: "{}",
        unsubscribed: "no",
        "E-Mail": "d2@x.org",
        "First Name": "D",
      },
    });
    const exported = await company.api.get(`${SUBSCRIBERS}export/`);
    const before = await statuses();
    expect((await upload(exported.text)).body).toMatchObject({ updated: 6, errors: [] });
    expect(await statuses()).toEqual(before);
    const other = await newCompany(app);
    expect((await upload(exported.text, {}, other)).body).toMatchObject({ created: 6, errors: [] });
    expect(await statuses(other)).toEqual(before);
    expect(await mailable(other)).toEqual(["a@x.org", "d@x.org"]);
    expect((await byEmail("d@x.org", other)).attributes).toEqual((await byEmail("d@x.org")).attributes);
  });
});

describe("files as other products export them", () => {
  const blocked = { "unsubscribed@example.org": "unsubscribed" };

  test("Mailchimp, also the files of those who unsubscribed and were cleaned", async () => {
    expect((await upload(EXPORTS.mailchimp)).body).toMatchObject({ created: 4, errors: [] });
    expect(await mailable()).toEqual(["active@example.org"]);
    expect(await suppressions()).toEqual({ ...blocked, "bounced@example.org": "bounced" });
    const other = await newCompany(app);
    for (const file of [EXPORTS.mailchimpUnsubscribed, EXPORTS.mailchimpCleaned]) {
      expect((await upload(file, {}, other)).body).toMatchObject({ created: 1, errors: [] });
    }
    expect(await suppressions(other)).toEqual({ ...blocked, "bounced@example.org": "bounced" });
    expect(await byEmail("unsubscribed@", other)).toMatchObject({
      first_name: "Ugo",
      last_name: "Rossi",
      attributes: { Birthday: "05/12", UNSUB_CAMPAIGN_TITLE: "March news", TAGS: '"shop","vip"' },
    });
  });

  test("Brevo", async () => {
    expect((await upload(EXPORTS.brevo)).body).toMatchObject({ created: 2, errors: [] });
    expect(await mailable()).toEqual(["active@example.org"]);
    expect(await suppressions()).toEqual(blocked);
    const ada = { first_name: "Ada", last_name: "Rossi", attributes: { "CONTACT ID": "1", SMS: "+4915112345678" } };
    expect(await byEmail("active@")).toMatchObject(ada);
  });

  test("listmonk, with its attributes in JSON", async () => {
    expect((await upload(EXPORTS.listmonk)).body).toMatchObject({ created: 3, errors: [] });
    expect(await mailable()).toEqual(["active@example.org"]);
    expect(await suppressions()).toEqual({ ...blocked, "disabled@example.org": "unsubscribed" });
    const { first_name, last_name, attributes } = await byEmail("active@");
    expect([first_name, last_name]).toEqual(["Ada", "Rossi"]);
    expect(attributes).toMatchObject({ city: "Rome", "likes.tea": true, tags: ["a", "b"], age: 7 });
  });

  test("Sendy", async () => {
    expect((await upload(EXPORTS.sendy)).body).toMatchObject({ created: 5, errors: [] });
    expect(await mailable()).toEqual(["active@example.org"]);
    const bounced = { "bounced@example.org": "bounced", "complained@example.org": "complained" };
    expect(await suppressions()).toEqual({ ...blocked, ...bounced });
    expect((await statuses())["unconfirmed@example.org"]).toBe("unconfirmed");
  });

  test("Keila", async () => {
    expect((await upload(EXPORTS.keila)).body).toMatchObject({ created: 3, errors: [] });
    expect(await mailable()).toEqual(["active@example.org"]);
    expect(await suppressions()).toEqual({ ...blocked, "bounced@example.org": "bounced" });
    expect((await byEmail("active@")).attributes).toEqual({ city: "Rome", "External ID": "e-1" });
  });

  test("Excel in German: refused as a whole without its charset, complete with it", async () => {
    const bytes = inWindows1252(EXPORTS.excel);
    const refused = await upload(bytes);
    expect([refused.status, refused.body]).toEqual([400, { file: [expect.stringContaining("windows-1252")] }]);
    expect(await statuses()).toEqual({});
    expect((await upload(bytes, { charset: "windows-1252" })).body).toMatchObject({ created: 1, errors: [] });
    const joerg = { first_name: "Jörg", last_name: "Müßig", attributes: { Ort: "Köln", "Rabatt €": "5 €" } };
    expect(await byEmail("active@")).toMatchObject(joerg);
  });
});

describe("the charset", () => {
  test("UTF-16 is known by its byte order mark, in both orders", async () => {
    const text = "\uFEFFemail\tfirst_name\njoerg@x.org\tJörg €\n";
    const little = Buffer.from(text, "utf16le");
    expect((await upload(little)).body).toMatchObject({ created: 1, errors: [] });
    expect((await byEmail("joerg@")).first_name).toBe("Jörg €");
    const big = Buffer.from(text, "utf16le").swap16();
    expect((await upload(big, { charset: "windows-1252" })).body).toMatchObject({ updated: 1, errors: [] });
  });

  test("bytes that are not UTF-8, however late in the file: 400, nothing is imported, and the next import works", async () => {
    const rows = Array.from({ length: 30_000 }, (_, n) => `u${n}@x.org,Ann`).join("\n");
    const bytes = Buffer.concat([
      Buffer.from(`email,first_name\n${rows}\n`),
      Buffer.from("z@x.org,J\xf6rg\n", "latin1"),
    ]);
    const answer = await upload(bytes);
    expect([answer.status, answer.body]).toEqual([400, { file: [expect.stringContaining("not UTF-8")] }]);
    expect((await company.api.get(SUBSCRIBERS)).body.count).toBe(0);
    expect((await upload("email\na@x.org\n")).body).toMatchObject({ created: 1 });
  });

  test("one that is not known: 400 on charset", async () => {
    const answer = await upload("email\na@x.org\n", { charset: "klingon" });
    expect([answer.status, answer.body]).toEqual([400, { charset: [expect.stringContaining('"klingon"')] }]);
  });
});

describe("the form", () => {
  test("mapping says what a column is, or leaves it out", async () => {
    const csv = "Kontakt;Ort;Geheim;email\na@x.org;Bonn;x;b@x.org\n";
    const mapping = JSON.stringify({ Kontakt: "email", Ort: "city", geheim: null });
    expect((await upload(csv, { mapping })).body).toMatchObject({ created: 1, errors: [] });
    expect(await byEmail("a@x.org")).toMatchObject({ attributes: { city: "Bonn", email: "b@x.org" } });
  });

  test.each([
    ["no JSON", "{", /^Not valid JSON/],
    ["no object", "[1]", /^Expected an object/],
    ["a target that is no text", '{"a":1}', /Not a valid string/],
    ["no name of an attribute", '{"a":"\\n"}', /cannot be the name/],
    ["a column that is not there", '{"Mail":"email"}', /^The file has no column "Mail"\. It has: "a", "b"\.$/],
    ["two columns for one field", '{"a":"email","b":"email"}', /^Only one column/],
  ])("a mapping that is %s: 400 on mapping", async (_name, mapping, sentence) => {
    const answer = await upload("a,b\nx@x.org,1\n", { mapping });
    expect([answer.status, answer.body]).toEqual([400, { mapping: [expect.stringMatching(sentence)] }]);
  });

  test("without a column for the address the answer names those that are there", async () => {
    const { status, body } = await upload("Kontakt,Ort\na@x.org,Bonn\n");
    expect([status, body]).toEqual([400, { file: ['The header has no column "email". It has: "Kontakt", "Ort".'] }]);
  });

  test("dry_run counts as the import will, answers 200 and writes nothing", async () => {
    await upload("email\nknown@x.org\n");
    const csv = "email,status\nknown@x.org,unsubscribed\nnew@x.org,active\nNew@x.org,bounced\nnobody,\n";
    for (const on_conflict of ["update", "skip"]) {
      const dry = await upload(csv, { dry_run: "true", on_conflict });
      expect(dry.status).toBe(200);
      expect([await statuses(), await suppressions()]).toEqual([{ "known@x.org": "active" }, {}]);
      const other = await newCompany(app);
      await upload("email\nknown@x.org\n", {}, other);
      const real = await upload(csv, { dry_run: "false", on_conflict }, other);
      expect([real.status, real.body]).toEqual([201, dry.body]);
    }
  });

  test("on_conflict=skip leaves known people and their lists alone, but for a more careful status", async () => {
    const list_id = (await company.api.post("/api/emails/lists/", { name: "L" })).body.id;
    await upload("email,first_name\na@x.org,Ann\nb@x.org,Ben\n");
    const csv = "email,first_name,status\na@x.org,X,\nb@x.org,X,unsubscribed\nc@x.org,Cy,\nc@x.org,Di,\n";
    const { body } = await upload(csv, { on_conflict: "skip", list_id });
    expect(body).toEqual({ ...body, total: 4, created: 1, updated: 1, skipped: 2, errors: [], errors_count: 0 });
    expect(await byEmail("a@x.org")).toMatchObject({ first_name: "Ann", lists: [] });
    expect(await byEmail("b@x.org")).toMatchObject({ first_name: "Ben", status: "unsubscribed", lists: [] });
    expect(await byEmail("c@x.org")).toMatchObject({ first_name: "Cy", lists: [list_id] });
  });

  test.each([
    ["dry_run", "maybe"],
    ["dry_run", ""],
    ["on_conflict", "replace"],
  ])("%s=%s: 400 on it", async (field, value) => {
    const { status, body } = await upload("email\na@x.org\n", { [field]: value });
    expect([status, Object.keys(body)]).toEqual([400, [field]]);
  });
});
