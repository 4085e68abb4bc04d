/** Failed recipients by reason; the rows are written as senders would. */
import { query, queryOne } from "../../../models/database/db.ts";
import { mailsOf, withIds } from "../../../models/statements/mail-key.ts";
import { capturePlans, nodesOf, rowsOf } from "../../support/captured-plans.ts";
import { addMembers, as, expanded, newCompany, toList, useCompany, useWorld } from "./world.ts";

describe("failures of a campaign", () => {
  const world = useWorld();
  const company = useCompany();
  const failures = (id: string) => as(world, company)("campaigns.failures", { id });

  /** Campaign whose recipients have these outcomes; the others were sent to. */
  async function campaign(people: number, outcomes: Record<string, unknown>[]): Promise<string> {
    await addMembers(company, people);
    const { id } = await as(world, company)("campaigns.sendToList", toList(company));
    await expanded(id);
    await query(
      `update sent_emails e set status = coalesce(o.status, 2), error = o.error, smtp_response = o.reply,
         sent_at = case when coalesce(o.status, 2) = 2 or o.came_back then now() end
       from generate_series(1, $2) n left join json_to_recordset($3) o (seq int, status int, error text, reply text, came_back bool)
         on o.seq = n
       where e.campaign_no = (select no from campaigns where id = $1) and e.seq = n`,
      [id, people, JSON.stringify(outcomes.map((outcome, at) => ({ seq: at + 1, ...outcome })))],
    );
    const failed = outcomes.filter(({ came_back }) => !came_back).length;
    await query(
      "update campaigns set status = 'partial', failed_count = $2, sent_count = total_emails - $2 where id = $1",
      [id, failed],
    );
    return id;
  }

  test("group all of its failed recipients, with each reason once and the server's codes", async () => {
    const refused = (text: string) => ({ status: 3, error: `Refused: ${text}`, reply: text });
    const id = await campaign(14, [
      { ...refused("550 5.1.1 <u1@example.com>: User unknown"), status: 4 },
      { ...refused("550 5.1.1 <u2@example.com>: User unknown"), status: 4 },
      { ...refused("550 5.1.1 <u3@example.com>: User unknown"), status: 4 },
      refused("554 refused, see u4@example.com. (#5.7.1)"),
      refused("554 refused, see u5@example.com. (#5.7.1)"),
      refused("571 no"),
      { status: 3, error: "Given up after 12 attempts. Deferred: 451 4.3.0 later", reply: "451 4.3.0 later" },
      { status: 3, error: 'Stopped by the API key "x".' },
      { status: 6, error: "The SMTP server did not confirm the message: gone" },
      { status: 5, error: "The recipient has unsubscribed." },
      { ...refused("550 5.1.1 gone"), status: 4, came_back: true },
    ]);
    await query("update campaigns set error = $2 where id = $1", [id, 'Stopped by the API key "x".']);
    const [soft] = await withIds(
      await query<{ id: string; campaign_no: number; seq: number }>(
        "select campaign_no, seq from sent_emails where campaign_no = (select no from campaigns where id = $1) and seq = 6",
        [id],
      ),
    );
    expect(await mailsOf([soft!.id])).toMatchObject([{ seq: 6 }]);
    await query(
      `insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, metadata)
       values ($1, $2, $3, 'bounced', 'u6@example.com', '{"bounce_type": "block"}')`,
      [company.id, id, soft!.id],
    );

    const seen = await failures(id);
    const total = (await as(world, company)("campaigns.get", { id })).failed_count;
    expect(seen.reduce((sum, { count }) => sum + count, 0)).toBe(total);
    const codes = (code: number | null, enhanced: string | null, bounce: string | null, count = 1) => ({
      smtp_code: code,
      enhanced_code: enhanced,
      bounce_type: bounce,
      count,
      example: expect.stringMatching(/^u\d+@example\.com$/),
    });
    expect(Object.fromEntries(seen.map(({ reason, help: _, ...rest }) => [reason, rest]))).toEqual({
      "Refused: 550 5.1.1 <address>: User unknown": codes(550, "5.1.1", "hard", 3),
      "Refused: 554 refused, see <address>. (#5.7.1)": codes(554, "5.7.1", null, 2),
      "Refused: 571 no": codes(571, null, "block"),
      "Given up after 12 attempts. Deferred: 451 4.3.0 later": codes(451, "4.3.0", null),
      'Stopped by the API key "x".': codes(null, null, null),
      "The SMTP server did not confirm the message: gone": codes(null, null, null),
      "The recipient has unsubscribed.": codes(null, null, null),
    });
    expect(seen.map(({ count }) => count)).toEqual([3, 2, 1, 1, 1, 1, 1]);
    expect(new Set(seen.map(({ help }) => help)).size).toBe(7);
    await expect(as(world, await newCompany())("campaigns.failures", { id })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  describe("advice", () => {
    const STOPPED = 'Stopped by the API key "x".';
    const outcomes = [
      { status: 3, error: STOPPED },
      { status: 3, error: "Given up after 12 attempts. Deferred: 451 later", reply: "451 later" },
      { status: 3, error: "No connection" },
      { status: 4, error: "Refused: 550 5.1.1 gone", reply: "550 5.1.1 gone" },
    ];
    const refused = (id: string) =>
      as(world, company)("campaigns.resume", { id }).then(
        () => false,
        () => true,
      );
    const helpsOf = async (id: string) => (await failures(id)).map(({ help }) => help).join("\n");

    test.each([
      ["partial", 10, "kept", /Resume the campaign to send to them/],
      ["failed", 10, "kept", /Then resume the campaign/],
      ["failed", 0, "kept", /Duplicate it and send the copy/],
      ["cancelled", 0, "kept", /Duplicate it and send the copy/],
      ["partial", 10, "removed", /no longer kept/],
      ["sending", 10, "kept", /once it has ended/],
    ])(
      "names what works for a campaign that is %s with %d sent and recipients %s",
      async (status, sent, state, says) => {
        const id = await campaign(14, outcomes);
        await query(
          "update campaigns set status = $2, sent_count = $3, recipients_state = $4, error = $5 where id = $1",
          [id, status, sent, state, STOPPED],
        );
        const help = await helpsOf(id);
        expect(help).toMatch(says);
        expect(/to try (?:them|these) again|to send to them|Then resume/.test(help)).toBe(!(await refused(id)));
      },
    );
  });

  test("include those beyond the quota; none if nobody failed", async () => {
    const id = await campaign(2, []);
    expect(await failures(id)).toEqual([]);
    await query("update campaigns set unwritten = 7, failed_count = 7, total_emails = total_emails + 7 where id = $1", [
      id,
    ]);
    expect(await failures(id)).toMatchObject([{ count: 7, example: null, reason: expect.stringContaining("quota") }]);
  });

  test("group the rarest reasons into one", async () => {
    const outcomes = Array.from({ length: 230 }, (_, n) => ({
      status: 3,
      error: `Refused: 550 id ${n}`,
      reply: `550 id ${n}`,
    }));
    const id = await campaign(230, outcomes);
    const seen = await failures(id);
    expect(seen).toHaveLength(201);
    expect(seen[0]).toMatchObject({ reason: "Other reasons.", count: 30, smtp_code: null });
    expect(seen.reduce((sum, { count }) => sum + count, 0)).toBe(230);
  });

  describe("that exceed the number of rows read:", () => {
    const MANY = 24_000;
    const STOPPED = "Stopped by the API key.";

    /** Fails every recipient from `first` on: one of four refused, the others not attempted. */
    async function stoppedAt(first: number, mails: number): Promise<string> {
      const id = await campaign(1, []);
      const { no } = (await queryOne<{ no: number }>("select no from campaigns where id = $1", [id]))!;
      await query(
        `insert into sent_emails (campaign_no, seq, email, status, sent_at, error, smtp_response)
         select $1, n, 'u' || n || '@example.com', case when n < $2 then 2 else 3 end, case when n < $2 then now() end,
           case when n < $2 then null when n % 4 = 0 then 'Refused: 550 <u' || n || '@example.com> no' else $4 end,
           case when n >= $2 and n % 4 = 0 then '550 <u' || n || '@example.com> no' end
         from generate_series(2, $3::int) n`,
        [no, first, mails, STOPPED],
      );
      const failed = mails - first + 1;
      await query(
        "update campaigns set status = 'failed', error = $2, failed_count = $3, next_seq = $4 where id = $1",
        [id, STOPPED, failed, mails + 1],
      );
      await query("analyze sent_emails");
      return id;
    }

    test("a sample estimates how many have a reason, and the counts sum up to all", async () => {
      const id = await stoppedAt(2_001, 2_000 + MANY);
      const plans = capturePlans();
      let seen: Awaited<ReturnType<typeof failures>> = [];
      const rows = (await plans.of(async () => (seen = await failures(id))))
        .flatMap(({ root }) => nodesOf(root))
        .map(rowsOf);
      plans.stop();
      expect(Math.max(...rows)).toBeLessThan(MANY / 1.5);
      expect(seen.map(({ reason, estimated }) => [reason, estimated])).toEqual([
        [STOPPED, true],
        ["Refused: 550 <address> no", true],
      ]);
      expect(seen.reduce((sum, { count }) => sum + count, 0)).toBe(MANY);
      expect(Math.abs(seen[1]!.count / (MANY / 4) - 1)).toBeLessThan(0.1);
      expect(seen[1]).toMatchObject({ smtp_code: 550, example: expect.stringMatching(/^u\d+@example\.com$/) });
    });

    test("all are read if they are too clustered for a sample", async () => {
      const id = await stoppedAt(2, MANY + 1);
      const move = (by: number, which: string) =>
        query(
          `update sent_emails set seq = seq + $2
           where campaign_no = (select no from campaigns where id = $1) and seq > 1 and ${which}`,
          [id, by],
        );
      // The failures are near the beginning and far away, so that a sample contains one of two runs.
      await move(100_000_000, "seq = 2");
      await move(50_000_000, "seq between 4 and 90000000");
      const first = await failures(id);
      await move(100_000, "seq between 4 and 90000000");
      const seen = [first, await failures(id)];
      for (const groups of seen) expect(groups.map(({ count }) => count)).toEqual([MANY * 0.75, MANY / 4]);
      expect(new Set(seen.map(([group]) => group!.estimated))).toEqual(new Set([true, undefined]));
    });
  });
});
