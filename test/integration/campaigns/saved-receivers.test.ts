/**
 * Receivers of sends become subscribers in the transaction that writes them as recipients, without delaying messages.
 */
import { pool, query, transaction } from "../../../models/database/db.ts";
import { addressHashes } from "../../../models/statements/mail-key.ts";
import { lockBulkWrites } from "../../../models/statements/subscriber-locks.ts";
import { expandAll, newCampaign, useRows } from "./rows.ts";
import { recipients, useCompany } from "./world.ts";

const rows = useRows();
const company = useCompany();

interface Given {
  email: string;
  variables?: Record<string, unknown>;
}

async function sendTo(receivers: readonly Given[], over: Record<string, unknown> = {}): Promise<string> {
  const id = await newCampaign(company, { campaign_type: "custom", list_id: null, ...over });
  await query(
    `insert into campaign_receivers (company_id, campaign_id, no, email, variables)
     select $1, $2, r.no, r.email, coalesce(r.variables, '{}')
     from rows from (json_to_recordset($3) as (email text, variables jsonb)) with ordinality as r (email, variables, no)`,
    [company.id, id, JSON.stringify(receivers)],
  );
  await expandAll(rows, id);
  return id;
}

const saved = () =>
  query<{ id: string; email: string; first_name: string; last_name: string; status: string }>(
    "select id, email, first_name, last_name, status from subscribers where company_id = $1 order by email_key",
    [company.id],
  );
const linked = async (campaignId: string) => (await recipients(campaignId)).map((row) => row.subscriber_id);

test("fills in blank names, changes nothing else, and cleans what a line of text cannot hold", async () => {
  await query("insert into subscribers (company_id, email, first_name) values ($1, 'ann@x.org', 'Ann')", [company.id]);
  const id = await sendTo([
    { email: "ANN@x.org", variables: { first_name: "Other", last_name: "Lee" } },
    { email: "New@x.org", variables: { first_name: "N\r\nB", last_name: 7 } },
    { email: "new@x.org" },
    { email: "nonsense" },
  ]);
  const people = await saved();
  expect(people).toMatchObject([
    { email: "ann@x.org", first_name: "Ann", last_name: "Lee" },
    { email: "New@x.org", first_name: "N B", last_name: "", status: "active" },
  ]);
  const [ann, other] = people.map((person) => person.id);
  expect(await linked(id)).toEqual([ann, other, other, null]);
});

test("saves in order up to the plan's limit; everybody gets the email", async () => {
  await query("insert into plans (name, subscribers) values ('of two', 2)");
  await query("update companies set plan = 'of two' where id = $1", [company.id]);
  const id = await sendTo(["c", "a", "d", "C"].map((name) => ({ email: `${name}@x.org` })));
  const [a, c] = await saved();
  expect([a, c]).toMatchObject([{ email: "a@x.org" }, { email: "c@x.org" }]);
  expect(await saved()).toHaveLength(2);
  expect(await linked(id)).toEqual([c!.id, a!.id, null, c!.id]);
});

test("never saves people who were erased", async () => {
  const hash = (await addressHashes()).of(company.id, "gone@x.org");
  await query("insert into erased_addresses (id, company_id, address_hash) values (uuid_v7(), $1, $2)", [
    company.id,
    hash,
  ]);
  await sendTo([{ email: "Gone@x.org" }, { email: "here@x.org" }]);
  expect(await saved()).toMatchObject([{ email: "here@x.org" }]);
});

test("sends for a company that an import locks, without saving its receivers", async () => {
  const id = await transaction(async (client) => {
    await lockBulkWrites(client, company.id);
    return sendTo([{ email: "a@x.org" }, { email: "b@x.org" }]);
  });
  expect(await saved()).toEqual([]);
  expect(await linked(id)).toEqual([null, null]);
  expect(await linked(await sendTo([{ email: "a@x.org" }]))).toEqual([(await saved())[0]!.id]);
});

test("does not wait for an address or a row that another transaction holds", async () => {
  await query("insert into subscribers (company_id, email) values ($1, 'known@x.org')", [company.id]);
  const holder = await pool().connect();
  try {
    await holder.query("begin");
    await holder.query("update subscribers set last_name = 'Lee' where company_id = $1", [company.id]);
    const known = (await saved())[0]!.id;
    const names = { first_name: "Ann" };
    const first = await sendTo([{ email: "known@x.org", variables: names }, { email: "other@x.org" }]);
    expect((await linked(first))[0]).toBe(known);
    await holder.query("insert into subscribers (company_id, email) values ($1, 'new@x.org')", [company.id]);
    expect(await linked(await sendTo([{ email: "new@x.org" }]))).toEqual([null]);
    await holder.query("rollback");
  } finally {
    holder.release();
  }
  expect(await saved()).toMatchObject([{ email: "known@x.org", first_name: "" }, { email: "other@x.org" }]);
});

test("saves a person who unsubscribed as unsubscribed", async () => {
  await query("insert into suppressions (company_id, email, kind) values ($1, 'a@x.org', 'unsubscribed')", [
    company.id,
  ]);
  await sendTo([{ email: "a@x.org" }], { is_transactional: true });
  expect(await saved()).toMatchObject([{ email: "a@x.org", status: "unsubscribed" }]);
});
