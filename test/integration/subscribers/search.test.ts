/** Searches and filters in a large company. */
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { capturePlans, nodesOf } from "../../support/captured-plans.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

const PEOPLE = 24_000;

let app: App;
let company: TestCompany;
let list: string;
beforeAll(async () => {
  app = await startApp({ services: ["gateway", "accounts", "subscribers"] });
  company = await newCompany(app);
  list = (await company.api.post("/api/emails/lists/", { name: "Half" })).body.id;
  // Half are readers, every thousandth is named Zuse, half are on the list, a quarter unsubscribed.
  await query(
    `with added as (
       insert into subscribers (id, company_id, email, first_name, last_name, status)
       select (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000000000000000')::uuid, $1, 'person' || n || '@example.com', case when n % 2 = 0 then 'Reader' else 'Writer' end,
         case when n % 1000 = 0 then 'Zuse' else 'Smith' end, case when n % 4 = 0 then 'unsubscribed' else 'active' end
       from generate_series(1, ${PEOPLE}) n returning id, first_name)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added where first_name = 'Reader'`,
    [company.id, list],
  );
  // Updates statistics as an import does.
  await query("select analyze_subscribers()");
});
afterAll(() => app.stop());

const found = async (asked: Record<string, string>) =>
  (await company.api.get(`/api/emails/subscribers/?${new URLSearchParams(asked)}`)).body as {
    count: number;
    count_estimated?: boolean;
    next: string | null;
    results: { email: string; first_name: string; status: string }[];
  };
const emails = async (asked: Record<string, string>) => (await found(asked)).results.map(({ email }) => email);

test("matches are counted, newest first, in any spelling and by any part of address and names", async () => {
  const zuses = await found({ search: "zUSe", page_size: "2" });
  expect(zuses).toMatchObject({ count: 24 });
  expect(zuses.results.map(({ email }) => email)).toEqual(["person24000@example.com", "person23000@example.com"]);
  expect(await emails({ search: "ader zus", page: "2", page_size: "20" })).toHaveLength(4);
  expect(await emails({ search: "son777@" })).toEqual(["person777@example.com"]);
  expect(await emails({ search: "zuse", ordering: "email", page_size: "1" })).toEqual(["person10000@example.com"]);
  expect(await found({ search: "nobody%" })).toMatchObject({ count: 0, next: null });
  expect(await found({ search: "zuse", list, status: "active" })).toMatchObject({ count: 0 });
  expect(await found({ search: "zuse", list, status: "unsubscribed" })).toMatchObject({ count: 24 });
});

test("a common word is counted exactly, and numbered pages are complete and in order", async () => {
  const readers = await found({ search: "reader", page_size: "50", page: "3" });
  expect(readers.count).toBe(PEOPLE / 2);
  expect(readers).not.toHaveProperty("count_estimated");
  const expected = Array.from({ length: 50 }, (_, n) => `person${PEOPLE - 2 * (100 + n)}@example.com`);
  expect(readers.results.map(({ email }) => email)).toEqual(expected);
  expect(await emails({ search: "reader", ordering: "created_at", page_size: "1" })).toEqual(["person2@example.com"]);
  const last = await found({ search: "er", page_size: "100", page: "240" });
  expect(last).toMatchObject({ count: PEOPLE, next: null });
  expect(last.results).toHaveLength(100);
  expect((await company.api.get("/api/emails/subscribers/?search=er&page_size=100&page=241")).status).toBe(404);
});

test("a status filter is counted exactly, to its last page", async () => {
  expect(await found({ status: "unsubscribed", page_size: "100", page: "60" })).toMatchObject({
    count: PEOPLE / 4,
    next: null,
  });
  expect(await emails({ status: "unsubscribed", page_size: "1" })).toEqual(["person24000@example.com"]);
});

test("a list and a status together are counted exactly", async () => {
  expect(await found({ list, status: "unsubscribed" })).toMatchObject({ count: PEOPLE / 4 });
  const members = await company.api.get(`/api/emails/lists/${list}/subscribers/?status=active&page_size=1`);
  expect(members.body).toMatchObject({ count: PEOPLE / 4 });
});

test("sorting by name works for many people", async () => {
  const zuses = Array.from({ length: 24 }, (_, n) => `person${PEOPLE - 1_000 * n}@example.com`);
  expect(await emails({ ordering: "-last_name", page_size: "24" })).toEqual(zuses);
  expect(await emails({ ordering: "last_name", page_size: "12", page: `${PEOPLE / 12}` })).toEqual(
    zuses.slice(0, 12).toReversed(),
  );
  expect((await emails({ ordering: "last_name", page_size: "3" })).at(2)).toBe("person3@example.com");
});

test("renamed people are found by the new name only, at once", async () => {
  const [id] = await query<{ id: string }>("select id from subscribers where company_id = $1 and email = $2", [
    company.id,
    "person5@example.com",
  ]);
  const { status } = await company.api.patch(`/api/emails/subscribers/${id!.id}/`, { last_name: "Perlman" });
  expect(status).toBe(200);
  expect(await emails({ search: "perlman" })).toEqual(["person5@example.com"]);
});

test("another company finds none of them", async () => {
  const other = await newCompany(app);
  const { body } = await other.api.get("/api/emails/subscribers/?search=reader");
  expect(body).toMatchObject({ count: 0, results: [] });
});

test("a search reads entries of its own company only, however many match elsewhere", async () => {
  const other = await newCompany(app);
  await query(
    `insert into subscribers (company_id, email, last_name)
     select $1, 'p' || n || '@other.example', case when n % 4000 = 0 then 'Zuse' else 'Else' end from generate_series(1, 12000) n`,
    [other.id],
  );
  await query("analyze subscribers");
  const plans = capturePlans();
  const asked = () => app.broker.call("subscribers.list", { search: "zuse" }, { meta: { companyId: other.id } });
  const nodes = (await plans.of(asked)).flatMap(({ root }) => nodesOf(root));
  plans.stop();
  const scans = nodes.filter((node) => node["Index Name"]?.startsWith("subscribers_search"));
  expect(scans.map((scan) => scan["Actual Rows"])).toEqual([3]);
});

test("a segment is counted, searched and sorted as all subscribers are", async () => {
  const made = async (operator: string, value: string) => {
    const rules = { match: "all", conditions: [{ field: "email", operator, value }] };
    return (await company.api.post("/api/emails/segments/", { name: value, rules })).body.id as string;
  };
  const many = await made("starts_with", "person");
  const page = async (id: string, asked: Record<string, string>) =>
    (await company.api.get(`/api/emails/segments/${id}/subscribers/?${new URLSearchParams(asked)}`)).body;
  expect(await page(many, { page_size: "1" })).toMatchObject({ count: PEOPLE });
  const sorted = Array.from({ length: PEOPLE }, (_, n) => `person${n + 1}@example.com`).sort();
  const [last] = (await page(many, { ordering: "email", page_size: "1", page: "500" })).results;
  expect(last.email).toBe(sorted[499]);
  const [zuse] = (await page(many, { ordering: "-last_name", page_size: "1", page: "3" })).results;
  expect(zuse.email).toBe("person22000@example.com");
  expect(await page(many, { search: "zuse" })).toMatchObject({ count: 24 });
  const few = await page(await made("ends_with", "00@example.com"), { page_size: "1" });
  expect(few).toMatchObject({ count: 240, results: [{ email: "person24000@example.com" }] });
  expect(few).not.toHaveProperty("count_estimated");
});
