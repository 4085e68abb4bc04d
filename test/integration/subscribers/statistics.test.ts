/** PostgreSQL knows of a company how many people it has (models/statements/refresh-statistics.ts), however they came. */
import { Readable } from "node:stream";
import { query } from "../../../models/database/db.ts";
import { guessedCount } from "../../../models/database/filtered-count.ts";
import { refreshStatistics } from "../../../models/statements/refresh-statistics.ts";
import { importSubscribers } from "../../../services/subscribers/import/import-subscribers.ts";
import { importSuppressions } from "../../../services/subscribers/import/import-suppressions.ts";
import { updateLists } from "../../../services/subscribers/members.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { stopRepetitions } from "../../support/repetitions.ts";

const PEOPLE = 2_000;
const TABLES = ["subscribers", "list_members", "suppressions"] as const;

let app: App;
let company: TestCompany;

/** Without the service's own look at who is new, and without autovacuum. */
beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
  await stopRepetitions(app.broker);
  await query(TABLES.map((table) => `alter table ${table} set (autovacuum_enabled = false)`).join("; "));
});
beforeEach(async () => {
  const other = await newCompany(app);
  await addPeople(other, 3 * PEOPLE);
  await query("insert into suppressions (company_id, email) select company_id, email from subscribers");
  await query("analyze subscribers, list_members, suppressions");
  company = await newCompany(app);
});
afterEach(() => query("truncate subscribers, list_members, suppressions, counters cascade"));
afterAll(() => app.stop());

async function addPeople({ id, api }: TestCompany, n: number): Promise<string> {
  const list = (await api.post("/api/emails/lists/", { name: "All" })).body.id as string;
  await query(
    `with added as (
       insert into subscribers (company_id, email) select $1, n || '@people.example' from generate_series(1, $3::int) n returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
    [id, list, n],
  );
  return list;
}

const expected = (table: (typeof TABLES)[number]) =>
  guessedCount({ from: table, where: "company_id = $1", values: [company.id] });

/** Statistics of an analysis have its time. */
const analyses = () =>
  query("select starelid::regclass::text as table, staattnum, xmin::text from pg_statistic order by 1, 2");

const csv = (n: number) => Readable.from([`email\n${Array.from({ length: n }, (_, i) => `${i}@x.org\n`).join("")}`]);
const importing = (n: number, dryRun = false) =>
  importSubscribers(csv(n), { companyId: company.id, limit: null, dryRun });

test("after an import that is no large one", async () => {
  await importing(PEOPLE);
  expect(await expected("subscribers")).toBeGreaterThan(PEOPLE / 2);
});

test("an import that is done is not refused where the tables cannot be analysed now", async () => {
  const [{ definition } = {}] = await query("select pg_get_functiondef('analyze_subscribers'::regproc) as definition");
  await query(
    `create or replace function analyze_subscribers() returns void language plpgsql as $$
       begin raise exception 'canceling statement due to lock timeout' using errcode = '55P03'; end $$`,
  );
  try {
    // Of both kinds: one after which they are always analysed, and one of a company that is unknown.
    for (const n of [10_000, 500]) expect(await importing(n)).toMatchObject({ created: expect.any(Number) });
  } finally {
    await query(definition as string);
  }
});

test("of suppressions after their import", async () => {
  await importSuppressions(company.id, { stream: csv(PEOPLE) });
  expect(await expected("suppressions")).toBeGreaterThan(PEOPLE / 2);
});

test("of suppressions also where the tables were analysed for its people before", async () => {
  await importing(PEOPLE);
  await importSuppressions(company.id, { stream: csv(PEOPLE - 500) });
  expect(await expected("suppressions")).toBeGreaterThan(PEOPLE / 2);
});

test("of members after a change of lists", async () => {
  const list = await addPeople(company, PEOPLE);
  await query("delete from list_members where company_id = $1", [company.id]);
  const people = await query<{ id: string }>("select id from subscribers where company_id = $1", [company.id]);
  expect(await expected("list_members")).toBe(1);
  await updateLists(company.id, { subscriber_ids: people.map(({ id }) => id), add_to_lists: [list] });
  expect(await expected("list_members")).toBeGreaterThan(PEOPLE / 2);
});

test("of whoever else wrote them, once they are put into the index of searches", async () => {
  await addPeople(company, PEOPLE);
  expect(await expected("subscribers")).toBe(1);
  while ((await app.broker.call<{ done: number }, object>("subscribers.addToSearch", {})).done > 0);
  expect(await expected("subscribers")).toBeGreaterThan(PEOPLE / 2);
  expect(await expected("list_members")).toBeGreaterThan(PEOPLE / 2);
});

test("nothing is analysed for few people, nor for a company that is known, nor for a dry run", async () => {
  const before = await analyses();
  await importing(50);
  await importing(PEOPLE, true);
  expect(await analyses()).toEqual(before);
  await importing(PEOPLE);
  const known = await analyses();
  expect(known).not.toEqual(before);
  await importing(PEOPLE + 1_500);
  expect(await analyses()).toEqual(known);
});

test("nor again for as many where a sample did not find them", async () => {
  await query("alter table subscribers alter column company_id set statistics 0");
  try {
    // The planner expects a two-hundredth of the table of each company then.
    await query("delete from pg_statistic where starelid = 'subscribers'::regclass");
    await addPeople(company, PEOPLE);
    const before = await analyses();
    await refreshStatistics(company.id);
    const analysed = await analyses();
    expect(analysed).not.toEqual(before);
    await refreshStatistics(company.id);
    expect(await analyses()).toEqual(analysed);
  } finally {
    await query("alter table subscribers alter column company_id set statistics -1");
  }
});
