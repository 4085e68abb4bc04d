import { query, queryOne } from "../../../models/database/db.ts";
import {
  addMembers,
  as,
  campaignRow,
  deliverAll,
  expanded,
  newCompany,
  recipients,
  toList,
  until,
  useWorld,
} from "./world.ts";

describe("a send to a list", () => {
  const world = useWorld();

  test("answers with a pending campaign and the list's count before anything is expanded", async () => {
    const company = await newCompany();
    await addMembers(company, 12);
    const sent = await as(world, company)("campaigns.sendToList", toList(company));
    expect(sent).toMatchObject({
      name: "News",
      campaign_type: "to_list",
      status: "pending",
      total_emails: 12,
      sent_count: 0,
      failed_count: 0,
      scheduled_for: null,
      error: null,
      company: company.id,
      subject: "Hi [[first_name]]",
      template: company.template,
      lists: [company.list],
    });
    expect(sent.worker_task_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("writes each active member once, numbered without gaps, in chunks that are ready for senders", async () => {
    const company = await newCompany();
    await addMembers(company, 730);
    const { id } = await as(world, company)("campaigns.sendToList", toList(company));
    await expanded(id);
    const rows = await recipients(id);
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 730 }, (_, n) => n + 1));
    expect(new Set(rows.map(({ email }) => email)).size).toBe(730);
    const chunks = await query<{ lo: number; hi: number }>(
      "select lo, hi, marked_to = lo - 1 and state = 0 as ready from send_chunks where campaign_id = $1 order by no",
      [id],
    );
    expect(chunks).toEqual([
      { lo: 1, hi: 50, ready: true },
      { lo: 51, hi: 100, ready: true },
      { lo: 101, hi: 200, ready: true },
      { lo: 201, hi: 300, ready: true },
      { lo: 301, hi: 500, ready: true },
      { lo: 501, hi: 730, ready: true },
    ]);
    expect(world.emitted.filter(({ payload }) => payload.campaignId === id).map(({ event }) => event)).toContain(
      "campaign.queued",
    );
    const counted = await queryOne("select count_of($1, 'sent_emails', $1) n", [company.id]);
    expect(counted).toEqual({ n: 730 });
    expect(await queryOne("select emails from usage_months where company_id = $1", [company.id])).toEqual({
      emails: 730,
    });
  });

  test("is completed when every recipient has been sent to", async () => {
    const company = await newCompany();
    await addMembers(company, 3);
    const ask = as(world, company);
    const { id } = await ask("campaigns.sendToList", toList(company));
    await expanded(id);
    await deliverAll(id);
    await ask("campaigns.settle", { campaign_id: id });
    expect(await ask("campaigns.get", { id })).toMatchObject({ status: "completed", total_emails: 3, sent_count: 3 });
  });

  test("is completed with 0 if no member is eligible", async () => {
    const company = await newCompany();
    const { id } = await as(world, company)("campaigns.sendToList", toList(company));
    const row = await until(
      () => campaignRow(id),
      ({ status }) => status !== "pending",
    );
    expect(row).toMatchObject({ status: "completed", total_emails: 0 });
  });
});
