/**
 * A company that imports its list right after its first subscriber and sends at once: the planner still expects tables of
 * one row. The number of rows read must not depend on its statistics.
 */
import pg from "pg";
import { BY_KEY } from "../../../models/database/by-key.ts";
import { ofList, ofReceivers, ofSegment, sliceSql } from "../../../models/statements/write-audience-slice.ts";
import { newId } from "../../../services/lib/ids.ts";
import { READ } from "../../../services/smtp-sender/delivery/recipient-statements.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const MANY = 2_000;
const NOBODY = "00000000-0000-0000-0000-000000000000";

interface Node {
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Actual Loops": number;
  Plans?: Node[];
}

const removed = (node: Node): number =>
  node["Actual Loops"] *
    ((node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Join Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0)) +
  (node.Plans ?? []).reduce((sum, plan) => sum + removed(plan), 0);

describe("rows read in vain after tables have grown since their last analysis", () => {
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
       insert into sent_emails (company_id, campaign_id, seq, email, subscriber_id)
       select $1, $5, split_part(email, '@', 1)::int, email, id from person`,
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
      `insert into campaigns (id, company_id, name, status, campaign_type, smtp_config_id, worker_task_id)
       values ($1, $2, 'N', 'sending', 'custom', $1, $1)`,
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

  async function rowsRemoved(sql: string, values: unknown[]): Promise<number> {
    await client.query("begin");
    try {
      const { rows } = await client.query(`explain (analyze, timing off, format json) ${sql}`, values);
      return removed(rows[0]["QUERY PLAN"][0].Plan);
    } finally {
      await client.query("rollback");
    }
  }

  const active = ["active"];
  test.each([
    ["of a list", ofList, NOBODY, [list]],
    ["of a segment", ofSegment("true"), NOBODY, []],
    ["of receivers", ofReceivers, "0", []],
  ])("a slice %s", async (_name, source, first, values) => {
    const given = [company, campaign, first, MANY, active, MANY + 1, MANY, ...values];
    expect(await rowsRemoved(sliceSql(source, false, false), given)).toBeLessThanOrEqual(2 * MANY);
  });

  test("recipients on their way to be sent", async () => {
    for (const [name, value] of Object.entries(BY_KEY)) await client.query(`set ${name} = ${value}`);
    expect(await rowsRemoved(READ, [campaign, company, 0, false, MANY, MANY])).toBeLessThanOrEqual(2 * MANY);
  });
});
