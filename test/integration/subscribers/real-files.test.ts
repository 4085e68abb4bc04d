/** Files as other products export them: cells are stored faithfully, and unreadable ones reported. */
import { setTimeout as sleep } from "node:timers/promises";
import { query, transaction } from "../../../models/database/db.ts";
import { newId, newIdAt } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";

const SUBSCRIBERS = "/api/emails/subscribers/";

let app: App;
let company: TestCompany;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway", "renderer"] });
});
beforeEach(async () => {
  company = await newCompany(app);
});
afterAll(() => app.stop());

const upload = (content: string | Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}) =>
  company.api.post(`${SUBSCRIBERS}bulk/`, fileForm(content, "people.csv", fields));

interface Person {
  email: string;
  first_name: string;
  last_name: string;
  attributes: Record<string, unknown>;
}

async function people(): Promise<Record<string, Person>> {
  const { results } = (await company.api.get(SUBSCRIBERS, { query: { page_size: 100 } })).body;
  return Object.fromEntries(results.map((one: Person) => [one.email.split("@")[0], one]));
}

const attributeOf = async (name: string) =>
  Object.fromEntries(Object.entries(await people()).map(([key, { attributes }]) => [key, attributes[name]]));

const csv = (...lines: string[]) => lines.map((line) => `${line}\r\n`).join("");

test("blanks around quoted cells are ignored", async () => {
  const file = csv(
    "email, first_name, city, attributes",
    'anna@example.com, "Anna", "Berlin", "{""shop"": true, ""note"": ""a,b""}"',
    'ben@example.com, "Ben", "Cologne, South", "{""shop"": false}"',
    'cleo@example.com, "Cleo", "Bonn",',
  );
  expect((await upload(file)).body).toMatchObject({ created: 3, errors: [] });
  const { anna, ben } = await people();
  expect(anna).toMatchObject({ first_name: "Anna", attributes: { city: "Berlin", shop: true, note: "a,b" } });
  expect(ben).toMatchObject({ first_name: "Ben", attributes: { city: "Cologne, South", shop: false } });
});

test("words for yes and no become booleans, also in segments and conditions", async () => {
  const values = ["TRUE", "FALSE", "true", "false", "1", "0", "yes", "no", "WAHR", "FALSCH", ""];
  const file = csv("email,vip", ...values.map((value, no) => `b${no}@example.com,${value}`));
  const { body } = await upload(file);
  expect(body.columns).toEqual([{ name: "vip", type: "boolean", read: 10, unread: 0 }]);
  const yes = [true, false, true, false, true, false, true, false, true, false, undefined];
  expect(await attributeOf("vip")).toEqual(Object.fromEntries(yes.map((value, no) => [`b${no}`, value])));
  const rules = { match: "all", conditions: [{ field: "attributes.vip", operator: "equals", value: true }] };
  const segment = (await company.api.post("/api/emails/segments/", { name: "VIPs", rules })).body;
  expect((await company.api.get(`/api/emails/segments/${segment.id}/`)).body.subscriber_count).toBe(5);
});

test("a column is numeric if its texts convert back unchanged; other cells stay text", async () => {
  const rows = ["1,01067,9.90,+49301234", "22,1067,1.5,030", "x,10,2.25,+4930", "-4,20,3,12"];
  const { body } = await upload(
    csv("email,visits,zip,price,phone", ...rows.map((row, no) => `n${no}@example.com,${row}`)),
  );
  expect(body.columns).toEqual([
    { name: "visits", type: "number", read: 3, unread: 1 },
    { name: "zip", type: "number", read: 3, unread: 1 },
    { name: "price", type: "number", read: 3, unread: 1 },
  ]);
  expect(await attributeOf("visits")).toEqual({ n0: 1, n1: 22, n2: "x", n3: -4 });
  expect(await attributeOf("zip")).toEqual({ n0: "01067", n1: 1067, n2: 10, n3: 20 });
  expect(await attributeOf("price")).toEqual({ n0: "9.90", n1: 1.5, n2: 2.25, n3: 3 });
  expect(await attributeOf("phone")).toEqual({ n0: "+49301234", n1: "030", n2: "+4930", n3: "12" });
});

describe("dates", () => {
  test("are stored as days in any format, and a segment finds all of them", async () => {
    const values = ["1990-12-31", "31.12.1990", "12/31/1990", "31/12/1990", "31.12.90", "0000-00-00", "33238"];
    const { body } = await upload(
      csv("email,birthday", ...values.map((value, no) => `d${no + 1}@example.com,${value}`)),
    );
    expect(body.columns).toEqual([{ name: "birthday", type: "date", read: 6, unread: 1 }]);
    const day = "1990-12-31";
    expect(await attributeOf("birthday")).toEqual({
      d1: day,
      d2: day,
      d3: day,
      d4: day,
      d5: day,
      d6: "0000-00-00",
      d7: day,
    });
    const rules = {
      match: "all",
      conditions: [{ field: "attributes.birthday", operator: "before", value: "2000-01-01" }],
    };
    const segment = (await company.api.post("/api/emails/segments/", { name: "Older", rules })).body;
    expect((await company.api.get(`/api/emails/segments/${segment.id}/`)).body.subscriber_count).toBe(6);
  });

  const ambiguous = csv("email,day", "a@example.com,03/04/2000", "b@example.com,05/06/30", "c@example.com,2001-02-03");

  test("stay text if the order is undecidable, and the response asks for the order", async () => {
    const { body } = await upload(ambiguous);
    expect(body.columns).toEqual([{ name: "day", type: "date", read: 1, unread: 2, date_order: null }]);
    expect(await attributeOf("day")).toEqual({ a: "03/04/2000", b: "05/06/30", c: "2001-02-03" });
  });

  test.each([
    ["dmy", { a: "2000-04-03", b: "1930-06-05", c: "2001-02-03" }],
    ["mdy", { a: "2000-03-04", b: "1930-05-06", c: "2001-02-03" }],
  ])("are read in the order that the form gives: %s", async (date_order, expected) => {
    const { body } = await upload(ambiguous, { date_order });
    expect(body.columns).toEqual([{ name: "day", type: "date", read: 3, unread: 0, date_order }]);
    expect(await attributeOf("day")).toEqual(expected);
  });

  test("are read in the order that other cells of the column prove", async () => {
    await upload(csv("email,day", "a@example.com,03/04/2000", "b@example.com,31/12/1999"));
    expect(await attributeOf("day")).toEqual({ a: "2000-04-03", b: "1999-12-31" });
  });

  test("are 400 with an invalid order", async () => {
    expect((await upload(ambiguous, { date_order: "ymd" })).body).toEqual({
      date_order: ['"ymd" is not a valid choice.'],
    });
  });
});

test("names in one column are split only if that is certain", async () => {
  const names = [
    "Anna Example",
    '"Example, Anna"',
    '"Max Muster, Jr."',
    '"Rosa Bakery, GmbH"',
    '"Dr. Ida Sample, MBA"',
  ];
  await upload(csv("email,name", ...names.map((name, no) => `n${no}@example.com,${name}`)));
  const found = Object.entries(await people()).map(([key, one]) => [key, [one.first_name, one.last_name]]);
  expect(Object.fromEntries(found)).toEqual({
    n0: ["Anna", "Example"],
    n1: ["Anna", "Example"],
    n2: ["Max", "Muster, Jr."],
    n3: ["Rosa Bakery, GmbH", ""],
    n4: ["Dr. Ida", "Sample, MBA"],
  });
});

describe("long numbers", () => {
  test("keep their digits in a file", async () => {
    const file = csv(
      "email,customer_no,attributes",
      'k1@example.com,9007199254740993,"{""order_id"": 9007199254740993}"',
      'k2@example.com,12345678901234567890,"{""order_id"": 1e400, ""share"": 0.1234567890123456789}"',
    );
    expect((await upload(file)).body).toMatchObject({ created: 2, errors: [] });
    const { k1, k2 } = await people();
    expect(k1!.attributes).toEqual({ customer_no: "9007199254740993", order_id: "9007199254740993" });
    expect(k2!.attributes).toEqual({
      customer_no: "12345678901234567890",
      order_id: "1e400",
      share: "0.1234567890123456789",
    });
  });

  test("keep their digits in a request", async () => {
    const body =
      '{"email": "ann@example.com", "attributes": {"order_id": 9007199254740993, "large": 1e400, "age": 40}}';
    const answer = await company.api.post(SUBSCRIBERS, body);
    expect(answer.body).toMatchObject({ attributes: { order_id: "9007199254740993", large: "1e400", age: 40 } });
  });
});

describe("invisible characters in addresses", () => {
  test("are removed from a file's addresses, and one inside an address is reported", async () => {
    const file = csv(
      "email,first_name",
      "anna@example.com\u00a0,nbsp",
      "\u200bben@example.com,zero width space",
      "\u202acleo@example.com\u202c,embedding",
      "dora@example.com\u200e,mark",
      "emil@exam\u00adple.com,soft hyphen",
      "fr\u2060ida@example.com,word joiner",
      "anna@example.com,twin",
    );
    const { body } = await upload(file);
    expect([body.created, body.updated]).toEqual([4, 1]);
    expect(body.errors.map(({ row, error }: { row: number; error: string }) => [row, error])).toEqual([
      [6, expect.stringContaining("(U+00AD)")],
      [7, expect.stringContaining("(U+2060)")],
    ]);
  });

  test("are removed from requests, and one inside an address is reported", async () => {
    expect((await company.api.post(SUBSCRIBERS, { email: "\u200bann@example.com\u200e" })).body.email).toBe(
      "ann@example.com",
    );
    const blocked = await company.api.post("/api/emails/suppressions/", { email: "bob@example.com\u200b" });
    expect(blocked.body.email).toBe("bob@example.com");
    const form = await client(app, { ip: someIp() }).post(`/api/emails/public/subscribe/${company.id}/`, {
      email: "\ufeffcy@example.com\u00ad",
    });
    expect(form.status).toBe(201);
    expect(Object.keys(await people()).sort()).toEqual(["ann", "cy"]);
    expect((await company.api.post(SUBSCRIBERS, { email: "ann\u200b@example.com" })).body).toEqual({
      email: ["Enter a valid email address. It contains an invisible character (U+200B)."],
    });
  });
});

test.each([
  ["xlsx", Buffer.from("PK\x03\x04\x14\x00\x06\x00", "latin1")],
  ["xls", Buffer.from("d0cf11e0a1b11ae100000000", "hex")],
])("a workbook (.%s) that is called .csv is refused with advice to save it as CSV", async (_kind, head) => {
  const answer = await upload(new Uint8Array(Buffer.concat([head, Buffer.alloc(500, 7)])));
  expect([answer.status, answer.body.file]).toEqual([400, [expect.stringMatching(/Excel workbook.*CSV UTF-8/)]]);
});

test("HTML entities that end in a semicolon are decoded once, and counted", async () => {
  const file = csv(
    "email,first_name,company",
    "a@example.com,Ren&eacute;e,R&amp;D",
    "b@example.com,Bob,A&amp;amp;B",
    "c@example.com,Cy,AT&T &copy 2020",
  );
  const dry = (await upload(file, { dry_run: "true" })).body;
  expect(dry.decoded_cells).toBe(3);
  await upload(file);
  const { a, b, c } = await people();
  expect(a).toMatchObject({ first_name: "Renée", attributes: { company: "R&D" } });
  expect([b!.attributes.company, c!.attributes.company]).toEqual(["A&amp;B", "AT&T &copy 2020"]);
});

describe("a file without a header", () => {
  const file = csv("anna@example.com,Anna,Berlin", "ben@example.com,Ben,Bonn");

  test("is refused, so that the first person is not lost", async () => {
    const answer = await upload(file);
    expect([answer.status, answer.body.file]).toEqual([400, [expect.stringContaining("`header` false")]]);
    const mapping = JSON.stringify({ "anna@example.com": "email" });
    expect((await upload(file, { mapping })).status).toBe(400);
  });

  test("is read by column numbers, from its first line on", async () => {
    const mapping = JSON.stringify({ 1: "email", 2: "first_name" });
    expect((await upload(file, { header: "false", mapping })).body).toMatchObject({ created: 2, errors: [] });
    expect((await people()).anna).toMatchObject({ first_name: "Anna", attributes: {} });
    const background = await upload(csv("cy@example.com,Cy"), { header: "false", mapping, background: "true" });
    await untilDone(background.body.import_id);
    expect((await people()).cy).toMatchObject({ first_name: "Cy" });
  });

  test.each([
    ["no mapping", {}],
    ["a mapping by names", { mapping: '{"email": "email"}' }],
    ["a mapping without the address", { mapping: '{"2": "first_name"}' }],
    ["a column that the file has not", { mapping: '{"9": "email"}' }],
  ])("is 400 on mapping with %s", async (_name, fields) => {
    const answer = await upload(file, { header: "false", ...fields });
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ["mapping"]]);
  });
});

async function untilDone(id: string): Promise<void> {
  const ends = Date.now() + 20_000;
  while ((await company.api.get(`/api/emails/imports/${id}/`)).body.status !== "done" && Date.now() < ends) {
    await sleep(50);
  }
}

test("a column or mapping target in another case means the existing attribute, unless the file has both", async () => {
  const attributes = { City: "Bonn", Shop: "yes" };
  await company.api.post(SUBSCRIBERS, { email: "before@example.com", attributes });
  await upload(csv("email,CITY,Laden", "a@example.com,Ulm,open"), { mapping: '{"laden": "shop"}' });
  const uploaded = await company.api.post(
    "/api/emails/imports/",
    fileForm(csv("email,city", "c@x.org,Rome"), "c.csv", {}),
  );
  const { columns } = (await company.api.get(`/api/emails/imports/${uploaded.body.id}/columns/`)).body;
  expect(columns.map(({ attribute }: { attribute: string }) => attribute)).toEqual([null, "City"]);
  await upload(csv("email,city,CITY", "b@example.com,Rome,Oslo"));
  const all = await people();
  expect(all.a!.attributes).toEqual({ City: "Ulm", Shop: "open" });
  expect(all.b!.attributes).toEqual({ city: "Rome", CITY: "Oslo" });
});

test("a foreground import is available by id with its result, for its company only, and is not listed", async () => {
  const list = (await company.api.post("/api/emails/lists/", { name: "Own" })).body.id;
  const { body } = await upload(csv("email,city", "a@example.com,Bonn", "nobody,Ulm"), {
    list_id: list,
    mapping: '{"city": "town"}',
  });
  const path = `/api/emails/imports/${body.import_id}/`;
  expect((await company.api.get(path)).body).toMatchObject({
    ...body,
    id: body.import_id,
    status: "done",
    filename: "people.csv",
    list_id: list,
    mapping: { city: "town" },
    dry_run: false,
    startable: false,
  });
  expect((await company.api.get(body.errors_url)).text).toContain("nobody");
  const tried = (await upload(csv("email", "b@example.com"), { dry_run: "true" })).body;
  expect((await company.api.get(`/api/emails/imports/${tried.import_id}/`)).body).toMatchObject({
    ...tried,
    dry_run: true,
  });
  expect((await (await newCompany(app)).api.get(path)).status).toBe(404);
  expect((await company.api.get("/api/emails/imports/")).body.count).toBe(0);
  expect((await company.api.delete(path)).status).toBe(204);
  expect((await company.api.get(path)).status).toBe(404);
  expect(Object.keys(await people())).toEqual(["a"]);
});

describe("undoing an import", () => {
  const undo = (id: string, of = company) => of.api.post(`/api/emails/imports/${id}/undo/`);

  test("deletes the people it created, except those edited, on another list, or known before", async () => {
    await company.api.post(SUBSCRIBERS, { email: "before@example.com" });
    const listOf = async (name: string) => (await company.api.post("/api/emails/lists/", { name })).body.id;
    const [list, other] = [await listOf("Own"), await listOf("Other")];
    const names = ["before", "a", "b", "edited", "listed"];
    const { body } = await upload(csv("email", ...names.map((name) => `${name}@example.com`)), { list_id: list });
    const { edited, listed } = (await people()) as unknown as Record<string, { id: string }>;
    await company.api.patch(`${SUBSCRIBERS}${edited!.id}/`, { first_name: "Eddi" });
    await company.api.post(`${SUBSCRIBERS}bulk-update-lists/`, { subscriber_ids: [listed!.id], add_to_lists: [other] });
    const stranger = await newCompany(app);
    expect((await undo(body.import_id, stranger)).status).toBe(404);
    const undone = await undo(body.import_id);
    expect([undone.status, undone.body]).toEqual([200, { deleted: 2, kept: 2, remaining: 0 }]);
    expect(Object.keys(await people()).sort()).toEqual(["before", "edited", "listed"]);
    expect((await undo(body.import_id)).body).toEqual({ deleted: 0, kept: 2, remaining: 0 });
  });

  test.each([
    ["writes their mail", "insert into sent_emails (campaign_no, seq, subscriber_id) values (9, 1, $1)"],
    ["adds them to a list", "insert into list_members (company_id, list_id, subscriber_id) values ($2, $3, $1)"],
  ])("keeps people of a transaction that %s while the undo waits for it", async (_name, sql) => {
    const { body } = await upload(csv("email", "a@example.com", "b@example.com"));
    const list = (await company.api.post("/api/emails/lists/", { name: "Late" })).body.id;
    const { a } = (await people()) as unknown as Record<string, { id: string }>;
    const undoing = await transaction(async (client) => {
      // The lock of an expansion or a change of lists.
      await query("select pg_advisory_xact_lock_shared(hashtextextended('addresses:' || $1, 0))", [company.id], client);
      await query("select from subscribers where id = $1 for key share", [a!.id], client);
      await query(sql, [a!.id, company.id, list].slice(0, sql.includes("$3") ? 3 : 1), client);
      const begun = undo(body.import_id);
      const isWaiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      for (let tries = 0; (await query(isWaiting)).length === 0 && tries < 500; tries++) await sleep(10);
      return { begun };
    });
    expect((await undoing.begun).body).toEqual({ deleted: 1, kept: 1, remaining: 0 });
    expect(Object.keys(await people())).toEqual(["a"]);
  });

  test("is impossible after a week; running imports are a 400, unknown ids a 404", async () => {
    await upload(csv("email", "a@example.com"));
    const old = newIdAt(Date.now() - 8 * 86_400_000);
    await query("update subscribers set import_id = $2 where company_id = $1", [company.id, old]);
    expect((await undo(old)).body).toEqual({ detail: "An import can be undone for 7 days." });
    expect((await undo(newId())).status).toBe(404);
    expect((await undo("nothing")).status).toBe(404);
    const running = newId();
    await query("insert into imports (id, company_id, status) values ($1, $2, 'running')", [running, company.id]);
    expect((await undo(running)).body).toEqual({ detail: "The import is still running. Undo it when it is done." });
    expect(Object.keys(await people())).toEqual(["a"]);
  });
});
