/**
 * What each read of the API touches in a company that is large in everything: no more than a page and its count may need,
 * however many rows there are. Each statement is run once more by EXPLAIN ANALYZE, with the same values. What is rare stands
 * where it is found last (test/support/large-installation.ts).
 */
import { query } from "../../../models/database/db.ts";
import { FEW, guessedCount, MANY } from "../../../models/database/filtered-count.ts";
import { type Condition, segmentSql } from "../../../models/segment-rules/segment-sql.ts";
import { ofSegment } from "../../../models/statements/audience-source.ts";
import { isServiceError } from "../../../services/lib/errors.ts";
import { type App, startApp } from "../../support/app.ts";
import { capturePlans, nodesOf, type Plan, type PlanNode, rowsOf } from "../../support/captured-plans.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { type Large, makeLarge, settle } from "../../support/large-installation.ts";
import { long } from "../../support/long.ts";
import { callRead, type Read, readsOf, withLastPage } from "../../support/reads.ts";

/** More than may be read of any table, so that who reads all of one is found. */
const ROWS = long ? 400_000 : 60_000;
const SIZE = { people: ROWS, mails: 3 * ROWS, events: ROWS, others: ROWS };
/** As many as are looked through at most, and a page beside them. */
const MOST_ROWS = MANY + 5_000;
const FIRST_PAGES = 50;

/** Reads that go through more, and why that is so. */
const READ_ALL: Record<string, string> = {
  "tracking.listEvents": "has no index for a search, nor for each type of a campaign",
  "subscribers.exportPerson": "looks for the person in what waits for webhooks",
  "subscribers.getSegment": "asks all people for half a second, then a part of them",
  "subscribers.listSegmentSubscribers": "asks people from the newest on, until it has a page of them",
  "subscribers.exportSuppressions": "is an export",
  "subscribers.export": "is an export",
  "campaigns.export": "is an export",
  "campaigns.audience": "counts who would get a campaign, for a bounded time",
};

let app: App;
let company: TestCompany;
let large: Large;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app, { plan: "unlimited" });
  const other = await newCompany(app, { plan: "unlimited" });
  await makeLarge(other.id, "b", { people: 2_000, mails: 4_000, events: 2_000, others: 2_000 });
  large = await makeLarge(company.id, "a", SIZE);
  await settle(app.databaseUrl);
}, 600_000);
afterAll(() => app.stop());

/** What the API answers with: a page that is not there, a 400 that says how to narrow, a file that is kept no longer. */
const REFUSALS = ["INVALID_PAGE", "INVALID", "NOT_FOUND", "WRONG_STATE"] as const;

async function refusing(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (REFUSALS.some((code) => isServiceError(error, code))) return undefined;
    throw error;
  }
}

const ask = (read: Read) => refusing(() => callRead(app.broker, read, large, company.userId));

const describeNode = (node: PlanNode) =>
  `${node["Node Type"]} ${node["Index Name"] ?? node["Relation Name"] ?? ""}: ${rowsOf(node)} rows`;

/** A late page of a search is walked to: where one of thirteen people fits, past twelve others for each. */
const mostOf = ({ query: { search, page = "1" } }: Read): number =>
  search && Number(page) > FIRST_PAGES ? ROWS : MOST_ROWS;

const tooMuch = ({ root }: Plan, most: number): string[] =>
  nodesOf(root)
    .filter((node) => rowsOf(node) > most)
    .filter(({ "Relation Name": table }) => table !== undefined)
    .map(describeNode);

const get = async (path: string, query: Record<string, string> = {}) => {
  const client_ = path.startsWith("/api/companies/") ? client(app, { token: company.token }) : company.api;
  return client_.get(path, { query });
};
const found = async (path: string, query: Record<string, string>) => (await get(path, query)).body;
const E = "/api/emails";

test("what is rare is counted and found exactly", async () => {
  const statuses = { failed: 1, unknown: 1, suppressed: 1, queued: 7, bounced: SIZE.mails / 10 / 5 };
  for (const [status, count] of Object.entries(statuses)) {
    const page = await found(`${E}/sent-emails/`, { status });
    // In the large installation more bounced than are counted.
    const [counted, estimated] = count > FEW ? [expect.any(Number), true] : [count, undefined];
    expect([status, page.count, page.results.length, page.count_estimated]).toEqual([
      status,
      counted,
      Math.min(20, count),
      estimated,
    ]);
    expect(new Set(page.results.map((mail: { status: string }) => mail.status))).toEqual(new Set([status]));
  }
  const of = { campaign: large.oldCampaign, status: "failed" };
  expect(await found(`${E}/sent-emails/`, of)).toMatchObject({ count: 1, results: [{ error: "Why it is so" }] });
  const deliveries = `${E}/webhook-endpoints/${large.endpoint}/deliveries/`;
  expect(await found(deliveries, { status: "dead" })).toMatchObject({ count: 4 });
  expect(await found(deliveries, { event_type: "complained" })).toMatchObject({ count: 9 });
  expect(await found(`${E}/inbound/`, { via: "brevo" })).toMatchObject({ count: 6 });
  expect(await found(`${E}/campaigns/`, { campaign_type: "to_list" })).toMatchObject({ count: 10 });
  expect(await found(`/api/companies/${company.id}/audit-log/`, { actor: "ann@example.com" })).toMatchObject({
    count: 5,
  });
  expect(await found(`${E}/suppressions/`, { search: ".gonea777@" })).toMatchObject({ count: 1 });
});

test("of what is frequent the count is an estimate that says so, and pages are whole and in order to the 500th", async () => {
  const deliveries = `${E}/webhook-endpoints/${large.endpoint}/deliveries/`;
  const delivered = { event_type: "delivered" };
  const first = await found(deliveries, delivered);
  expect(first.count_estimated).toBe(true);
  expect(first.count).toBeGreaterThan(10_000);
  expect(first.next).not.toBeNull();
  const all = await found(deliveries, { page: "500" });
  const last = await found(deliveries, { ...delivered, page: "500" });
  expect(last.results.map(({ id }: { id: string }) => id)).toEqual(all.results.map(({ id }: { id: string }) => id));
  const { status, body } = await get(deliveries, { ...delivered, page: "501" });
  expect([status, Object.keys(body)]).toEqual([400, ["page"]]);
});

test("more than can be sorted or searched are a 400 that says how to narrow them", async () => {
  const sorted = await get(`${E}/campaigns/`, { ordering: "name" });
  expect([sorted.status, sorted.body.ordering?.[0]]).toEqual([400, expect.stringContaining("created_after")]);
  const searched = await get(`/api/companies/${company.id}/audit-log/`, { search: "ann" });
  expect([searched.status, searched.body.search?.[0]]).toEqual([400, expect.stringContaining("since")]);
  expect((await get(`${E}/campaigns/`, { ordering: "name", campaign_type: "to_list" })).status).toBe(200);
  expect((await get(`${E}/subscribers/`, { ordering: "last_name" })).status).toBe(200);
});

test("a late page of a company's rare events is found in their index alone", async () => {
  const given = readsOf(large).find(
    ({ route, query }) => route.action === "tracking.listEvents" && query.type === "bounced",
  )!;
  const plans = capturePlans();
  try {
    const read = { ...given, query: { type: "bounced", page: "25" } };
    const nodes = (await plans.of(() => ask(read))).flatMap(({ root }) => nodesOf(root));
    const found = nodes.filter(({ "Index Name": index }) => index === "email_events_rare_of_company");
    expect(found.map((node) => [node["Node Type"], rowsOf(node)])).toEqual([["Index Only Scan", 500]]);
  } finally {
    plans.stop();
  }
});

test("no read goes through all of a table, whatever it is filtered, searched and sorted by, on no page", async () => {
  const plans = capturePlans();
  const wrong: string[] = [];
  let statements = 0;
  try {
    for (const given of readsOf(large).filter(({ route }) => !(route.action in READ_ALL))) {
      const read = await withLastPage(
        given,
        async (first) => ((await ask(first)) as { count: number } | undefined)?.count ?? 1,
      );
      const found = await plans.of(() => ask(read));
      statements += found.length;
      const most = found.flatMap((plan) => tooMuch(plan, mostOf(read)));
      if (most.length > 0) wrong.push(`${read.name}: ${most.join("; ")}`);
    }
  } finally {
    plans.stop();
  }
  expect(wrong).toEqual([]);
  expect(statements).toBeGreaterThan(300);
}, 600_000);

/** None of these rows is known to the statistics. */
const PEOPLE = 3_000;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";
const UNKNOWN_SIZE = { people: PEOPLE, mails: 2 * PEOPLE, events: PEOPLE, others: PEOPLE };
/** Of any table: all of its rows some times over, and less than each of them for a tenth of the others. */
const MOST_OF_UNKNOWN = 20 * PEOPLE;

/** Nobody analyses what grows from now on. */
const stopAutovacuum = () =>
  query(
    `do $$ declare name regclass; begin
       for name in select oid from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace loop
         execute format('alter table %s set (autovacuum_enabled = false)', name);
       end loop;
     end $$`,
  );

/** As the recipients of a campaign to a segment are found (write-audience-slice.ts). */
async function planOfSlice(companyId: string, condition: object): Promise<PlanNode> {
  const { where, values } = segmentSql({ conditions: [condition as Condition] }, companyId, 5);
  const source = ofSegment(where);
  const sql = `explain (analyze, timing off, format json) with taken as materialized (${source.taken}) select count(*) from (${source.person}) p where $2::int = 1`;
  const [row] = await query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(sql, [companyId, 1, BEFORE_ALL, PEOPLE, ...values]);
  return row!["QUERY PLAN"][0].Plan;
}

const FURTHER: [action: string, query: (of: Large) => Record<string, string>][] = [
  ["subscribers.export", ({ list }) => ({ list })],
  ["subscribers.export", ({ smallList }) => ({ list: smallList, status: "active" })],
  ["subscribers.export", ({ segment }) => ({ segment })],
  ["subscribers.export", ({ segment, smallList }) => ({ segment, list: smallList })],
];

test("of a company that the statistics do not know no read reads all rows for each of some, nor does a campaign to a segment", async () => {
  await stopAutovacuum();
  const own = await newCompany(app, { plan: "unlimited" });
  const unknown = await makeLarge(own.id, "c", UNKNOWN_SIZE);
  expect(await guessedCount({ from: "subscribers", where: "company_id = $1", values: [own.id] })).toBe(1);
  for (const field of ["list", "opened_campaign", "clicked_campaign"]) {
    for (const operator of ["equals", "not_equals"]) {
      const value = field === "list" ? unknown.smallList : unknown.campaign;
      const root = await planOfSlice(own.id, { field, operator, value });
      const rows = nodesOf(root).map(rowsOf);
      expect([field, operator, Math.max(...rows) <= MOST_OF_UNKNOWN]).toEqual([field, operator, true]);
    }
  }
  const reads = readsOf(unknown);
  const further = FURTHER.map(([action, given]) => {
    const route = reads.find(({ route: of }) => of.action === action)!.route;
    return { name: `${action} ${Object.keys(given(unknown))}`, route, query: given(unknown) };
  });
  const wrong: string[] = [];
  const plans = capturePlans();
  try {
    // It looks for the person in all that waits for webhooks.
    for (const read of [...reads, ...further].filter(({ route }) => route.action !== "subscribers.exportPerson")) {
      const work = () => callRead(app.broker, read, unknown, own.userId, { whole: true });
      const found = await plans.of(() => refusing(work));
      const most = found.flatMap((of) => tooMuch(of, MOST_OF_UNKNOWN));
      if (most.length > 0) wrong.push(`${read.name}: ${most.join("; ")}`);
    }
  } finally {
    plans.stop();
  }
  expect(wrong).toEqual([]);
}, 600_000);
