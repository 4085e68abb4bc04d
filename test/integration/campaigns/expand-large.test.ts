import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { writeResend } from "../../../services/campaigns/expansion/write-resend.ts";
import { newId } from "../../../services/lib/ids.ts";
import { expandAll, newCampaign, useRows } from "./rows.ts";
import { campaignRow, newCompany } from "./world.ts";

const SIZE = Number(process.env.EXPAND_SIZE ?? 100_000);

describe(`a list of ${SIZE}`, () => {
  const rows = useRows();

  test("is expanded exactly, and mail can be sent after the first, small slice", async () => {
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

    // A list of every tenth subscriber uses lookups by id; one that also has the whole second half uses both ways.
    const sparse = newId();
    const mixed = newId();
    await query("insert into lists (id, company_id, name) values ($1, $3, 'Sparse'), ($2, $3, 'Mixed')", [
      sparse,
      mixed,
      company.id,
    ]);
    await query(
      `insert into list_members (company_id, list_id, subscriber_id, left_at)
       select s.company_id, l.id, s.id, case when n % 70 = 0 then now() end
       from (select *, row_number() over (order by id) as n from subscribers where company_id = $1) s, lists l
       where l.company_id = $1 and (l.id = $2 and n % 10 = 0 or l.id = $3 and (n % 10 = 0 or n > $4))`,
      [company.id, sparse, mixed, SIZE / 2],
    );
    for (const list of [sparse, mixed]) {
      const to = await newCampaign(company, { list_id: list });
      await expandAll(rows, to);
      const compared = await queryOne(
        `with wanted as (
           select s.id, row_number() over (order by s.id)::integer as seq from list_members m
           join subscribers s on s.company_id = m.company_id and s.id = m.subscriber_id
           where m.company_id = $1 and m.list_id = $2 and m.left_at is null and s.email not like '%@d7.example'),
         written as (
           select subscriber_id as id, seq from sent_emails where campaign_no = (select no from campaigns where id = $3))
         select (select count(*) > $4 from wanted) as are_many,
           (select count(*) from (table wanted except table written) x) as missing,
           (select count(*) from (table written except table wanted) x) as unasked`,
        [company.id, list, to, Math.floor(SIZE / 12)],
      );
      expect(compared).toEqual({ are_many: true, missing: 0, unasked: 0 });
    }

    // Resend to non-openers: a third opened, some clicked, one in five left the list.
    await query(
      `update sent_emails set status = ${SENT_EMAIL_STATUS.sent}, sent_at = now(),
         opened_at = case when seq % 3 = 0 then now() end, clicked_at = case when seq % 7 = 0 then now() end
       where campaign_no = (select no from campaigns where id = $1)`,
      [id],
    );
    await query(
      `update list_members m set left_at = now() from sent_emails e
       where e.campaign_no = (select no from campaigns where id = $1) and e.seq % 5 = 0
         and m.company_id = $2 and m.list_id = $3 and m.subscriber_id = e.subscriber_id`,
      [id, company.id, company.list],
    );
    const again = newId();
    await transaction((client) =>
      writeResend(client, company.id, id, {
        id: again,
        name: "Again",
        subject: undefined,
        emails: expected,
        taskId: newId(),
        apiKeyId: null,
      }),
    );
    await expandAll(rows, again);
    const numbers = Array.from({ length: expected }, (_, n) => n + 1);
    const left = numbers.filter((seq) => seq % 3 !== 0 && seq % 7 !== 0 && seq % 5 !== 0).length;
    expect(await campaignRow(again)).toMatchObject({ total_emails: left, next_seq: left + 1, suppressed_count: 0 });
    const meant = await queryOne(
      `select count(*) as n, count(distinct a.subscriber_id) as people,
         bool_and(e.opened_at is null and e.clicked_at is null and e.seq % 5 <> 0) as are_meant
       from sent_emails a join sent_emails e on e.campaign_no = (select no from campaigns where id = $1)
         and e.subscriber_id = a.subscriber_id
       where a.campaign_no = (select no from campaigns where id = $2)`,
      [id, again],
    );
    expect(meant).toEqual({ n: left, people: left, are_meant: true });
  });
});
