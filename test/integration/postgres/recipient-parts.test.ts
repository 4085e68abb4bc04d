import { closeDatabase, openDatabase, query, queryOne } from "../../../models/database/db.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  openDatabase(database.url, 2);
});
afterAll(async () => {
  await closeDatabase();
  await database.drop();
});

test("each month has a partition, created in advance; a missing one is created by the first campaign", async () => {
  const drawn = async () => Number((await queryOne<{ no: number }>("select next_campaign_no() as no"))!.no);
  const parts = () => query("select no, month is not null as used from recipient_parts order by no");
  expect(await parts()).toEqual([
    { no: 0, used: true },
    { no: 1, used: false },
  ]);
  expect(await drawn()).toBe(1);
  await query("update recipient_parts set month = month - interval '1 month' where no = 0");
  await query("select prepare_recipient_parts()");
  expect(await drawn()).toBe(2 ** 20);
  await query("select prepare_recipient_parts()");
  expect(await drawn()).toBe(2 ** 20 + 1);
  expect(await query("select no from recipient_parts order by no")).toEqual([{ no: 0 }, { no: 1 }, { no: 2 }]);
  await query("select setval('campaign_no', 7 * (1 << 20) - 1)");
  expect(await drawn()).toBe(7 * 2 ** 20);
  await query("insert into sent_emails (campaign_no, seq, email) values (7 * (1 << 20), 1, 'a@b.example')");
  expect(await query("select seq from sent_emails_7")).toEqual([{ seq: 1 }]);
});
