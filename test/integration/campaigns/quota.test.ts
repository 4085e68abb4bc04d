/** Monthly quota, charged when recipients are written: never exceeded, and recipients beyond it are counted. */
import { CAMPAIGN_COLUMNS } from "../../../models/campaign.ts";
import { pool, query, queryOne, transaction } from "../../../models/database/db.ts";
import { requireQuotaWithin } from "../../../models/statements/monthly-quota.ts";
import { addEmails } from "../../../models/statements/plan-usage.ts";
import { expandSlice } from "../../../services/campaigns/expansion/expand.ts";
import { resume } from "../../../services/campaigns/lifecycle/resume.ts";
import { settle } from "../../../services/campaigns/lifecycle/settle.ts";
import type { Ctx } from "../../../services/lib/caller.ts";
import { refusal } from "../../support/refusal.ts";
import { expandAll, newCampaign, useRows } from "./rows.ts";
import { addMembers, campaignRow, deliverAll, recipients, useCompany } from "./world.ts";

const used = async (companyId: string) =>
  (await queryOne<{ emails: number }>("select emails from usage_months where company_id = $1", [companyId]))?.emails;

describe("the monthly quota", () => {
  const rows = useRows();
  const company = useCompany();
  const allow = (emails: number | null) =>
    query(
      `with plan as (insert into plans (name, emails_per_month) values ($2, $3)
         on conflict (name) do update set emails_per_month = excluded.emails_per_month returning name)
       update companies set plan = plan.name from plan where id = $1`,
      [company.id, `plan-${company.id}`, emails],
    );
  const resumed = (id: string) =>
    resume(
      { params: {}, meta: { companyId: company.id }, emit: async () => {}, broker: rows.broker } as unknown as Ctx,
      id,
    );
  const receivers = (id: string, given: { email: string; cc?: string[]; bcc?: string[] }[]) =>
    query(
      `insert into campaign_receivers (company_id, campaign_id, no, email, cc, bcc, variables)
       select $1, $2, r.no, r.email, r.cc, r.bcc, '{}'
       from rows from (json_to_recordset($3) as (email text, cc text[], bcc text[])) with ordinality as r (email, cc, bcc, no)`,
      [company.id, id, JSON.stringify(given)],
    );
  const ended = async (id: string) => {
    await deliverAll(id);
    await settle(id);
    return campaignRow(id);
  };

  test("is charged when recipients are written: a list that has grown is sent to up to the quota, the rest counts as failed", async () => {
    await allow(10);
    await addMembers(company, 15);
    const id = await newCampaign(company);
    await expandAll(rows, id);
    expect(await recipients(id)).toHaveLength(10);
    expect(await campaignRow(id)).toMatchObject({ total_emails: 15, failed_count: 5 });
    expect(await used(company.id)).toBe(10);
    expect(await ended(id)).toMatchObject({ status: "partial", total_emails: 15, sent_count: 10, failed_count: 5 });
  });

  test("counts the whole audience over any number of slices, except those who get no email anyway", async () => {
    await allow(600);
    await addMembers(company, 1_500);
    await query(
      "update subscribers set status = 'unsubscribed' where company_id = $1 and email like '%9@example.com'",
      [company.id],
    );
    const id = await newCampaign(company);
    await expandAll(rows, id);
    expect(await recipients(id)).toHaveLength(600);
    expect(await campaignRow(id)).toMatchObject({ total_emails: 1_350, failed_count: 750 });
  });

  test("has room again later: resume writes the rest, each recipient once", async () => {
    await allow(4);
    await addMembers(company, 9);
    const id = await newCampaign(company);
    await expandAll(rows, id);
    await ended(id);
    await allow(7);
    await resumed(id);
    await expandAll(rows, id);
    expect(await ended(id)).toMatchObject({ status: "partial", total_emails: 9, sent_count: 7, failed_count: 2 });
    await allow(null);
    await resumed(id);
    await expandAll(rows, id);
    expect(await ended(id)).toMatchObject({ status: "completed", total_emails: 9, sent_count: 9, failed_count: 0 });
    expect(new Set((await recipients(id)).map(({ email }) => email)).size).toBe(9);
    expect(await used(company.id)).toBe(9);
  });

  test("when used up: the campaign fails, nothing is sent, and it cannot be resumed", async () => {
    await allow(0);
    await addMembers(company, 3);
    const id = await newCampaign(company);
    await expandAll(rows, id);
    await settle(id);
    expect(await campaignRow(id)).toMatchObject({ status: "failed", total_emails: 3, failed_count: 3 });
    expect(await refusal(resumed(id))).toEqual([
      400,
      { detail: "This campaign failed before any email was sent, so it cannot be resumed." },
    ]);
  });

  test("is named as the campaign's error until the rest is written", async () => {
    const errorOf = async (id: string) =>
      (await queryOne<{ error: string }>(`select ${CAMPAIGN_COLUMNS} from campaigns c where id = $1`, [id]))?.error;
    await allow(2);
    await addMembers(company, 3);
    const id = await newCampaign(company);
    await expandAll(rows, id);
    expect(await errorOf(id)).toBe("The monthly email quota left no room for 1 of 3 recipients.");
    await ended(id);
    await allow(3);
    await resumed(id);
    await expandAll(rows, id);
    expect(await errorOf(id)).toBeNull();
  });

  test("counts cc and bcc: a message with copies is written only if all of them fit", async () => {
    await allow(6);
    const id = await newCampaign(company, { campaign_type: "to_receivers", list_id: null, copies_asked: 6 });
    await receivers(id, [
      { email: "a@example.com", cc: ["b@example.com", "c@example.com"] },
      { email: "d@example.com", cc: ["b@example.com"], bcc: ["b@example.com"] },
      { email: "e@example.com", bcc: ["f@example.com", "g@example.com"] },
    ]);
    await expandAll(rows, id);
    expect((await recipients(id)).map(({ email }) => email)).toEqual(["a@example.com", "d@example.com"]);
    expect(await used(company.id)).toBe(5);
    expect(await campaignRow(id)).toMatchObject({ total_emails: 3, failed_count: 1 });
  });

  test("suppressed recipients are recorded once, before and after the point where the quota was used up", async () => {
    await allow(2);
    await query("insert into suppressions (company_id, domain) values ($1, 'blocked.example')", [company.id]);
    const id = await newCampaign(company, { campaign_type: "to_receivers", list_id: null });
    const given = [
      "a@blocked.example",
      "b@example.com",
      "c@example.com",
      "d@blocked.example",
      "e@example.com",
      "f@blocked.example",
    ];
    await receivers(
      id,
      given.map((email) => ({ email })),
    );
    await expandAll(rows, id);
    expect(await campaignRow(id)).toMatchObject({ total_emails: 3, failed_count: 1, suppressed_count: 1 });
    await ended(id);
    await allow(3);
    await resumed(id);
    await expandAll(rows, id);
    expect(await campaignRow(id)).toMatchObject({ total_emails: 3, failed_count: 0, suppressed_count: 3 });
    const people = await recipients(id);
    expect(people.map(({ email }) => email).toSorted()).toEqual(given);
    expect(people.filter(({ status }) => status === 5)).toHaveLength(3);
  });

  test("is not exceeded when campaigns are expanded in parallel", async () => {
    await allow(1_000);
    await addMembers(company, 400);
    const ids = await Promise.all(Array.from({ length: 4 }, () => newCampaign(company)));
    await Promise.all(ids.map((id) => expandAll(rows, id)));
    const totals = await Promise.all(ids.map(campaignRow));
    expect(totals.map(({ total_emails }) => total_emails)).toEqual([400, 400, 400, 400]);
    expect(totals.reduce((sum, { failed_count }) => sum + (failed_count as number), 0)).toBe(600);
    expect(await used(company.id)).toBe(1_000);
  });

  test("is checked again at the end of a slice: the slice is cut, and nothing is written twice", async () => {
    await allow(300);
    await addMembers(company, 200);
    const id = await newCampaign(company);
    // Another campaign's slice holds the month's row and commits during this one.
    const other = await pool().connect();
    await other.query("begin");
    await addEmails(other, company.id, 250);
    const slice = expandSlice(rows.broker, id);
    await waitForLock(company.id);
    await other.query("commit");
    other.release();
    await slice;
    await expandAll(rows, id);
    expect(await recipients(id)).toHaveLength(50);
    expect(await campaignRow(id)).toMatchObject({ total_emails: 200, failed_count: 150 });
  });

  test("applies to the month in which a scheduled send is due", async () => {
    await allow(10);
    await addEmails(pool(), company.id, 10);
    const later = new Date(Date.now() + 40 * 86_400_000);
    const admit = (emails: number, due: Date | null) =>
      transaction((client) => requireQuotaWithin(client, company.id, emails, due));
    await admit(10, later);
    await newCampaign(company, { status: "scheduled", scheduled_for: later, total_emails: 4, copies_asked: 3 });
    await admit(3, later);
    expect((await refusal(admit(4, later)))[0]).toBe(403);
    expect((await refusal(admit(1, null)))[0]).toBe(403);
  });
});

/** Waits until a transaction waits for a lock. */
async function waitForLock(companyId: string): Promise<void> {
  for (let tries = 0; tries < 2_000; tries++) {
    const found = await query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if (found.length > 0) return;
    await new Promise((done) => setTimeout(done, 5));
  }
  throw new Error(`Nobody waits for the usage of ${companyId}`);
}
