import { query, queryOne } from "../../../models/database/db.ts";
import { expandAll, newCampaign, useRows } from "./rows.ts";
import { campaignRow, newCompany } from "./world.ts";

const SIZE = Number(process.env.EXPAND_SIZE ?? 100_000);

describe(`a list of ${SIZE}`, () => {
  const rows = useRows();

  test("is expanded exactly, and mail can leave after the first, small slice", async () => {
    const company = await newCompany();
    await query(
      `with added as (
         insert into subscribers (company_id, email)
         select $1, 'reader' || n || '@d' || n % 500 || '.example' from generate_series(1, $3::int) n returning id)
       insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
      [company.id, company.list, SIZE],
    );
    await query("insert into suppressions (company_id, domain) values ($1, 'd7.example')", [company.id]);
    await query("analyze");
    const id = await newCampaign(company);
    await expandAll(rows, id);

    const expected = SIZE - SIZE / 500;
    expect(await campaignRow(id)).toMatchObject({ total_emails: expected, next_seq: expected + 1 });
    const counted = await queryOne(
      `select count(*) as n, count(distinct subscriber_id) as people, min(seq) as lo, max(seq) as hi
       from sent_emails where campaign_no = (select no from campaigns where id = $1)`,
      [id],
    );
    expect(counted).toEqual({ n: expected, people: expected, lo: 1, hi: expected });
    const chunks = await queryOne(
      "select sum(hi - lo + 1) as n, max(hi - lo + 1) as most from send_chunks where campaign_id = $1",
      [id],
    );
    expect(chunks).toEqual({ n: expected, most: 500 });
  });
});
