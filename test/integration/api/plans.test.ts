/**
 * Checks that no read of the API touches too many rows in a company with large tables, also while PostgreSQL's
 * statistics do not know it; and that counts are exact. Runs each statement a second time under EXPLAIN ANALYZE, with
 * the same values.
 */
import { query } from "../../../models/database/db.ts";
import { guessedCount } from "../../../models/database/guessed-count.ts";
import { type Condition, segmentSql } from "../../../models/segment-rules/segment-sql.ts";
import { ofSegment } from "../../../models/statements/audience-source.ts";
import { isServiceError } from "../../../services/lib/errors.ts";
import { type App, startApp } from "../../support/app.ts";
import { capturePlans, nodesOf, type Plan, type PlanNode, rowsOf } from "../../support/captured-plans.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { type Large, makeLarge, settle } from "../../support/large-installation.ts";
import { long } from "../../support/long.ts";
import { callRead, readsOf } from "../../support/reads.ts";

/** Rows per table: more than a read may touch, so that a full scan is noticed. */
const ROWS = long ? 400_000 : 30_000;
const SIZE = { people: ROWS, mails: 3 * ROWS, events: ROWS, others: ROWS };
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

/**
 * Refusals that a read may end with: a page that does not exist, a 400 that asks for narrower filters, and rows or
 * files that are missing or have expired.
 */
const REFUSALS = ["INVALID_PAGE", "INVALID", "NOT_FOUND", "WRONG_STATE"] as const;

async function allowingRefusals(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (REFUSALS.some((code) => isServiceError(error, code))) return undefined;
    throw error;
  }
}

const describeNode = (node: PlanNode) =>
  `${node["Node Type"]} ${node["Index Name"] ?? node["Relation Name"] ?? ""}: ${rowsOf(node)} rows`;

const tooMuch = ({ root }: Plan, most: number): string[] =>
  nodesOf(root)
    .filter((node) => rowsOf(node) > most)
    .filter(({ "Relation Name": table }) => table !== undefined)
    .map(describeNode);

const get = async (path: string, query: Record<string, string> = {}) => {
  const client_ = path.startsWith("/api/companies/") ? client(app, { token: company.token }) : company.api;
  return client_.get(path, { query });
};
const bodyOf = async (path: string, query: Record<string, string>) => (await get(path, query)).body;
const E = "/api/emails";

test("rare values are counted and found exactly", async () => {
  const statuses = { failed: 1, unknown: 1, suppressed: 1, queued: 7, bounced: SIZE.mails / 10 / 5 };
  for (const [status, count] of Object.entries(statuses)) {
    const page = await bodyOf(`${E}/sent-emails/`, { status });
    expect([status, page.count, page.results.length]).toEqual([status, count, Math.min(20, count)]);
    expect(new Set(page.results.map((mail: { status: string }) => mail.status))).toEqual(new Set([status]));
  }
  const filters = { campaign: large.oldCampaign, status: "failed" };
  expect(await bodyOf(`${E}/sent-emails/`, filters)).toMatchObject({ count: 1, results: [{ error: "Why it is so" }] });
  const deliveries = `${E}/webhook-endpoints/${large.endpoint}/deliveries/`;
  expect(await bodyOf(deliveries, { status: "dead" })).toMatchObject({ count: 4 });
  expect(await bodyOf(deliveries, { event_type: "complained" })).toMatchObject({ count: 9 });
  expect(await bodyOf(`${E}/inbound/`, { via: "brevo" })).toMatchObject({ count: 6 });
  expect(await bodyOf(`${E}/campaigns/`, { campaign_type: "to_list" })).toMatchObject({ count: 10 });
  expect(await bodyOf(`/api/companies/${company.id}/audit-log/`, { actor: "ann@example.com" })).toMatchObject({
    count: 5,
  });
  expect(await bodyOf(`${E}/suppressions/`, { search: ".gonea777@" })).toMatchObject({ count: 1 });
});

test("frequent values are counted exactly and paged by `next`", async () => {
  const deliveries = `${E}/webhook-endpoints/${large.endpoint}/deliveries/`;
  const first = await bodyOf(deliveries, { event_type: "delivered" });
  expect(first).not.toHaveProperty("count_estimated");
  const [row] = await query<{ n: number }>(
    "select count(*) n from webhook_deliveries where event_type = 'delivered' and endpoint_id = $1",
    [large.endpoint],
  );
  expect(first.count).toBe(row!.n);
  expect(first.next).not.toBeNull();
  expect((await get(`${E}/campaigns/`, { ordering: "name" })).status).toBe(200);
  expect((await get(`/api/companies/${company.id}/audit-log/`, { search: "ann" })).status).toBe(200);
});

/** Number of subscribers of the company that PostgreSQL's statistics do not know. */
const PEOPLE = 3_000;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";
const UNKNOWN_SIZE = { people: PEOPLE, mails: 2 * PEOPLE, events: PEOPLE, others: PEOPLE };
/**
 * Most rows that a plan may touch in one table: several scans of the table, but not one scan per row of another table.
 */
const MOST_OF_UNKNOWN = 20 * PEOPLE;

/** Keeps the statistics from learning about new rows. */
const stopAutovacuum = () =>
  query(
    `do $$ declare name regclass; begin
       for name in select oid from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace loop
         execute format('alter table %s set (autovacuum_enabled = false)', name);
       end loop;
     end $$`,
  );

/** Query plan of the statement that finds a segment's recipients (write-audience-slice.ts). */
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

test("for a company unknown to the statistics, no read and no campaign to a segment scans a table once per row of another table", async () => {
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
    // subscribers.exportPerson is left out: it has to search all waiting webhooks for the person.
    for (const read of [...reads, ...further].filter(({ route }) => route.action !== "subscribers.exportPerson")) {
      const work = () => callRead(app.broker, read, unknown, own.userId, { whole: true });
      const found = await plans.of(() => allowingRefusals(work));
      const most = found.flatMap((plan) => tooMuch(plan, MOST_OF_UNKNOWN));
      if (most.length > 0) wrong.push(`${read.name}: ${most.join("; ")}`);
    }
  } finally {
    plans.stop();
  }
  expect(wrong).toEqual([]);
}, 600_000);
