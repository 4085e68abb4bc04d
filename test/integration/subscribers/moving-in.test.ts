/** Migration from other products: nobody is lost, and nobody gets email who did not get it there. */
import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../../../models/database/db.ts";
import {
  addBackgroundImport,
  addErrors,
  addPart,
  failImport,
  finishImport,
  renewImport,
} from "../../../models/statements/imports.ts";
import { notSuppressed } from "../../../models/statements/not-suppressed.ts";
import { newId } from "../../../services/lib/ids.ts";
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

/** Returns who would get a newsletter now. */
async function mailable(of = company): Promise<string[]> {
  const allowed = notSuppressed({ key: "s.email_key", company: "$1", transactional: "false" });
  const sql = `select s.email from subscribers s where s.company_id = $1 and s.status = 'active' and ${allowed} order by 1`;
  return (await query<{ email: string }>(sql, [of.id])).map(({ email }) => email);
}

describe("a column with statuses", () => {
  test("prevents email to everyone who had unsubscribed, bounced or complained, in any spelling", async () => {
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

  test("restricts known subscribers, and never reactivates them", async () => {
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

  test("keeps the company's own suppression", async () => {
    await company.api.post("/api/emails/suppressions/", { email: "a@x.org", reason: "lawyer" });
    await upload("email,status\nA@x.org,unsubscribed\n");
    const { results } = (await company.api.get("/api/emails/suppressions/")).body;
    expect(results).toMatchObject([{ email: "a@x.org", kind: "manual", reason: "lawyer" }]);
  });

  test("uses the most restrictive status of all rows of a repeated address", async () => {
    await upload("email,status\na@x.org,unsubscribed\nA@x.org,active\nb@x.org,active\nb@x.org,bounced\nb@x.org,\n");
    expect(await statuses()).toEqual({ "A@x.org": "unsubscribed", "b@x.org": "bounced" });
    expect(await mailable()).toEqual([]);
  });

  test("imports nobody with an unknown word: the row is reported", async () => {
    const { body } = await upload("email,status\na@x.org,Gold\nb@x.org,active\n");
    expect(body).toMatchObject({ total: 2, created: 1, skipped: 1, errors: [{ row: 2, email: "a@x.org" }] });
    expect(body.errors[0].error).toMatch(/^status: "Gold" is not known\./);
    const mapped = await upload("email,status\na@x.org,Gold\n", { mapping: '{"status":"tier"}' });
    expect(mapped.body).toMatchObject({ created: 1, skipped: 0 });
    expect((await byEmail("a@x.org")).attributes).toEqual({ tier: "Gold" });
  });

  test("keeps all statuses of our own export, in this company and in another one", async () => {
    await upload(
      "email,status\na@x.org,active\nu@x.org,unsubscribed\nb@x.org,bounced\nc@x.org,complained\nn@x.org,pending\n",
    );
    await company.api.post(SUBSCRIBERS, {
      email: "d@x.org",
      attributes: {
        lists: "x",
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

describe("exports of other products can be imported:", () => {
  const blocked = { "unsubscribed@example.org": "unsubscribed" };

  test("Mailchimp, including its files of unsubscribed and cleaned contacts", async () => {
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
    const ada = { first_name: "Ada", last_name: "Rossi", attributes: { "CONTACT ID": 1, SMS: "+4915112345678" } };
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

  test("HubSpot, with its opt-outs", async () => {
    expect((await upload(EXPORTS.hubspot)).body).toMatchObject({ created: 2, errors: [] });
    expect(await mailable()).toEqual(["active@example.org"]);
    expect(await suppressions()).toEqual(blocked);
    const { attributes } = await byEmail("active@");
    expect(attributes).toEqual({
      "Record ID": 701,
      "Phone Number": "+49 151 12345678",
      "Lead Status": "New",
      "Create Date": expect.any(String),
    });
  });

  test("Outlook, with unknown days skipped and others as dates", async () => {
    expect((await upload(EXPORTS.outlook)).body).toMatchObject({ created: 3, errors: [] });
    const [ada, bo] = [await byEmail("active@"), await byEmail("bo@")];
    expect(ada).toMatchObject({ first_name: "Ada", last_name: "Rossi", status: "active" });
    expect(ada.attributes).toMatchObject({ Birthday: "1991-05-31", Private: false, "Business City": "Rome" });
    expect(bo.attributes).not.toHaveProperty("Birthday");
  });

  test("Google Contacts, with several addresses in one cell", async () => {
    expect((await upload(EXPORTS.google)).body).toMatchObject({ created: 2, errors: [] });
    expect(await mailable()).toEqual(["active@example.org", "bo@example.org"]);
    expect(await byEmail("active@")).toMatchObject({
      first_name: "Ada",
      last_name: "Rossi",
      attributes: { Birthday: "1991-05-31", Labels: "* myContacts ::: Readers", "E-mail 2 - Value": "ada@example.com" },
    });
  });

  test("German Excel, which is refused completely without its charset", async () => {
    const bytes = inWindows1252(EXPORTS.excel);
    const refused = await upload(bytes);
    expect([refused.status, refused.body]).toEqual([400, { file: [expect.stringContaining("windows-1252")] }]);
    expect(await statuses()).toEqual({});
    expect((await upload(bytes, { charset: "windows-1252" })).body).toMatchObject({ created: 1, errors: [] });
    const joerg = { first_name: "Jörg", last_name: "Müßig", attributes: { Ort: "Köln", "Rabatt €": "5 €" } };
    expect(await byEmail("active@")).toMatchObject(joerg);
  });
});

describe("the charset of a file", () => {
  test("may be UTF-16, detected by its byte order mark, in both orders", async () => {
    const text = "\uFEFFemail\tfirst_name\njoerg@x.org\tJörg €\n";
    const little = Buffer.from(text, "utf16le");
    expect((await upload(little)).body).toMatchObject({ created: 1, errors: [] });
    expect((await byEmail("joerg@")).first_name).toBe("Jörg €");
    const big = Buffer.from(text, "utf16le").swap16();
    expect((await upload(big, { charset: "windows-1252" })).body).toMatchObject({ updated: 1, errors: [] });
  });

  test("that is not UTF-8, however late in the file, is 400, nothing is imported, and the next import works", async () => {
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

  test("is 400 on charset if unknown", async () => {
    const answer = await upload("email\na@x.org\n", { charset: "klingon" });
    expect([answer.status, answer.body]).toEqual([400, { charset: [expect.stringContaining('"klingon"')] }]);
  });
});

describe("the export", () => {
  const exported = async (query: Record<string, string | boolean>) => {
    const { status, body, text } = await company.api.get(`${SUBSCRIBERS}export/`, { query });
    if (status !== 200) return [status, body];
    return text
      .trimEnd()
      .split("\r\n")
      .map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "time"));
  };
  const HEADER = "email,first_name,last_name,status,created_at,lists";

  test("covers a list, a status, a segment or all, with names of lists and guarded formulas", async () => {
    const list = async (name: string) => (await company.api.post("/api/emails/lists/", { name })).body.id as string;
    const [news, offers] = [await list("News"), await list("=Offers")];
    await company.api.post(SUBSCRIBERS, { email: "a@x.org", first_name: "＝A", lists: [news, offers] });
    await company.api.post(SUBSCRIBERS, { email: "b@x.org", attributes: { city: "Rome" }, lists: [news] });
    await upload("email,status\nc@x.org,unsubscribed\n", { list_id: news });
    const conditions = [{ field: "email", operator: "starts_with", value: "b@" }];
    const rules = { match: "all", conditions };
    const segment = (await company.api.post("/api/emails/segments/", { name: "S", rules })).body.id;
    const [a, b, c] = [
      "a@x.org,'＝A,,active,time,\"'=Offers; News\"",
      "b@x.org,,,active,time,News",
      "c@x.org,,,unsubscribed,time,News",
    ];
    expect(await exported({ list: offers })).toEqual([HEADER, a]);
    expect(await exported({ list: news, status: "active" })).toEqual([`${HEADER},city`, `${a},`, `${b},Rome`]);
    expect(await exported({ status: "unsubscribed" })).toEqual([HEADER, c]);
    expect(await exported({ segment, list: news, status: "active" })).toEqual([`${HEADER},city`, `${b},Rome`]);
    expect(await exported({ segment, list: offers })).toEqual([HEADER]);
    const stranger = await newCompany(app);
    const foreign = (await stranger.api.post("/api/emails/lists/", { name: "L" })).body.id;
    expect(await exported({ list: foreign })).toEqual([400, { list: [expect.stringContaining("does not exist")] }]);
    expect(await exported({ segment: foreign })).toEqual([
      400,
      { segment: [expect.stringContaining("does not exist")] },
    ]);
  });

  test("begins with a byte order mark on request, and can be imported with it", async () => {
    await upload("email,first_name\na@x.org,Jörg\n");
    const plain = await company.api.get(`${SUBSCRIBERS}export/`);
    const marked = await company.api.get(`${SUBSCRIBERS}export/`, { query: { bom: true } });
    expect(marked.bytes).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain.bytes]));
    expect((await upload(new Uint8Array(marked.bytes))).body).toMatchObject({ updated: 1, errors: [] });
  });
});

describe("suppressions in bulk", () => {
  const BULK = "/api/emails/suppressions/bulk/";
  const file = (content: string | Uint8Array<ArrayBuffer>, fields = {}) =>
    company.api.post(BULK, fileForm(content, "s.csv", fields));

  test("are imported as JSON: new, existing and invalid entries", async () => {
    await company.api.post("/api/emails/suppressions/", { email: "there@x.org" });
    await upload("email\nu@x.org\nc@x.org\n");
    const items = [
      { email: "u@x.org", kind: "unsubscribed", reason: "moved" },
      { email: "C@X.org", kind: "complained" },
      { email: "There@x.org", kind: "bounced" },
      { domain: "*.Example.org" },
      { domain: "example.org", kind: "bounced" },
      { email: "nobody" },
      { email: "a@x.org", domain: "x.org" },
      { domain: "a b" },
      { email: "k@x.org", kind: "gold" },
      {},
      { domain: "gmail.com/x" },
    ];
    const { status, body } = await company.api.post(BULK, { items });
    expect(status).toBe(201);
    expect(body).toMatchObject({ total: 11, created: 3, existing: 2 });
    expect(body.errors.map(({ row, error }: { row: number; error: string }) => [row, error])).toEqual([
      [5, "email: Enter a valid email address."],
      [6, "Give exactly one of email and domain."],
      [7, "domain: Enter a valid domain."],
      [8, 'kind: "gold" is not a valid choice.'],
      [9, "Give exactly one of email and domain."],
      [10, "domain: Enter a valid domain."],
    ]);
    const { results } = (await company.api.get("/api/emails/suppressions/", { query: { ordering: "created_at" } }))
      .body;
    const seen = results.map((one: Record<string, string>) => [one.email ?? one.domain, one.kind, one.reason]);
    expect(new Set(seen)).toEqual(
      new Set([
        ["there@x.org", "manual", ""],
        ["u@x.org", "unsubscribed", "moved"],
        ["C@X.org", "complained", ""],
        ["example.org", "manual", ""],
      ]),
    );
    expect(await statuses()).toEqual({ "u@x.org": "unsubscribed", "c@x.org": "complained" });
    expect((await company.api.post(BULK, { items })).body).toMatchObject({ created: 0, existing: 5 });
  });

  test("are imported as CSV from Excel, without formula guards; a stronger kind replaces an existing one, a weaker one does not", async () => {
    const csv = "sep=;\nE-Mail;Grund;Kind;reason\n'+a@x.org;x;;Jörg\nb@x.org;;Hard bounced;\n\nnobody;;;\n";
    expect((await file(inWindows1252(csv))).status).toBe(400);
    expect(await suppressions()).toEqual({});
    expect((await file(inWindows1252(csv), { charset: "windows-1252" })).body).toEqual({
      total: 3,
      created: 2,
      existing: 0,
      errors: [{ row: 6, email: "nobody", domain: "", error: "email: Enter a valid email address." }],
    });
    expect(await suppressions()).toEqual({ "+a@x.org": "manual", "b@x.org": "bounced" });
    const again = "email,kind\n+a@x.org,unsubscribed\nb@x.org,unsubscribed\nb@x.org,complained\n";
    expect((await file(again)).body).toMatchObject({ total: 3, created: 0, existing: 3, errors: [] });
    expect(await suppressions()).toEqual({ "+a@x.org": "manual", "b@x.org": "complained" });
  });

  test("accept our own export with every entry", async () => {
    await company.api.post(BULK, {
      items: [{ email: "=a@x.org", reason: "=1", kind: "bounced" }, { domain: "münchen.example" }],
    });
    const { status, headers, text } = await company.api.get("/api/emails/suppressions/export/");
    expect([status, headers.get("content-disposition")]).toEqual([
      200,
      expect.stringMatching(/^attachment; .*\.csv"$/),
    ]);
    const lines = text
      .trimEnd()
      .split("\r\n")
      .map((line) => line.replace(/[^,]+Z$/, "time"));
    expect(lines[0]).toBe("email,domain,kind,reason,created_at");
    expect(lines.slice(1).toSorted()).toEqual(
      ["'=a@x.org,,bounced,'=1,time", ",xn--mnchen-3ya.example,manual,,time"].toSorted(),
    );
    expect((await file(text)).body).toMatchObject({ total: 2, created: 0, existing: 2, errors: [] });
    const other = await newCompany(app);
    const moved = await other.api.post(BULK, fileForm(text, "s.csv"));
    expect(moved.body).toMatchObject({ total: 2, created: 2, errors: [] });
  });

  test("can be created one by one with a kind", async () => {
    await upload("email\na@x.org\n");
    const post = (kind: string) => company.api.post("/api/emails/suppressions/", { email: "A@x.org", kind });
    for (const [given, kept] of [
      ["unsubscribed", "unsubscribed"],
      ["bounced", "bounced"],
      ["manual", "bounced"],
      ["complained", "complained"],
    ] as const) {
      expect((await post(given)).body).toMatchObject({ email: "A@x.org", kind: kept });
    }
    expect(await statuses()).toEqual({ "a@x.org": "complained" });
    expect(Object.keys((await post("gold")).body)).toEqual(["kind"]);
  });

  test.each([
    ["JSON without items", {}, "items"],
    ["items that are not a list", { items: 1 }, "items"],
    ["more than 10,000", { items: Array.from({ length: 10_001 }, () => ({ email: "a@x.org" })) }, "items"],
    ["a form without a file", new FormData(), "file"],
    ["a file without addresses", fileForm("reason\nx\n", "s.csv"), "file"],
    ["an unknown charset", fileForm("email\na@x.org\n", "s.csv", { charset: "klingon" }), "charset"],
  ])("are 400 if invalid: %s", async (_name, body, field) => {
    const answer = await company.api.post(BULK, body);
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, [field]]);
  });
});

describe("the errors of an import", () => {
  const errorsAt = (url: string, of = company) => of.api.get(url);

  test("are all available for a day, however many, to their company only", async () => {
    const bad = Array.from({ length: 20_000 }, (_, n) => `=bad${n},"x"`).join("\n");
    const { body } = await upload(`email,first_name\na@x.org,Ann\n${bad}\n`);
    expect(body).toMatchObject({ total: 20_001, created: 1, skipped: 20_000, errors_count: 20_000 });
    expect(body.errors).toHaveLength(100);
    const { status, headers, text } = await errorsAt(body.errors_url);
    expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    const lines = text.trimEnd().split("\r\n");
    expect([lines.length, lines[0]]).toEqual([20_001, "row,email,error"]);
    expect(lines[1]).toBe("3,'=bad0,email: Enter a valid email address.");
    expect(lines.at(-1)).toBe("20002,'=bad19999,email: Enter a valid email address.");
    const stranger = await newCompany(app);
    expect((await errorsAt(body.errors_url, stranger)).status).toBe(404);
    expect((await fetch(new URL(new URL(body.errors_url).pathname, app.url))).status).toBe(401);

    const kept = "update imports set created_at = now() - interval '24 hours' where company_id = $1";
    await query(kept, [company.id]);
    expect((await errorsAt(body.errors_url)).status).toBe(404);
    await app.broker.call("subscribers.purgeImports");
    expect(await query("select from import_errors where company_id = $1", [company.id])).toEqual([]);
  });

  test("are available for a dry run, too; without errors there is no URL, and refused files store nothing", async () => {
    const { body } = await upload("email\nx\n", { dry_run: "true" });
    expect((await errorsAt(body.errors_url)).text).toBe(
      "row,email,error\r\n2,x,email: Enter a valid email address.\r\n",
    );
    expect((await upload("email\na@x.org\n")).body.errors_url).toBeNull();
    const rows = Array.from({ length: 20_000 }, (_, n) => `bad${n}`).join("\n");
    const refused = Buffer.concat([Buffer.from(`email\n${rows}\n`), Buffer.from([0xff])]);
    expect((await upload(refused)).status).toBe(400);
    expect(await query("select from imports where company_id = $1", [company.id])).toHaveLength(2);
  });
});

describe("a background import", () => {
  /** Waits for the end of the import. */
  async function over(importId: string) {
    for (const deadline = Date.now() + 50_000; Date.now() < deadline; await sleep(50)) {
      const { body } = await company.api.get(`/api/emails/imports/${importId}/`);
      if (body.status !== "running") return body;
    }
    throw new Error("It was not over in time");
  }

  test("answers with its id, and ends with the same result as in the foreground", async () => {
    const csv = "email,status\na@x.org,unsubscribed\nnobody,\nb@x.org,\n";
    const dry = await upload(csv, { background: "true", dry_run: "true" });
    expect([dry.status, Object.keys(dry.body)]).toEqual([202, ["import_id"]]);
    expect(await over(dry.body.import_id)).toMatchObject({ status: "done", total: 3, created: 2 });
    expect(await statuses()).toEqual({});

    const begun = await upload(csv, { background: "true" });
    const ended = await over(begun.body.import_id);
    expect(ended).toMatchObject({
      id: begun.body.import_id,
      status: "done",
      bytes: csv.length,
      bytes_read: csv.length,
      total: 3,
      created: 2,
      updated: 0,
      skipped: 1,
      errors: [{ row: 3, email: "nobody" }],
      error: null,
    });
    expect((await company.api.get(ended.errors_url)).text).toContain("3,nobody,");
    expect(await statuses()).toEqual({ "a@x.org": "unsubscribed", "b@x.org": "active" });
    expect(await query("select from import_parts where company_id = $1", [company.id])).toEqual([]);
    const log = await query("select detail from audit_log where company_id = $1 and action = 'subscribers.imported'", [
      company.id,
    ]);
    expect(log).toEqual([{ detail: { total: 3, created: 2, updated: 0, skipped: 1 } }]);
    const stranger = await newCompany(app);
    expect((await stranger.api.get(`/api/emails/imports/${begun.body.import_id}/`)).status).toBe(404);
  });

  test("fails as a whole if the foreground refuses the file", async () => {
    const { body } = await upload(Buffer.from("email,first_name\na@x.org,J\xf6rg\n", "latin1"), { background: "true" });
    expect(await over(body.import_id)).toMatchObject({
      status: "failed",
      total: 0,
      error: expect.stringMatching(/^The file is not UTF-8/),
    });
    expect(await statuses()).toEqual({});
    expect(await query("select from import_parts where company_id = $1", [company.id])).toEqual([]);
  });

  test("is completed by another node, once, if its node dies", async () => {
    const file = async (name: string) => {
      const id = newId();
      const form = { size: 20 };
      const caller = { companyId: company.id };
      expect(await addBackgroundImport(company.id, id, { form, caller, bytes: 20 })).toBe(true);
      await addPart(company.id, id, 0, Buffer.from(`email\n${name}@x.org\nbad`));
      return id;
    };
    const id = await file("a");
    const leased = "update imports set attempts = 1, next_attempt_at = now() - interval '1 second' where id = $1";
    await addErrors({ companyId: company.id, id, attempts: 1 }, "9,old,half of the errors\r\n");
    await query(leased, [id]);
    const ended = await over(id);
    expect(ended).toMatchObject({ status: "done", created: 1, errors_count: 1 });
    const errors = await company.api.get(ended.errors_url);
    expect(errors.text).toBe("row,email,error\r\n3,bad,email: Enter a valid email address.\r\n");
    const dead = { companyId: company.id, id, attempts: 1, form: {}, caller: {} };
    expect([await renewImport(dead, 5), await finishImport(undefined, dead, {})]).toEqual([false, false]);
    await failImport(dead, "late");
    expect(await over(id)).toMatchObject({ status: "done", created: 1, bytes_read: 20 });
  });

  test("waits with at most four others of its company", async () => {
    for (let n = 0; n < 5; n++) {
      await addBackgroundImport(company.id, newId(), { form: {}, caller: {}, bytes: 1 });
    }
    expect((await upload("email\na@x.org\n", { background: "true" })).status).toBe(429);
  });
});

describe("the form of an import", () => {
  test("assigns or ignores a column by its mapping", async () => {
    const csv = "Kontakt;Ort;Geheim;email\na@x.org;Bonn;x;b@x.org\n";
    const mapping = JSON.stringify({ Kontakt: "email", Ort: "city", geheim: null });
    expect((await upload(csv, { mapping })).body).toMatchObject({ created: 1, errors: [] });
    expect(await byEmail("a@x.org")).toMatchObject({ attributes: { city: "Bonn", email: "b@x.org" } });
  });

  test.each([
    ["no JSON", "{", /^Not valid JSON/],
    ["no object", "[1]", /^Expected an object/],
    ["a target that is not a string", '{"a":1}', /Not a valid string/],
    ["no name of an attribute", '{"a":"\\n"}', /cannot be the name/],
    ["a column that is not there", '{"Mail":"email"}', /^The file has no column "Mail"\. It has: "a", "b"\.$/],
    ["two columns for one field", '{"a":"email","b":"email"}', /^Only one column/],
  ])("is 400 on mapping if the mapping is %s", async (_name, mapping, sentence) => {
    const answer = await upload("a,b\nx@x.org,1\n", { mapping });
    expect([answer.status, answer.body]).toEqual([400, { mapping: [expect.stringMatching(sentence)] }]);
  });

  test("is answered with the list of columns if none has addresses", async () => {
    const { status, body } = await upload("Kontakt,Ort\na@x.org,Bonn\n");
    expect([status, body]).toEqual([400, { file: ['The header has no column "email". It has: "Kontakt", "Ort".'] }]);
  });

  test("counts with dry_run as the import will, returns 200 and writes nothing", async () => {
    await upload("email\nknown@x.org\n");
    const csv = "email,status\nknown@x.org,unsubscribed\nnew@x.org,active\nNew@x.org,bounced\nnobody,\n";
    for (const on_conflict of ["update", "skip"]) {
      const dry = await upload(csv, { dry_run: "true", on_conflict });
      expect(dry.status).toBe(200);
      expect([await statuses(), await suppressions()]).toEqual([{ "known@x.org": "active" }, {}]);
      const other = await newCompany(app);
      await upload("email\nknown@x.org\n", {}, other);
      const real = await upload(csv, { dry_run: "false", on_conflict }, other);
      expect([real.status, real.body]).toEqual([
        201,
        { ...dry.body, errors_url: expect.any(String), import_id: expect.any(String) },
      ]);
    }
  });

  test("leaves known people and their lists unchanged with on_conflict=skip, except for a more restrictive status", async () => {
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
    ["list", "x", 'Unknown field. Did you mean "list_id"?'],
    ["dryrun", "true", 'Unknown field. Did you mean "dry_run"?'],
    ["encoding", "latin1", 'Unknown field. Did you mean "charset"?'],
    ["tag", "vip", "Unknown field."],
  ])("is refused with the unknown field %s, and nothing is imported", async (field, value, sentence) => {
    const { status, body } = await upload("email\na@x.org\n", { [field]: value });
    expect([status, body]).toEqual([400, { [field]: [sentence] }]);
    expect(await statuses()).toEqual({});
  });

  test.each([
    ["dry_run", "maybe"],
    ["dry_run", ""],
    ["on_conflict", "replace"],
  ])("is 400 on the field for %s=%s", async (field, value) => {
    const { status, body } = await upload("email\na@x.org\n", { [field]: value });
    expect([status, Object.keys(body)]).toEqual([400, [field]]);
  });
});
