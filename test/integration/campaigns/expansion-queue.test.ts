import { query, queryOne } from "../../../models/database/db.ts";
import { expandSlice } from "../../../services/campaigns/expansion/expand.ts";
import { ExpansionQueue } from "../../../services/campaigns/expansion/expansion-queue.ts";
import { resume } from "../../../services/campaigns/lifecycle/resume.ts";
import type { Ctx } from "../../../services/lib/caller.ts";
import { newCampaign, useRows } from "./rows.ts";
import { addMembers, campaignRow, newCompany, recipients } from "./world.ts";

describe("the expansion queue", () => {
  const rows = useRows();
  let queue: ExpansionQueue;
  beforeAll(() => {
    queue = new ExpansionQueue(rows.broker);
  });
  beforeEach(() => {
    rows.emitted.length = 0;
  });

  const written = async (id: string) =>
    (await queryOne<{ n: number }>("select next_seq - 1 as n from campaigns where id = $1", [id]))!.n;

  test("large lists are expanded in turn, slice by slice", async () => {
    const [a, b] = [await newCompany(), await newCompany()];
    await addMembers(a, 41_000);
    await addMembers(b, 41_000);
    const [first, second] = [await newCampaign(a), await newCampaign(b)];
    await queue.expandWaiting();
    const order = rows.emitted
      .filter((line) => line.startsWith("campaign.queued"))
      .map((line) => (line.endsWith(first) ? "a" : "b"));
    expect(order.join("")).toMatch(/^(ab|ba){4}$/);
    expect(await written(second)).toBe(41_000);
  });

  test("a receipt does not wait for a large list that is being expanded", async () => {
    const bulk = await newCompany();
    await addMembers(bulk, 50_000);
    const large = await newCampaign(bulk);
    const running = queue.expandWaiting();
    while ((await written(large)) === 0) await new Promise((done) => setTimeout(done, 2));

    const company = await newCompany();
    await addMembers(company, 1);
    const receipt = await newCampaign(company, { is_transactional: true });
    await queue.expandNow(receipt);
    expect(await recipients(receipt)).toHaveLength(1);
    expect((await campaignRow(large)).expanded_at).toBeNull();
    await running;
    expect((await campaignRow(large)).expanded_at).not.toBeNull();
  });

  test("fifty receipts at the same moment are all written", async () => {
    const company = await newCompany();
    await addMembers(company, 1);
    const ids = await Promise.all(Array.from({ length: 50 }, () => newCampaign(company, { is_transactional: true })));
    await Promise.all(ids.map((id) => queue.expandNow(id)));
    for (const id of ids) expect(await written(id)).toBe(1);
  });

  test("a campaign whose audience cannot be read fails with an error; the others get their slices", async () => {
    const company = await newCompany();
    await addMembers(company, 5);
    const broken = await newCampaign(company, {
      list_id: null,
      campaign_type: "to_receivers",
      expand_cursor: "nonsense",
    });
    const fine = await newCampaign(company, { list_id: null, campaign_type: "to_receivers" });
    await queue.expandWaiting();
    expect(await campaignRow(broken)).toMatchObject({
      status: "failed",
      error: "The recipients could not be selected.",
    });
    expect((await campaignRow(fine)).expanded_at).not.toBeNull();
  });

  test("a campaign given up half-way resumes with the recipients it had and selects the rest", async () => {
    const company = await newCompany();
    await addMembers(company, 1_200);
    const id = await newCampaign(company);
    await expandSlice(rows.broker, id);
    await query(
      "update sent_emails set status = 2 where campaign_no = (select no from campaigns where id = $1) and seq = 1",
      [id],
    );
    await query("update campaigns set sent_count = 1 where id = $1", [id]);
    await query("create function refuse() returns trigger language plpgsql as $$ begin raise sqlstate '22000'; end $$");
    await query("create trigger refusing before insert on send_chunks for each row execute function refuse()");
    await queue.expandWaiting();
    await query("drop trigger refusing on send_chunks");
    expect(await campaignRow(id)).toMatchObject({ status: "failed", total_emails: 500, failed_count: 499 });
    await resume({ meta: { companyId: company.id }, emit: rows.broker.emit } as unknown as Ctx, id);
    await queue.expandWaiting();
    expect(await campaignRow(id)).toMatchObject({
      status: "pending",
      error: null,
      total_emails: 1_200,
      failed_count: 0,
    });
    expect((await campaignRow(id)).expanded_at).not.toBeNull();
    const emails = (await recipients(id)).map(({ email }) => email);
    expect([emails.length, new Set(emails).size]).toEqual([1_200, 1_200]);
  });

  test("a campaign whose slice fails for another reason is tried again", async () => {
    const company = await newCompany();
    await addMembers(company, 5);
    const id = await newCampaign(company);
    await query("create function fail() returns trigger language plpgsql as $$ begin raise sqlstate '53100'; end $$");
    await query("create trigger failing before insert on send_chunks for each row execute function fail()");
    await queue.expandWaiting();
    expect(await campaignRow(id)).toMatchObject({ status: "pending", expanded_at: null, error: null });
    await query("drop trigger failing on send_chunks");
    await queue.expandWaiting();
    expect(await written(id)).toBe(5);
  });

  test("a stopping process begins no further slice", async () => {
    const company = await newCompany();
    await addMembers(company, 100);
    const id = await newCampaign(company);
    await new ExpansionQueue({ ...rows.broker, stopping: true } as typeof rows.broker).expandWaiting();
    expect(await written(id)).toBe(0);
  });
});
