/** Searches and filters where a company has many people: who fits is found, and what is only estimated says so. */
import { query, transaction } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { capturePlans, nodesOf, rowsOf } from "../../support/captured-plans.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { statementsOf } from "../../support/statements.ts";

const PEOPLE = 24_000;

let app: App;
let company: TestCompany;
let list: string;
beforeAll(async () => {
  app = await startApp({ services: ["gateway", "accounts", "subscribers"] });
  company = await newCompany(app);
  list = (await company.api.post("/api/emails/lists/", { name: "Half" })).body.id;
  // Every second one a reader, every thousandth a Zuse; half of all on the list, a quarter unsubscribed.
  await query(
    `with added as (
       insert into subscribers (id, company_id, email, first_name, last_name, status)
       select (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000000000000000')::uuid, $1, 'person' || n || '@example.com', case when n % 2 = 0 then 'Reader' else 'Writer' end,
         case when n % 1000 = 0 then 'Zuse' else 'Smith' end, case when n % 4 = 0 then 'unsubscribed' else 'active' end
       from generate_series(1, ${PEOPLE}) n returning id, first_name)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added where first_name = 'Reader'`,
    [company.id, list],
  );
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

async function fillIndex(): Promise<void> {
  while ((await app.broker.call<{ done: number }, object>("subscribers.addToSearch", {})).done > 0);
}

describe.each(["before they are in the index", "once they are in the index"])("%s", (when) => {
  beforeAll(async () => {
    if (when.startsWith("once")) await fillIndex();
    else await query("update subscribers set in_search = false where company_id = $1", [company.id]);
  });

  test("few who fit are counted, newest first, in any spelling and by any part of address and names", async () => {
    const zuses = await found({ search: "zUSe", page_size: "2" });
    expect(zuses).toMatchObject({ count: 24 });
    expect(zuses.results.map(({ email }) => email)).toEqual(["person24000@example.com", "person23000@example.com"]);
    expect(zuses).not.toHaveProperty("count_estimated");
    expect(await emails({ search: "ader zus", page: "2", page_size: "20" })).toHaveLength(4);
    expect(await emails({ search: "son777@" })).toEqual(["person777@example.com"]);
    expect(await emails({ search: "zuse", ordering: "email", page_size: "1" })).toEqual(["person10000@example.com"]);
    expect(await found({ search: "nobody%" })).toMatchObject({ count: 0, next: null });
    expect(await found({ search: "zuse", list, status: "active" })).toMatchObject({ count: 0 });
    expect(await found({ search: "zuse", list, status: "unsubscribed" })).toMatchObject({ count: 24 });
  });

  test("many who fit are estimated, and their pages are whole and in order", async () => {
    const readers = await found({ search: "reader", page_size: "50", page: "3" });
    expect(readers.count_estimated).toBe(true);
    expect(readers.count).toBeGreaterThan(10_000);
    expect(readers.count).toBeLessThan(14_000);
    expect(readers.next).not.toBeNull();
    const expected = Array.from({ length: 50 }, (_, n) => `person${PEOPLE - 2 * (100 + n)}@example.com`);
    expect(readers.results.map(({ email }) => email)).toEqual(expected);
    expect(await emails({ search: "reader", ordering: "created_at", page_size: "1" })).toEqual(["person2@example.com"]);
  });

  test("the last page of many has the exact number, and there is none after it", async () => {
    const last = await found({ search: "er", page_size: "100", page: "240" });
    expect(last).toMatchObject({ count: PEOPLE, next: null });
    expect(last).not.toHaveProperty("count_estimated");
    expect(last.results).toHaveLength(100);
    const beyond = await company.api.get("/api/emails/subscribers/?search=er&page_size=100&page=241");
    expect(beyond.status).toBe(404);
  });
});

test("a status alone is counted exactly, to its last page", async () => {
  expect(await found({ status: "unsubscribed", page_size: "100", page: "60" })).toMatchObject({
    count: PEOPLE / 4,
    next: null,
  });
  expect(await emails({ status: "unsubscribed", page_size: "1" })).toEqual(["person24000@example.com"]);
});

test("a list and a status together are exact where few fit", async () => {
  expect(await found({ list, status: "unsubscribed" })).toMatchObject({ count: PEOPLE / 4 });
  const members = await company.api.get(`/api/emails/lists/${list}/subscribers/?status=active&page_size=1`);
  expect(members.body).toMatchObject({ count: PEOPLE / 4 });
});

test("of everybody's list a status is counted by counters, and a page is found among those who have it", async () => {
  const { id } = (await company.api.post("/api/emails/lists/", { name: "All" })).body;
  await query(
    "insert into list_members (company_id, list_id, subscriber_id) select company_id, $2, id from subscribers where company_id = $1",
    [company.id, id],
  );
  const page = await found({ list: id, status: "active", page: "2", page_size: "2" });
  expect(page).toMatchObject({ count: (PEOPLE / 4) * 3 });
  expect(page).not.toHaveProperty("count_estimated");
  expect(page.results.map(({ email }) => email)).toEqual(["person23997@example.com", "person23995@example.com"]);
  await query(
    "update subscribers set status = 'bounced' where company_id = $1 and email in ('person5@example.com', 'person7@example.com')",
    [company.id],
  );
  const plans = capturePlans();
  const asked = async () =>
    expect(await emails({ list: id, status: "bounced" })).toEqual(["person7@example.com", "person5@example.com"]);
  const rows = (await plans.of(asked)).flatMap(({ root }) => nodesOf(root)).map(rowsOf);
  plans.stop();
  expect(Math.max(...rows)).toBeLessThanOrEqual(10);
  await query("update subscribers set status = 'active' where company_id = $1 and status = 'bounced'", [company.id]);
  await company.api.delete(`/api/emails/lists/${id}/`);
});

test("of a large list and a status that many have the first pages have an estimate, and the last one the number", async () => {
  const { id } = (await company.api.post("/api/emails/lists/", { name: "Most" })).body;
  const MEMBERS = 15_600;
  await query(
    `insert into list_members (company_id, list_id, subscriber_id)
     select $1, $2, id from subscribers where company_id = $1 and (status = 'unsubscribed' or split_part(substr(email, 7), '@', 1)::int % 15 < 8)
     order by status desc, id limit $3`,
    [company.id, id, MEMBERS],
  );
  const ACTIVE = MEMBERS - PEOPLE / 4;
  const first = await found({ list: id, status: "active", page_size: "100" });
  expect(first.count_estimated).toBe(true);
  expect(Math.abs(first.count / ACTIVE - 1)).toBeLessThan(0.2);
  expect(first.results.map(({ status }) => status)).toEqual(Array(100).fill("active"));
  const pages = Math.ceil(ACTIVE / 100);
  const last = await found({ list: id, status: "active", page_size: "100", page: `${pages}` });
  expect(last).toMatchObject({ count: ACTIVE, next: null });
  expect(last).not.toHaveProperty("count_estimated");
  await company.api.delete(`/api/emails/lists/${id}/`);
});

test("the order of names has those who are in the index and those who are not yet", async () => {
  await query("update subscribers set in_search = email like '%1@%' where company_id = $1", [company.id]);
  const zuses = Array.from({ length: 24 }, (_, n) => `person${PEOPLE - 1_000 * n}@example.com`);
  expect(await emails({ ordering: "-last_name", page_size: "24" })).toEqual(zuses);
  expect(await emails({ ordering: "last_name", page_size: "12", page: `${PEOPLE / 12}` })).toEqual(
    zuses.slice(0, 12).toReversed(),
  );
  const smiths = (page: string) => emails({ ordering: "last_name", page_size: "100", page });
  expect((await smiths("1")).slice(0, 3)).toEqual([
    "person1@example.com",
    "person2@example.com",
    "person3@example.com",
  ]);
  expect((await smiths("101")).at(0)).toBe("person10011@example.com");
});

test("one node at a time fills the index; another waits for its turn, and takes it", async () => {
  await fillIndex();
  await query("update subscribers set in_search = false where company_id = $1", [company.id]);
  const waiting = "select count(*) n from subscribers where company_id = $1 and not in_search";
  const left = async () => (await query<{ n: number }>(waiting, [company.id]))[0]!.n;
  const asked = "select from pg_stat_activity where state = 'idle' and query like '%into search%'";
  const filling = await transaction(async (client) => {
    await client.query("select pg_advisory_xact_lock(hashtextextended('subscribers into search', 0))");
    const runs = [1, 2].map(() => app.broker.call<{ done: number }, object>("subscribers.addToSearch", {}));
    while ((await query(asked)).length === 0);
    expect(await left()).toBe(PEOPLE);
    return runs;
  });
  expect((await Promise.all(filling)).reduce((sum, { done }) => sum + done, 0)).toBeGreaterThan(0);
  await fillIndex();
  expect(await left()).toBe(0);
});

test("who is renamed is found by the new name alone, at once", async () => {
  await fillIndex();
  const [id] = await query<{ id: string }>("select id from subscribers where company_id = $1 and email = $2", [
    company.id,
    "person5@example.com",
  ]);
  const { status } = await company.api.patch(`/api/emails/subscribers/${id!.id}/`, { last_name: "Perlman" });
  expect(status).toBe(200);
  expect(await emails({ search: "perlman" })).toEqual(["person5@example.com"]);
});

test("another company finds nobody of them", async () => {
  const other = await newCompany(app);
  const { body } = await other.api.get("/api/emails/subscribers/?search=reader");
  expect(body).toMatchObject({ count: 0, results: [] });
});

test("a search goes through the entries of its own company, however many of another one have the letters", async () => {
  await fillIndex();
  const other = await newCompany(app);
  await query(
    `insert into subscribers (company_id, email, last_name, in_search)
     select $1, 'p' || n || '@other.example', case when n % 4000 = 0 then 'Smith' else 'Else' end, true from generate_series(1, 12000) n`,
    [other.id],
  );
  await query("analyze subscribers");
  const plans = capturePlans();
  const asked = () => app.broker.call("subscribers.list", { search: "smith" }, { meta: { companyId: other.id } });
  const nodes = (await plans.of(asked)).flatMap(({ root }) => nodesOf(root));
  plans.stop();
  const scans = nodes.filter((node) => node["Index Name"]?.startsWith("subscribers_search"));
  expect(scans.map((scan) => scan["Actual Rows"])).toEqual([3]);
});

test("a page of a segment that many fit is read without counting them, and few are counted", async () => {
  const made = async (operator: string, value: string) => {
    const rules = { match: "all", conditions: [{ field: "email", operator, value }] };
    return (await company.api.post("/api/emails/segments/", { name: value, rules })).body.id as string;
  };
  const many = await made("starts_with", "person");
  const page = async (id: string, asked: Record<string, string>) =>
    (await company.api.get(`/api/emails/segments/${id}/subscribers/?${new URLSearchParams(asked)}`)).body;
  expect(await page(many, { page_size: "1" })).toMatchObject({ count: PEOPLE, count_estimated: true });
  const sorted = Array.from({ length: PEOPLE }, (_, n) => `person${n + 1}@example.com`).sort();
  const [last] = (await page(many, { ordering: "email", page_size: "1", page: "500" })).results;
  expect(last.email).toBe(sorted[499]);
  const [zuse] = (await page(many, { ordering: "-last_name", page_size: "1", page: "3" })).results;
  expect(zuse.email).toBe("person22000@example.com");
  expect(await page(many, { search: "zuse" })).toMatchObject({ count: 24 });
  const few = await page(await made("ends_with", "00@example.com"), { page_size: "1" });
  expect(few).toMatchObject({ count: 240, results: [{ email: "person24000@example.com" }] });
  expect(few).not.toHaveProperty("count_estimated");

  const plans = capturePlans();
  const asked = () =>
    app.broker.call("subscribers.listSegmentSubscribers", { id: many }, { meta: { companyId: company.id } });
  const nodes = (await plans.of(asked)).flatMap(({ root }) => nodesOf(root));
  plans.stop();
  expect(Math.max(...nodes.map(rowsOf))).toBeLessThanOrEqual(2_000);
});

test("a segment of few is searched for two letters, however many people there are beside it", async () => {
  const other = await newCompany(app, { plan: "unlimited" });
  await query(
    `insert into subscribers (company_id, email, first_name)
     select $1, 'p' || n || '@other.example', case when n % 100 = 0 then 'Zo' else 'Al' end from generate_series(1, 52000) n`,
    [other.id],
  );
  const rules = { match: "all", conditions: [{ field: "email", operator: "ends_with", value: "00@other.example" }] };
  const { id } = (await other.api.post("/api/emails/segments/", { name: "Few", rules })).body;
  const ask = (search: string) =>
    app.broker.call<{ count: number }, object>(
      "subscribers.listSegmentSubscribers",
      { id, search, page_size: 1 },
      { meta: { companyId: other.id } },
    );
  const asked = await statementsOf(async () => expect(await ask("zo")).toMatchObject({ count: 520 }));
  // The newest and the oldest, and then all, once: whether they are of the segment, and what they are called.
  expect(asked.filter(({ text }) => text.includes("count(*)"))).toHaveLength(2);
  expect(await ask("al")).toMatchObject({ count: 0 });
  expect((await other.api.get("/api/emails/subscribers/?search=zo")).status).toBe(400);
});

test("of a segment among a hundred thousand the first page is found without a look at all, and the last one has the number", async () => {
  const large = await newCompany(app, { plan: "unlimited" });
  const MANY = 104_000;
  await query(
    `insert into subscribers (id, company_id, email, first_name)
     select (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000000000000000')::uuid, $1, 'p' || n || '@large.example',
       case when n % 200 = 0 then 'Zo' else 'Al' end
     from generate_series(1, ${MANY}) n`,
    [large.id],
  );
  const rules = { match: "all", conditions: [{ field: "email", operator: "ends_with", value: "00@large.example" }] };
  const { id } = (await large.api.post("/api/emails/segments/", { name: "Few", rules })).body;
  const FITTING = MANY / 100;
  const page = async (asked: Record<string, string>) =>
    (await large.api.get(`/api/emails/segments/${id}/subscribers/?${new URLSearchParams(asked)}`)).body;
  for (const [search, fitting] of [
    ["", FITTING],
    ["zo", FITTING / 2],
  ] as const) {
    const asked = { page_size: "2", ...(search ? { search } : {}) };
    const plans = capturePlans();
    const nodes = (
      await plans.of(() =>
        app.broker.call(
          "subscribers.listSegmentSubscribers",
          { id, ...asked, page_size: 2 },
          { meta: { companyId: large.id } },
        ),
      )
    ).flatMap(({ root }) => nodesOf(root));
    plans.stop();
    expect(Math.max(...nodes.map(rowsOf))).toBeLessThan(5_000);
    const first = await page(asked);
    expect(first.count_estimated).toBe(true);
    expect(Math.abs(first.count / fitting - 1)).toBeLessThan(0.1);
    const step = search ? 200 : 100;
    const expected = [MANY, MANY - step].map((n) => `p${n}@large.example`);
    expect(first.results.map(({ email }: { email: string }) => email)).toEqual(expected);
    const last = await page({ ...asked, page: `${fitting / 2}`, page_size: "2" });
    expect(last).toMatchObject({ count: fitting, next: null });
    expect(last.results).toHaveLength(2);
    expect(last).not.toHaveProperty("count_estimated");
  }
});
