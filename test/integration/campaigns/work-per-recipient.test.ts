/**
 * A company that imports and sends right after its first subscriber: the planner still expects tables of one row. The
 * number of rows read must not depend on statistics.
 */
import pg from "pg";
import { BY_KEY } from "../../../models/database/by-key.ts";
import { BY_INDEX, ofList, ofReceivers, ofSegment, type Source } from "../../../models/statements/audience-source.ts";
import { sliceSql } from "../../../models/statements/write-audience-slice.ts";
import { newId } from "../../../services/lib/ids.ts";
import { READ } from "../../../services/smtp-sender/delivery/recipient-statements.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const MANY = 2_000;
const NOBODY = "00000000-0000-0000-0000-000000000000";

interface Node {
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  "Actual Loops": number;
  Plans?: Node[];
}

const removed = (node: Node): number =>
  node["Actual Loops"] *
    ((node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Join Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0)) +
  (node.Plans ?? []).reduce((sum, plan) => sum + removed(plan), 0);

describe("rows read in vain, after tables grew beyond their last analysis, are few:", () => {
  let database: TestDatabase;
  let client: pg.Client;
  const [company, campaign, list] = [newId(), newId(), newId()];

  const add = async (from: number, to: number) => {
    await client.query(
      `with person as (
         insert into subscribers (id, company_id, email, status)
         select uuid_v7(), $1, n || '@example.com', 'active' from generate_series($3::int, $4::int) n returning id, email),
       member as (insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from person),
       receiver as (
         insert into campaign_receivers (company_id, campaign_id, no, email)
         select $1, $5, split_part(email, '@', 1)::int, email from person)
       insert into sent_emails (campaign_no, seq, subscriber_id)
       select c.no, split_part(email, '@', 1)::int, p.id from person p, campaigns c where c.id = $5`,
      [company, list, from, to, campaign],
    );
    await client.query(
      "insert into suppressions (company_id, email) select $1, 'x' || n || '@example.com' from generate_series($2::int, $3::int) n",
      [company, from, to],
    );
  };

  beforeAll(async () => {
    database = await createDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("insert into companies (id, name, plan) select $1, 'A', name from plans limit 1", [company]);
    await client.query("insert into lists (id, company_id, name) values ($1, $2, 'All')", [list, company]);
    await client.query(
      `insert into campaigns (id, company_id, name, status, campaign_type, smtp_config_id, worker_task_id, no)
       values ($1, $2, 'N', 'sending', 'custom', $1, $1, next_campaign_no())`,
      [campaign, company],
    );
    await add(1, 1);
    await client.query("vacuum analyze");
    await add(2, MANY);
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const settingOf = (source: Source) => (source === ofList ? BY_INDEX : "");
  async function planOf(sql: string, values: unknown[], setting = ""): Promise<Node> {
    await client.query("begin");
    try {
      await client.query(setting);
      const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${sql}`, values);
      return rows[0]["QUERY PLAN"][0].Plan;
    } finally {
      await client.query("rollback");
    }
  }
  const rowsRemoved = async (sql: string, values: unknown[], setting?: string) =>
    removed(await planOf(sql, values, setting));

  const active = ["active"];
  test.each([
    ["of a list", ofList, NOBODY, [list]],
    ["of a segment", ofSegment("true"), NOBODY, []],
    ["of receivers", ofReceivers, "0", []],
  ])("a slice %s", async (_name, source, first, values) => {
    const given = [company, campaign, first, MANY, active, MANY + 1, MANY, ...values];
    expect(await rowsRemoved(sliceSql(source, false), given, settingOf(source))).toBeLessThanOrEqual(2 * MANY);
  });

  test("a slice of a small list in a large company", async () => {
    const few = newId();
    await client.query("insert into lists (id, company_id, name) values ($1, $2, 'Few')", [few, company]);
    await client.query(
      `insert into list_members (company_id, list_id, subscriber_id)
       select $1, $2, id from (select id, row_number() over (order by id) as n from subscribers where company_id = $1) s
       where n % 100 = 0`,
      [company, few],
    );
    const members = MANY / 100;
    const given = [company, campaign, NOBODY, members, active, MANY + 1, MANY, few];
    expect(await rowsRemoved(sliceSql(ofList, false), given, BY_INDEX)).toBeLessThanOrEqual(10 * members);
  });

  test.each([
    ["of a list", ofList, [list]],
    ["of a segment", ofSegment("true"), []],
  ])("the last slice %s reads no more than the first", async (_name, source: Source, values) => {
    // Ids of the same millisecond are unordered; pages with them are fewer than those of the whole index.
    const size = 5;
    const { rows } = await client.query(
      "select id from subscribers where company_id = $1 order by id desc offset $2 limit 1",
      [company, size],
    );
    // The recipients' own pages are the same for both.
    const pagesOf = async (after: string) => {
      const room = -1;
      const given = [company, campaign, after, size, active, MANY + 1, room, ...values];
      const plan = await planOf(sliceSql(source, false), given, settingOf(source));
      return plan["Shared Hit Blocks"]! + plan["Shared Read Blocks"]!;
    };
    await pagesOf(NOBODY);
    expect(await pagesOf(rows[0].id)).toBeLessThanOrEqual((await pagesOf(NOBODY)) + 8);
  });

  test("recipients being sent", async () => {
    for (const [name, value] of Object.entries(BY_KEY)) await client.query(`set ${name} = ${value}`);
    expect(await rowsRemoved(READ, [campaign, company, 0, false, MANY, MANY])).toBeLessThanOrEqual(2 * MANY);
  });
});
