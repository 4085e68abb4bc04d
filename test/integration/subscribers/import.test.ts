import { PassThrough, Readable } from "node:stream";
import fc from "fast-check";
import { pool, query, transaction } from "../../../models/database/db.ts";
import { lockBulkWrites } from "../../../models/statements/subscriber-locks.ts";
import { exportSubscribers } from "../../../services/subscribers/export-subscribers.ts";
import { importSubscribers } from "../../../services/subscribers/import/import-subscribers.ts";
import { type App, startApp } from "../../support/app.ts";
import { fileForm, newCompany, type TestCompany } from "../../support/client.ts";
import { answerTo } from "../../support/refusal.ts";

const SUBSCRIBERS = "/api/emails/subscribers/";
const SOME_ID = "018f0000-0000-7000-8000-00000000abcd";

const NOT_UTF8 =
  "The file is not UTF-8 text. Save it as CSV UTF-8, or set its charset (Excel often uses windows-1252).";

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

const byEmail = async (email: string) =>
  (await company.api.get(SUBSCRIBERS, { query: { search: email } })).body.results[0];

describe("importing a file", () => {
  test("creates and updates, skips unusable rows and reports the reason by line", async () => {
    await company.api.post(SUBSCRIBERS, {
      email: "old@example.com",
      first_name: "Old",
      attributes: { city: "Rome", x: 1 },
    });
    const csv =
      '\uFEFFcity;Last Name;EMAIL;first_name\r\nBonn;Neu;new@example.com;"Ne""u"\r\n;;not-an-address;\r\nOslo;Alt;OLD@example.com;\r\n\r\n"a\nb";;multi@example.com;\r\n;;;late\r\n';
    const { status, body } = await upload(csv);
    expect(status).toBe(201);
    expect(body).toEqual({
      total: 5,
      created: 2,
      updated: 1,
      skipped: 2,
      repeated: 0,
      suppressed: 0,
      errors: [
        { row: 3, email: "not-an-address", error: "email: Enter a valid email address." },
        { row: 8, email: "", error: "email: This field may not be blank." },
      ],
      errors_count: 2,
      columns: [],
      decoded_cells: 0,
      import_id: expect.any(String),
      errors_url: expect.stringMatching(/\/api\/emails\/imports\/[\w-]{36}\/errors\/$/),
    });
    expect(await byEmail("new@")).toMatchObject({ first_name: 'Ne"u', last_name: "Neu", attributes: { city: "Bonn" } });
    expect(await byEmail("old@")).toMatchObject({
      email: "old@example.com",
      first_name: "Old",
      last_name: "Alt",
      attributes: { city: "Oslo", x: 1 },
    });
    expect((await byEmail("multi@")).attributes).toEqual({ city: "a\nb" });
  });

  test("reports how many people are suppressed by address, by domain and by the file itself; a dry run does, too", async () => {
    const suppress = (given: object) => company.api.post("/api/emails/suppressions/", given);
    await suppress({ email: "Blocked@Example.com", kind: "complained" });
    await suppress({ email: "left@example.com", kind: "unsubscribed" });
    await suppress({ domain: "competitor.example" });
    const csv = `email,status
blocked@example.com,\nBLOCKED@example.com,\nleft@example.com,\nx@mail.competitor.example,
free@example.com,\nsaid@example.com,bounced\n`;
    for (const fields of [{ dry_run: "true" }, {}, { on_conflict: "skip" }]) {
      expect((await upload(csv, fields as Record<string, string>)).body).toMatchObject({ total: 6, suppressed: 4 });
    }
    const other = await newCompany(app);
    expect((await upload(csv, {}, other)).body).toMatchObject({ created: 5, suppressed: 1 });
    expect((await byEmail("blocked@")).suppression).toMatchObject({ kind: "complained" });
  });

  test("uses the last row of a repeated address: once as created, then as updated", async () => {
    const { body } = await upload("email,first_name\na@x.org,One\nb@x.org,B\nA@X.org,Two\na@x.org,Three\n");
    expect(body).toMatchObject({ total: 4, created: 2, updated: 2, skipped: 0, repeated: 2 });
    expect(await byEmail("a@x.org")).toMatchObject({ first_name: "Three" });
  });

  test("puts all people on the list of list_id, new and known, except those who left it", async () => {
    const list = (await company.api.post("/api/emails/lists/", { name: "L" })).body.id;
    const known = (await company.api.post(SUBSCRIBERS, { email: "known@x.org" })).body.id;
    const left = (await company.api.post(SUBSCRIBERS, { email: "left@x.org", lists: [list] })).body.id;
    await query("update list_members set left_at = now() where company_id = $1 and subscriber_id = $2", [
      company.id,
      left,
    ]);
    const csv = "email\nknown@x.org\nfresh@x.org\nleft@x.org\n";
    expect((await upload(csv, { list_id: list })).body).toMatchObject({ created: 1, updated: 2 });
    expect((await upload(csv, { list_id: list })).body).toMatchObject({ created: 0, updated: 3 });
    expect((await company.api.get(`/api/emails/lists/${list}/`)).body.subscriber_count).toBe(2);
    expect((await company.api.get(`${SUBSCRIBERS}${known}/`)).body.lists).toEqual([list]);
  });

  test("is 400 with a list of another company, and nothing is imported", async () => {
    const stranger = await newCompany(app);
    const foreign = (await stranger.api.post("/api/emails/lists/", { name: "L" })).body.id;
    for (const list_id of [foreign, SOME_ID]) {
      expect(await upload("email\na@x.org\n", { list_id })).toMatchObject({
        status: 400,
        body: { list_id: [`Invalid pk "${list_id}" - object does not exist.`] },
      });
    }
    expect(await upload("email\na@x.org\n", { list_id: "x" })).toMatchObject({
      status: 400,
      body: { list_id: ["Must be a valid UUID."] },
    });
    expect((await company.api.get(SUBSCRIBERS)).body.count).toBe(0);
  });

  test("keeps existing statuses", async () => {
    await company.api.post(SUBSCRIBERS, { email: "gone@x.org" });
    await query("update subscribers set status = 'unsubscribed' where company_id = $1", [company.id]);
    await upload("email,status\ngone@x.org,active\n");
    expect(await byEmail("gone@x.org")).toMatchObject({ status: "unsubscribed", attributes: {} });
  });

  test.each([
    ["0 bytes", "", "The submitted file is empty."],
    ["blank lines only", "\n\n", "The submitted file is empty."],
    ["no header", "a@x.org,Ann\n", expect.stringContaining("`header` false")],
    ["no column of addresses", "name,Ort\n", 'The header has no column "email". It has: "name", "Ort".'],
    ["UTF-16 without its mark", Buffer.from("email\na@x.org\n", "utf16le"), NOT_UTF8],
    ["half a character of UTF-16", Buffer.from([0xff, 0xfe, 0x61]), "The file is not utf-16le text."],
    ["rubbish", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3, 255]), NOT_UTF8],
  ])("is 400 on file: %s", async (_name, content, sentence) => {
    expect(await upload(content)).toMatchObject({ status: 400, body: { file: [sentence] } });
  });

  test("finds the header behind blank lines, and counts them", async () => {
    const { body } = await upload("\r\n\r\nemail;city\r\na@x.org;Bonn\r\nnobody;\r\n");
    expect(body).toMatchObject({ created: 1, errors: [{ row: 5, email: "nobody" }] });
  });

  test("is 400 on file without a file", async () => {
    const answer = await company.api.post(`${SUBSCRIBERS}bulk/`, new FormData());
    expect(answer).toMatchObject({ status: 400, body: { file: expect.any(Array) } });
  });

  test("imports nothing from a file with only a header", async () => {
    expect((await upload("email\n")).body).toMatchObject({ total: 0, created: 0, updated: 0, skipped: 0, errors: [] });
  });

  test("counts correctly, and concurrent imports do not interfere", async () => {
    const csv = (from: number) =>
      `email,n\n${Array.from({ length: 2_000 }, (_, n) => `u${from + n}@x.org,${from}`).join("\n")}\n`;
    const answers = await Promise.all([upload(csv(0)), upload(csv(1_000)), upload(csv(0))]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const created = answers.reduce((sum, { body }) => sum + body.created, 0);
    expect(created).toBe(3_000);
    expect((await company.api.get(SUBSCRIBERS)).body.count).toBe(3_000);
  });
});

describe("the ids of people in a file", () => {
  interface Person {
    id: string;
    email: string;
    n: string;
  }
  const people = () =>
    query<Person>("select id, email, attributes->>'n' as n from subscribers where company_id = $1 order by id", [
      company.id,
    ]);
  // Addresses in scrambled order; the first hundred are repeated at the end.
  const csvOf = (rows: number) => {
    const numbers = Array.from({ length: rows }, (_, n) => (n * 7_919) % rows);
    const again = numbers.slice(0, 100).map((n) => `P${n}@x.org,again`);
    return `email,n\n${numbers.map((n) => `p${n}@x.org,${n}`).join("\n")}\n${again.join("\n")}\n`;
  };

  test("ascend with the addresses in a large file, are in the past, and each row is imported once with its last values", async () => {
    const rows = 12_000;
    const list = (await company.api.post("/api/emails/lists/", { name: "All" })).body.id;
    const { body } = await upload(csvOf(rows), { list_id: list });
    expect(body).toMatchObject({ total: rows + 100, created: rows, updated: 100, errors_count: 0 });
    const there = await people();
    expect(there.map(({ email }) => email.toLowerCase())).toEqual(
      Array.from({ length: rows }, (_, n) => `p${n}@x.org`).toSorted(),
    );
    expect(there.filter(({ n }) => n === "again")).toHaveLength(100);
    expect(there.every(({ id }) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/.test(id))).toBe(true);
    expect(Number.parseInt(there.at(-1)!.id.replaceAll("-", "").slice(0, 12), 16)).toBeLessThanOrEqual(Date.now());
    // Random part of the ids.
    expect(new Set(there.map(({ id }) => id.slice(19))).size).toBe(rows);
    const [counted] = await query(
      `select count_of($1, 'subscribers', $1) people, count_of($1, 'subscribers:active', $1) active,
         count_of($1, 'list_members', $2) members, (select sum(people_subscribed)::int from company_days where company_id = $1) subscribed`,
      [company.id, list],
    );
    expect(counted).toEqual({ people: rows, active: rows, members: rows, subscribed: rows });
  });

  test("ascend with the rows in a small file", async () => {
    await upload(csvOf(300));
    const numbers = Array.from({ length: 300 }, (_, n) => (n * 7_919) % 300);
    const given = [...numbers.slice(100), ...numbers.slice(0, 100)];
    expect((await people()).map(({ email }) => Number(/\d+/.exec(email)![0]))).toEqual(given);
  });
});

describe("imports of the same addresses in opposite order", () => {
  test("wait for each other, and create each address once", async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) => `o${n}@x.org,${n}`);
    const csv = (rows: string[]) => `email,n\n${rows.join("\n")}\n`;
    for (let again = 0; again < 2; again++) {
      const answers = await Promise.all([upload(csv(lines)), upload(csv(lines.toReversed())), upload(csv(lines))]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
      const created = answers.reduce((sum, { body }) => sum + body.created, 0);
      expect(created).toBe(again === 0 ? 3_000 : 0);
    }
  });
});

describe("an import", () => {
  const isFree = () =>
    transaction(async (client) => {
      await client.query("set local lock_timeout = 1");
      await lockBulkWrites(client, company.id);
      return true;
    }).catch(() => false);

  test("does not block other writers of the company while it receives a file", async () => {
    const file = new PassThrough();
    const importing = importSubscribers(file, { companyId: company.id, limit: null });
    file.write("email\nfirst@x.org\n");
    const copying = "select from pg_stat_progress_copy where datname = current_database()";
    while ((await query(copying)).length === 0);
    expect(await isFree()).toBe(true);
    file.end("last@x.org\n");
    expect(await importing).toMatchObject({ created: 2 });
  });
});

describe("an import of an address that a request creates meanwhile", () => {
  test("finds that subscriber and does not fail", async () => {
    const client = await pool().connect();
    try {
      await client.query("begin");
      await client.query("insert into subscribers (company_id, email) values ($1, 'a@x.org')", [company.id]);
      const importing = upload("email,first_name\na@x.org,Ann\nb@x.org,Ben\n");
      const waiting = "select from pg_locks where not granted and locktype = 'transactionid'";
      while ((await query(waiting)).length === 0);
      await client.query("commit");
      expect(await importing).toMatchObject({ status: 201, body: { total: 2, created: 1, updated: 1 } });
      expect(await byEmail("a@x.org")).toMatchObject({ first_name: "Ann" });
    } finally {
      client.release();
    }
  });
});

describe("any uploaded file", () => {
  const cell = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom('"', '""', "\0", "a@b.de", "\\N", "\\.", "\t", ""),
  );
  const text = fc
    .array(fc.array(cell, { maxLength: 4 }), { maxLength: 6 })
    .map((rows) => rows.map((row) => row.join(",")).join("\n"));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    text.map((rows) => Buffer.from(rows)),
    text.map((rows) => Buffer.from(`email,first_name,city\n${rows}`)),
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.concat([Buffer.from("email;x\n"), array])),
  );

  test("is imported or refused with a reason, and every row is accounted for", async () => {
    const job = { companyId: company.id, limit: null };
    await fc.assert(
      fc.asyncProperty(bytes, async (content) => {
        const report = await importSubscribers(Readable.from([content]), job).catch((error: unknown) => {
          if (answerTo(error)[0] === 400) return undefined;
          throw error;
        });
        if (report) expect(report.created + report.updated + report.skipped).toBe(report.total);
      }),
      { numRuns: 150 },
    );
  });
});

describe("the export", () => {
  test("has every subscriber and attribute, and no cell that a spreadsheet would run", async () => {
    await company.api.post(SUBSCRIBERS, {
      email: "a@x.org",
      first_name: "=HYPERLINK(1)",
      last_name: 'O"Neil, Jr',
      attributes: { zip: "+49", age: 7, tags: ["a", "b"], vip: false },
    });
    await company.api.post(SUBSCRIBERS, { email: "b@x.org", attributes: { "@city": "-x", note: "two\nlines" } });
    const { status, headers, text } = await company.api.get(`${SUBSCRIBERS}export/`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/csv/);
    const time = "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z";
    expect(text).toMatch(
      new RegExp(
        `^email,first_name,last_name,status,created_at,lists,'@city,age,note,tags,vip,zip\\r
a@x.org,'=HYPERLINK\\(1\\),"O""Neil, Jr",active,${time},,,7,,"a; b",false,'\\+49\\r
b@x.org,,,active,${time},,'-x,,"two\\nlines",,,\\r
$`,
      ),
    );
  });

  test("can be imported again without changes, even twice", async () => {
    const attributes = { city: "Köln", age: -7, "@home": "'=1", phone: "+49" };
    await company.api.post(SUBSCRIBERS, { email: "+a@x.org", first_name: "=Ann", last_name: "-", attributes });
    const exported = async () => (await company.api.get(`${SUBSCRIBERS}export/`)).text;
    const first = await exported();
    for (let time = 0; time < 2; time++) {
      expect(await upload(await exported())).toMatchObject({ status: 201, body: { updated: 1, errors: [] } });
    }
    expect(await exported()).toBe(first);
    expect(await byEmail("+a@x.org")).toMatchObject({ first_name: "=Ann", attributes });
  });

  test("spans many pages, each subscriber once with their lists, and only this company's; a name on the last page becomes a column", async () => {
    const stranger = await newCompany(app);
    const listOf = async ({ api }: typeof company, name: string) =>
      (await api.post("/api/emails/lists/", { name })).body.id as string;
    const lists = [await listOf(company, "B, all"), await listOf(company, "=A")];
    await query(
      `with added as (
         insert into subscribers (company_id, email, attributes)
         select $1, 'e' || n || '@x.org', case when n = 10100 then '{"late": [1, true, "x"]}' when n % 2 = 0 then '{"city": "Rome"}' else '{}' end::jsonb
         from generate_series(1, 10100) n returning id, email, substr(email, 2, strpos(email, '@') - 2)::integer n)
       insert into list_members (company_id, list_id, subscriber_id)
       select $1, ($2::uuid[])[i], id from added, generate_series(1, 2) i where i = 1 or n % 3 = 0`,
      [company.id, lists],
    );
    await query("insert into subscribers (company_id, email) values ($1, 'other@x.org')", [stranger.id]);
    const exported = async (more: Record<string, string> = {}) => {
      const { status, text } = await company.api.get(`${SUBSCRIBERS}export/`, { query: more });
      expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
      const [header, ...rows] = text.trimEnd().split("\r\n");
      return { header, rows: rows.map((row) => row.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "time")).toSorted() };
    };
    const rowOf = (n: number) =>
      `e${n}@x.org,,,active,time,${n % 3 === 0 ? `"'=A; B, all"` : '"B, all"'},${n % 2 === 0 && n !== 10_100 ? "Rome" : ""},${n === 10_100 ? '"1; true; x"' : ""}`;
    const all = Array.from({ length: 10_100 }, (_, at) => at + 1);
    expect(await exported()).toEqual({
      header: "email,first_name,last_name,status,created_at,lists,city,late",
      rows: all.map(rowOf).toSorted(),
    });
    expect((await exported({ list: lists[1]!, status: "active" })).rows).toEqual(
      all
        .filter((n) => n % 3 === 0)
        .map((n) => rowOf(n).slice(0, -1))
        .toSorted(),
    );
    // Nearly everyone is on the other list, which is read by another plan.
    await query(
      `update list_members m set left_at = now() from subscribers s
       where m.company_id = $1 and m.list_id = $2 and s.id = m.subscriber_id and s.email = 'e5001@x.org'`,
      [company.id, lists[0]],
    );
    const staying = all.filter((n) => n !== 5_001).map(rowOf);
    expect((await exported({ list: lists[0]! })).rows).toEqual(staying.toSorted());
    expect((await exported({ list: lists[0]!, status: "bounced" })).rows).toEqual([]);
  });

  test("reads only as fast as the client: a slow one costs a page of memory, however long the list is", async () => {
    await query(
      `insert into subscribers (company_id, email, attributes)
       select $1, 'e' || n || '@x.org', jsonb_build_object('note', repeat('x', 100)) from generate_series(1, 20000) n`,
      [company.id],
    );
    const lengths: number[] = [];
    for (let page = await exportSubscribers(company.id); ; page = await exportSubscribers(company.id, {}, page.next)) {
      lengths.push(page.body.length);
      if (page.next === null) break;
    }
    const whole = (await company.api.get(`${SUBSCRIBERS}export/`)).text.length;
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(whole);
    expect(Math.max(...lengths)).toBeLessThan(whole / 5);
  });

  test("has only the header without subscribers", async () => {
    expect((await company.api.get(`${SUBSCRIBERS}export/`)).text).toBe(
      "email,first_name,last_name,status,created_at,lists\r\n",
    );
  });
});
