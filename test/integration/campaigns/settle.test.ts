import { setTimeout as sleep } from "node:timers/promises";
import { mayMove, moveTo, STATUSES, type Status } from "../../../models/campaign-lifecycle.ts";
import { pool, query, queryOne } from "../../../models/database/db.ts";
import { settle, settleFinished } from "../../../services/campaigns/lifecycle/settle.ts";
import { tidy } from "../../../services/campaigns/tidy.ts";
import { expandAll, newCampaign, useRows } from "./rows.ts";
import { addMembers, campaignRow, deliverAll, newList, recipients, useCompany } from "./world.ts";

describe("settling a campaign", () => {
  const rows = useRows();
  const company = useCompany();

  const sentTo = async (count: number) => {
    const list = await newList(company.id);
    await addMembers(company, count, list);
    const id = await newCampaign(company, { list_id: list });
    await expandAll(rows, id);
    return id;
  };

  const moves = STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as [Status, Status]));
  test.each(moves)("changes states in the database only as the table allows: %s → %s", async (from, to) => {
    const id = await newCampaign(company, { status: from });
    expect(await moveTo(pool(), id, to)).toBe(mayMove(from, to));
    expect((await campaignRow(id)).status).toBe(mayMove(from, to) ? to : from);
  });

  test("succeeds in one of ten concurrent attempts at the same change of state", async () => {
    const id = await newCampaign(company, { status: "pending" });
    const made = await Promise.all(Array.from({ length: 10 }, () => moveTo(pool(), id, "sending")));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect((await campaignRow(id)).started_at).toBeInstanceOf(Date);
  });

  test("waits while a recipient is not final", async () => {
    const id = await sentTo(3);
    expect(await settle(id)).toBe(false);
    await query("update campaigns set sent_count = 2 where id = $1", [id]);
    expect(await settle(id)).toBe(false);
    expect((await campaignRow(id)).status).toBe("pending");
  });

  test("waits for the end of the expansion, however many have been sent", async () => {
    const id = await newCampaign(company, { sent_count: 5, total_emails: 5 });
    expect(await settle(id)).toBe(false);
  });

  test.each([
    ["all sent", 2, "completed"],
    ["all failed", 3, "failed"],
    ["all in doubt", 6, "failed"],
  ] as const)("%s → %s", async (_name, outcome, status) => {
    const id = await sentTo(4);
    await deliverAll(id, outcome);
    expect(await settle(id)).toBe(true);
    expect(await campaignRow(id)).toMatchObject({ status, finished_at: expect.any(Date) });
    expect(await settle(id)).toBe(false);
  });

  test("ends it as partial if some were sent and some failed; the poll finds it", async () => {
    const id = await sentTo(4);
    await query(
      "update sent_emails set status = 3 where campaign_no = (select no from campaigns where id = $1) and seq = 1",
      [id],
    );
    await query("update campaigns set failed_count = 1 where id = $1", [id]);
    await deliverAll(id);
    expect(await settleFinished()).toBeGreaterThanOrEqual(1);
    expect(await campaignRow(id)).toMatchObject({ status: "partial", sent_count: 3, failed_count: 1 });
  });

  describe("whose counts differ from its rows", () => {
    const stuck = async (id: string) => {
      await query("update campaigns set status = 'sending', updated_at = now() - interval '11 minutes' where id = $1", [
        id,
      ]);
      await query("update send_chunks set state = 2 where campaign_id = $1", [id]);
    };

    test("counts the rows once nothing has changed for ten minutes", async () => {
      const id = await sentTo(10);
      await deliverAll(id);
      await query("update campaigns set sent_count = 7 where id = $1", [id]);
      await stuck(id);
      await tidy(rows.broker);
      expect(await campaignRow(id)).toMatchObject({ status: "completed", sent_count: 10, failed_count: 0 });
    });

    test("ignores campaigns that still have something to do", async () => {
      const [waiting, open, orphaned] = [await sentTo(3), await sentTo(3), await sentTo(3)];
      for (const id of [waiting, open, orphaned]) await stuck(id);
      await query(
        "update sent_emails set next_attempt_at = now() + interval '1 hour' where campaign_no = (select no from campaigns where id = $1)",
        [waiting],
      );
      await query("update send_chunks set state = 0 where campaign_id = $1", [open]);
      await tidy(rows.broker);
      for (const id of [waiting, open, orphaned])
        expect(await campaignRow(id)).toMatchObject({ status: "sending", sent_count: 0 });
    });
  });

  describe("that was stopped by an error", () => {
    const stop = (id: string) => query("update campaigns set error = 'The login was refused.' where id = $1", [id]);

    test("takes one connection for many campaigns of one company, one after the other", async () => {
      const [first, ...others] = [await sentTo(3), await sentTo(3), await sentTo(3)];
      for (const id of [first!, ...others]) await stop(id);
      const ended: string[] = [];
      const end = async (id: string) => {
        expect(await settle(id)).toBe(true);
        ended.push(id);
      };
      const holding = await pool().connect();
      await holding.query("begin; set local idle_in_transaction_session_timeout = 0");
      const numberOf = "(select no from campaigns where id = $1)";
      await holding.query(`select from sent_emails where campaign_no = ${numberOf} and seq = 1 for update`, [first]);
      const { rows } = await holding.query("select pg_backend_pid() as pid");
      const ends = [end(first!)];
      const WAITS = "select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))";
      while ((await query(WAITS, [rows[0].pid])).length === 0) await sleep(10);
      ends.push(...others.map(end));
      // This is long enough for both if they did not wait.
      await sleep(200);
      expect(ended).toEqual([]);
      await holding.query("commit");
      holding.release();
      await Promise.all(ends);
      expect(ended[0]).toBe(first);
      for (const id of [first!, ...others])
        expect(await campaignRow(id)).toMatchObject({ status: "failed", failed_count: 3 });
    });

    test("fails untried and deferred recipients with that error, in batches; the counts match", async () => {
      const id = await sentTo(25_000);
      await query(
        "update sent_emails set status = 2 where campaign_no = (select no from campaigns where id = $1) and seq <= 50",
        [id],
      );
      await query(
        "update sent_emails set next_attempt_at = now() + interval '1 hour' where campaign_no = (select no from campaigns where id = $1) and seq = 60",
        [id],
      );
      await query(
        "update sent_emails set status = 4, error = '550' where campaign_no = (select no from campaigns where id = $1) and seq between 51 and 59",
        [id],
      );
      await query("update send_chunks set state = 2 where campaign_id = $1 and no <= 2", [id]);
      await query(
        "update sent_emails set status = 2 where campaign_no = (select no from campaigns where id = $1) and seq between 61 and 100",
        [id],
      );
      await query("update campaigns set status = 'sending', sent_count = 90, failed_count = 9 where id = $1", [id]);
      await stop(id);
      expect(await settle(id)).toBe(true);
      expect(await campaignRow(id)).toMatchObject({ status: "failed", sent_count: 90, failed_count: 24_910 });
      const byStatus = await query(
        "select status, error, count(*) as n from sent_emails where campaign_no = (select no from campaigns where id = $1) group by 1, 2 order by 1",
        [id],
      );
      expect(byStatus).toEqual([
        { status: 2, error: null, n: 90 },
        { status: 3, error: "The login was refused.", n: 24_901 },
        { status: 4, error: "550", n: 9 },
      ]);
      expect(
        await queryOne("select count(*) as n from send_chunks where campaign_id = $1 and state <> 2", [id]),
      ).toEqual({ n: 0 });
    });

    test("waits for a leased chunk and for a retry in progress", async () => {
      const id = await sentTo(60);
      await stop(id);
      await query("update send_chunks set state = 1, owner = 'x' where campaign_id = $1 and no = 1", [id]);
      expect(await settle(id)).toBe(false);
      await query("update send_chunks set state = 0, owner = null where campaign_id = $1 and no = 1", [id]);
      await query(
        "update sent_emails set status = 1, next_attempt_at = now() + interval '1 minute' where campaign_no = (select no from campaigns where id = $1) and seq = 1",
        [id],
      );
      expect(await settle(id)).toBe(false);
      expect((await recipients(id)).filter(({ status }) => status === 3)).toHaveLength(0);
    });

    test("skips a chunk that a sender is claiming at this moment", async () => {
      const id = await sentTo(60);
      const sender = await pool().connect();
      await sender.query("begin");
      await sender.query("update send_chunks set state = 1, owner = 'x' where campaign_id = $1 and no = 1", [id]);
      await stop(id);
      expect(await settle(id)).toBe(false);
      await sender.query("commit");
      sender.release();
      const failed = (await recipients(id)).filter(({ status }) => status === 3);
      expect(failed.map(({ seq }) => seq)).toEqual([51, 52, 53, 54, 55, 56, 57, 58, 59, 60]);
    });
  });
});
