import { query } from "../../../models/database/db.ts";
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

describe("resume and cancel", () => {
  const world = useWorld();

  async function campaign(count: number) {
    const company = await newCompany();
    await addMembers(company, count);
    const ask = as(world, company);
    const { id } = await ask("campaigns.sendToList", toList(company));
    await expanded(id);
    return { company, ask, id };
  }

  const setOutcomes = async (id: string, outcomes: number[], error: string | null = null) => {
    await query("update send_chunks set state = 2, marked_to = hi, fence = 3, owner = 'gone' where campaign_id = $1", [
      id,
    ]);
    await query(
      `update sent_emails e set status = o.status, attempts = 4, error = 'x' from unnest($2::int[]) with ordinality as o (status, seq)
       where e.campaign_no = (select no from campaigns where id = $1) and e.seq = o.seq`,
      [id, outcomes],
    );
    // This is one statement, because the service settles such counts at its next poll.
    await query(
      "update campaigns set status = 'sending', sent_count = $2, failed_count = $3, error = coalesce($4, error) where id = $1",
      [id, outcomes.filter((status) => status === 2).length, outcomes.filter((status) => status > 2).length, error],
    );
  };

  test("a partial campaign requeues failed and unknown recipients; sent, bounced and suppressed ones stay", async () => {
    const { ask, id } = await campaign(5);
    await setOutcomes(id, [2, 3, 4, 5, 6]);
    await ask("campaigns.settle", { campaign_id: id });
    expect((await campaignRow(id)).status).toBe("partial");
    world.emitted.length = 0;
    const resumed = await ask("campaigns.resume", { id });
    expect(resumed).toMatchObject({ status: "pending", total_emails: 5, sent_count: 1, failed_count: 2, error: null });
    expect((await recipients(id)).map(({ status, error }) => [status, error])).toEqual([
      [2, "x"],
      [0, null],
      [4, "x"],
      [5, "x"],
      [0, null],
    ]);
    const chunks = await query("select state, marked_to, fence, owner from send_chunks where campaign_id = $1", [id]);
    expect(chunks).toEqual([{ state: 0, marked_to: 0, fence: 4, owner: null }]);
    expect(world.emitted).toContainEqual({
      event: "campaign.queued",
      payload: expect.objectContaining({ campaignId: id }),
    });

    await deliverAll(id);
    await ask("campaigns.settle", { campaign_id: id });
    expect(await ask("campaigns.get", { id })).toMatchObject({ status: "partial", sent_count: 3, failed_count: 2 });
  });

  test("a large campaign is requeued in slices, and is not settled before the last", async () => {
    const { ask, id } = await campaign(45_000);
    await setOutcomes(
      id,
      Array.from({ length: 45_000 }, (_, n) => (n === 7 ? 2 : 3)),
    );
    await ask("campaigns.settle", { campaign_id: id });
    expect(await ask("campaigns.resume", { id })).toMatchObject({ status: "pending" });
    const row = await expanded(id);
    expect(row).toMatchObject({
      status: "pending",
      sent_count: 1,
      failed_count: 0,
      requeue_from: null,
      total_emails: 45_000,
    });
    expect((await recipients(id)).filter(({ status }) => status === 0)).toHaveLength(44_999);
  });

  test("a resume with nothing to retry ends the campaign as before", async () => {
    const { ask, id } = await campaign(2);
    await setOutcomes(id, [2, 4]);
    await ask("campaigns.settle", { campaign_id: id });
    await ask("campaigns.resume", { id });
    await until(
      () => campaignRow(id),
      ({ status }) => status === "partial",
    );
  });

  test.each([
    ["any was sent", [2, 3]],
    ["any is unknown", [3, 6]],
  ])("a failed campaign where %s can be resumed", async (_name, outcomes) => {
    const { ask, id } = await campaign(2);
    await setOutcomes(id, outcomes, "Stopped.");
    await ask("campaigns.settle", { campaign_id: id });
    expect((await campaignRow(id)).status).toBe("failed");
    expect(await ask("campaigns.resume", { id })).toMatchObject({ status: "pending", error: null });
  });

  test("a failed campaign that sent nothing cannot be resumed", async () => {
    const { ask, id } = await campaign(2);
    await setOutcomes(id, [3, 3]);
    await ask("campaigns.settle", { campaign_id: id });
    await expect(ask("campaigns.resume", { id })).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: "This campaign failed before any email was sent, so it cannot be resumed.",
    });
  });

  test.each(["pending", "sending", "completed", "scheduled", "cancelled"])(
    "resume of a %s campaign is 400 that names the state",
    async (status) => {
      // Has a recipient left, so that the poll does not settle it.
      const { ask, id } = await campaign(1);
      await query("update campaigns set status = $2 where id = $1", [id, status]);
      await expect(ask("campaigns.resume", { id })).rejects.toMatchObject({
        code: "WRONG_STATE",
        message: `Only a partial or failed campaign can be resumed. This one is ${status}.`,
      });
    },
  );

  test("a scheduled campaign can be cancelled; a second time is 400 that names the state", async () => {
    const company = await newCompany();
    const ask = as(world, company);
    const { id } = await ask("campaigns.sendToList", toList(company, { scheduled_for: "2999-01-01T00:00:00Z" }));
    expect(await ask("campaigns.cancel", { id })).toMatchObject({ id, status: "cancelled" });
    await expect(ask("campaigns.cancel", { id })).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: "Only a scheduled campaign can be cancelled. This one is cancelled.",
    });
  });

  test.each(["pending", "sending", "completed", "partial", "failed"])(
    "cancel of a %s campaign is 400",
    async (status) => {
      const { ask, id } = await campaign(1);
      await query("update campaigns set status = $2 where id = $1", [id, status]);
      await expect(ask("campaigns.cancel", { id })).rejects.toMatchObject({ code: "WRONG_STATE" });
      expect((await campaignRow(id)).status).toBe(status);
    },
  );

  test.each(["get", "cancel", "resume", "export"] as const)(
    "%s of another company's campaign is 404",
    async (action) => {
      const { id } = await campaign(1);
      await expect(as(world, await newCompany())(`campaigns.${action}`, { id })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    },
  );
});
