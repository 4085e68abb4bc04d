import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import type { ParamsOf } from "../../../services/contracts.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { capturePlans, nodesOf, rowsOf } from "../../support/captured-plans.ts";
import { statementsOf } from "../../support/statements.ts";
import { newWorld, type World } from "./world.ts";

describe("lists for API users", () => {
  let app: App;
  let world: World;
  beforeAll(async () => {
    app = await startApp({ services: ["renderer", "tracking"] });
  });
  beforeEach(async () => {
    world = await newWorld(3);
  });
  afterAll(() => app.stop());

  const sent = (params: ParamsOf<"tracking.listSentEmails"> = {}, companyId = world.companyId) =>
    call(app.broker, "tracking.listSentEmails", params, { meta: { companyId } });
  const events = (params: ParamsOf<"tracking.listEvents"> = {}, companyId = world.companyId) =>
    call(app.broker, "tracking.listEvents", params, { meta: { companyId } });
  const recipients = async (params: ParamsOf<"tracking.listSentEmails">) =>
    (await sent(params)).results.map(({ recipient }) => recipient);

  describe("sent emails", () => {
    test("are listed newest first, with subject and Message-ID, and the campaigns' count", async () => {
      const { count, results } = await sent();
      expect(count).toBe(3);
      expect(results.map(({ id }) => id)).toEqual(world.mails.map(({ id }) => id).toReversed());
      expect(results[0]).toMatchObject({
        campaign_id: world.campaignId,
        subscriber_id: world.mails[2]!.subscriberId,
        recipient: world.mails[2]!.email,
        cc: [],
        bcc: [],
        copies: [],
        subject: "Hello Ann",
        status: "sent",
        attempts: 1,
        error: null,
        message_id: expect.stringMatching(/^<[\w-]{22}@acme\.example>$/),
        opened_at: null,
      });
      expect((await sent({ campaign: world.campaignId, page_size: 2, page: 2 })).results.map(({ id }) => id)).toEqual([
        world.mails[0]!.id,
      ]);
    });

    test("are filtered by status; `sending` are messages marked by a sender", async () => {
      await query("update sent_emails set status = 0, sent_at = null where campaign_no = $1", [world.campaignNo]);
      await query("update campaigns set sent_count = 0, status = 'sending' where id = $1", [world.campaignId]);
      await query(
        `insert into send_chunks (campaign_id, no, company_id, smtp_config_id, is_transactional, lo, hi, marked_to, state)
         values ($1, 1, $2, $2, false, 1, 3, 1, 1)`,
        [world.campaignId, world.companyId],
      );
      const [first, second, third] = world.mails.map(({ email }) => email);
      expect(await recipients({ status: "sending" })).toEqual([first]);
      expect(await recipients({ status: "queued" })).toEqual([third, second]);
      expect((await sent({ status: "sending" })).count).toBe(1);
      expect((await sent({ status: "sent" })).count).toBe(0);
      expect((await sent()).results.map(({ status }) => status)).toEqual(["queued", "queued", "sending"]);
      await query("update sent_emails set status = 6, error = 'In doubt.' where campaign_no = $1 and seq = 2", [
        world.campaignNo,
      ]);
      await query("update campaigns set failed_count = 1 where id = $1", [world.campaignId]);
      expect(await recipients({ status: "unknown" })).toEqual([second]);
    });

    test("have exactly one status each, and each count equals that of the rows through all changes", async () => {
      const { companyId } = world;
      const more = (mails: number) => newWorld(mails, { id: companyId });
      const [failed, request, returned, running, later, hidden] = [
        await more(4),
        await more(3),
        await more(2),
        await more(8),
        await more(2),
        await more(2),
      ].map(({ campaignId }) => campaignId);
      const set = (campaignId: string, columns: string) =>
        query(`update campaigns set ${columns} where company_id = $1 and id = $2`, [companyId, campaignId]);
      const setMails = (campaignId: string, columns: string, where = "true") =>
        query(
          `update sent_emails set ${columns} where campaign_no = (select no from campaigns where id = $1) and ${where}`,
          [campaignId],
        );
      const chunk = (campaignId: string, no: number, [lo, hi, markedTo]: number[], state: number) =>
        query(
          `insert into send_chunks (campaign_id, no, company_id, smtp_config_id, is_transactional, lo, hi, marked_to, state)
           values ($1, $2, $3, $3, false, $4, $5, $6, $7)`,
          [campaignId, no, companyId, lo, hi, markedTo, state],
        );
      await setMails(
        failed!,
        "status = case seq when 1 then 3 when 2 then 4 else 6 end, bounced_at = case seq when 2 then now() end, error = 'Why', sent_at = null",
        "seq < 4",
      );
      await set(failed!, "status = 'partial', failed_count = 3, sent_count = 1");
      await setMails(request!, "status = 5, error = 'Unsubscribed', sent_at = null, seq = -1", "seq = 3");
      await set(request!, "campaign_type = 'to_receivers', suppressed_count = 1, next_seq = 3, sent_count = 2");
      await setMails(returned!, "status = 4, error = 'Came back', bounced_at = now()", "seq = 2");
      await query(
        `insert into campaign_counts (company_id, campaign_id, metric, bucket, slot, n) values ($1, $2, 'bounced_unique', 0, 1, 1)`,
        [companyId, returned],
      );
      // The first chunk is done: one sent, one deferred, one being retried. The second: one handed over, two waiting.
      await setMails(running!, "status = 0, sent_at = null", "seq > 1");
      await setMails(running!, "next_attempt_at = now(), error = 'Later'", "seq = 2");
      await setMails(running!, "next_attempt_at = now(), status = 1", "seq = 3");
      await chunk(running!, 1, [1, 3, 3], 2);
      await chunk(running!, 2, [4, 6, 4], 1);
      await chunk(running!, 3, [7, 8, 6], 0);
      await set(running!, "status = 'sending', sent_count = 1");
      await setMails(later!, "status = 0, sent_at = null");
      await chunk(later!, 1, [1, 2, 0], 3);
      await set(later!, "status = 'scheduled', sent_count = 0, timezone = 'recipient', starts_at = now()");
      await setMails(hidden!, "status = 3, error = 'Why', sent_at = null");
      await set(hidden!, "status = 'failed', sent_count = 0, failed_count = 2, recipients_state = 'hidden'");

      const STATUSES = ["queued", "sending", "sent", "failed", "bounced", "suppressed", "unknown"] as const;
      const counts = async () => {
        const pages = await Promise.all(STATUSES.map((status) => sent({ status, page_size: 100 })));
        for (const [n, { count, results }] of pages.entries()) {
          expect(new Set(results.map(({ status }) => status).concat(STATUSES[n]!))).toEqual(new Set([STATUSES[n]]));
          expect(results.length).toBe(count);
        }
        const all = await sent({ page_size: 100 });
        expect(all.count).toBe(all.results.length);
        const ids = pages.flatMap(({ results }) => results.map(({ id }) => id));
        expect(ids.toSorted()).toEqual(all.results.map(({ id }) => id).toSorted());
        return pages.map(({ count }) => count);
      };
      expect(await counts()).toEqual([7, 2, 8, 1, 2, 1, 1]);
      for (const campaignId of [failed, request, returned, running, later]) {
        const pages = await Promise.all(STATUSES.map((status) => sent({ status, campaign: campaignId! })));
        const { count } = await sent({ campaign: campaignId! });
        expect(pages.reduce((sum, page) => sum + page.count, 0)).toBe(count);
      }
      // Hidden rows become visible; one is removed completely, another keeps its rows.
      await set(hidden!, "recipients_state = 'kept'");
      await set(returned!, "recipients_state = 'removed'");
      await query("delete from campaigns where company_id = $1 and id = $2", [companyId, later]);
      expect(await counts()).toEqual([5, 2, 7, 3, 1, 1, 1]);
    });

    test("are read in equally few rows with and without statistics of PostgreSQL", async () => {
      await query(
        `insert into sent_emails (campaign_no, seq, email, status, sent_at)
         select $1, n, n || '@example.com', 2, now() from generate_series(100, 2_099) n`,
        [world.campaignNo],
      );
      for (const params of [{}, { status: "sent" as const }]) {
        const asked = await statementsOf(() => sent(params));
        const page = asked.find(({ text }) => text.includes("join lateral"))!;
        const [row] = await query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
          `explain (analyze, buffers, format json) ${page.text}`,
          page.values,
        );
        // About ten for each of the page's 20 messages.
        expect(row!["QUERY PLAN"][0].Plan["Shared Hit Blocks"]).toBeLessThan(1_000);
      }
    });

    test("are found by a rare status without reading bounced or waiting messages", async () => {
      const { companyId, campaignId, mails } = await newWorld(2_000);
      // All messages but three have bounced or wait for a retry.
      await query(
        `update sent_emails e set sent_at = null, status = o.status, error = o.error, bounced_at = o.bounced_at,
             next_attempt_at = o.next_attempt_at
           from (select seq, case seq when 7 then 3 when 8 then 5 when 9 then 6 else seq % 2 * 4 end as status, 'Why' as error,
               case when seq % 2 = 1 and seq not in (7, 9) then now() end as bounced_at,
               case when seq % 2 = 0 and seq <> 8 then now() end as next_attempt_at
             from generate_series(1, 2000) seq) o
           where e.campaign_no = (select no from campaigns where id = $1) and e.seq = o.seq`,
        [campaignId],
      );
      await query("update campaigns set sent_count = 0, failed_count = 1001, status = 'sending' where id = $1", [
        campaignId,
      ]);
      const few = { failed: mails[6]!, suppressed: mails[7]!, unknown: mails[8]! };
      const plans = capturePlans();
      try {
        for (const [status, mail] of Object.entries(few)) {
          for (const campaign of [undefined, campaignId]) {
            const asked = { status: status as keyof typeof few, ...(campaign ? { campaign } : {}) };
            const found = await plans.of(async () =>
              expect(await sent(asked, companyId)).toMatchObject({ count: 1, results: [{ id: mail.id }] }),
            );
            const rows = found.flatMap(({ root }) => nodesOf(root)).map(rowsOf);
            // Rows of campaigns and their parts, and one of the messages.
            expect(Math.max(...rows)).toBeLessThanOrEqual(20);
          }
        }
      } finally {
        plans.stop();
      }
      expect(await sent({ status: "bounced", page_size: 1 }, companyId)).toMatchObject({
        count: 998,
        results: [{ id: mails[1998]!.id }],
      });
      expect((await sent({ status: "queued", page_size: 1 }, companyId)).count).toBe(999);
    });

    test("include copies as recorded, or with their message's status until then", async () => {
      await query(
        "update sent_emails set cc = '{c@x.example}', bcc = '{b@x.example, c@x.example}' where campaign_no = $1",
        [world.campaignNo],
      );
      await query(
        "update sent_emails set status = seq - 1 + case seq when 3 then 1 else 0 end where campaign_no = $1",
        [world.campaignNo],
      );
      await query("update sent_emails set status = 2 where campaign_no = $1 and seq = 2", [world.campaignNo]);
      await query(
        `insert into sent_email_copies (company_id, campaign_id, seq, no, email, kind, status, error, sent_at)
         select $1, $2, 2, n, (array['c@x.example', 'b@x.example'])[n], (array['cc', 'bcc'])[n],
           (array[2, 0])[n], (array[null, 'Deferred: 450 later'])[n], (array[timestamptz '2026-01-01Z', null])[n]
         from generate_series(1, 2) n`,
        [world.companyId, world.campaignId],
      );
      const [failed, recorded, queued] = (await sent({ campaign: world.campaignId })).results.map(
        ({ copies }) => copies,
      );
      const copies = (status: string, error: string | null) => [
        { email: "c@x.example", kind: "cc", status, error, sent_at: null },
        { email: "b@x.example", kind: "bcc", status, error, sent_at: null },
      ];
      expect(queued).toEqual(copies("queued", null));
      expect(failed).toEqual(copies("failed", "Not sent, because the mail to the recipient was not accepted."));
      expect(recorded).toEqual([
        { email: "c@x.example", kind: "cc", status: "sent", error: null, sent_at: "2026-01-01T00:00:00.000Z" },
        { email: "b@x.example", kind: "bcc", status: "queued", error: "Deferred: 450 later", sent_at: null },
      ]);
      await query("delete from sent_email_copies");
      expect((await sent({ campaign: world.campaignId })).results[1]!.copies).toMatchObject([
        { status: "unknown" },
        { status: "unknown" },
      ]);
    });

    test("are filtered by recipient, with and without a subscriber, in any case", async () => {
      const { email } = world.mails[0]!;
      expect(await recipients({ recipient: email.toUpperCase() })).toEqual([email]);
      await query("delete from subscribers where id = $1", [world.mails[0]!.subscriberId]);
      expect(await recipients({ recipient: email })).toEqual([email]);
      expect(await sent({ recipient: "nobody@example.com" })).toMatchObject({ count: 0, results: [] });
      expect(await recipients({ search: email.slice(0, 4) })).toEqual([email]);
    });

    test("are invisible to another company", async () => {
      const stranger = await newWorld();
      expect((await sent({}, stranger.companyId)).count).toBe(1);
      expect(await sent({ campaign: world.campaignId }, stranger.companyId)).toMatchObject({ count: 0, results: [] });
      expect(await sent({ recipient: world.mails[0]!.email }, stranger.companyId)).toMatchObject({
        count: 0,
        results: [],
      });
      await expect(
        call(app.broker, "tracking.analytics", { id: world.campaignId }, { meta: { companyId: stranger.companyId } }),
      ).rejects.toMatchObject({ code: "NOT_FOUND" });
    });
  });

  describe("events", () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
    beforeEach(async () => {
      const rows = [
        ["opened", 0, 0],
        ["opened", 1, 1],
        ["clicked", 1, 2],
        ["bounced", 2, 3],
        ["unsubscribed", 0, 4],
      ] as const;
      for (const [type, mail, minute] of rows) {
        const { id, email } = world.mails[mail]!;
        // Ids contain their time: as old as the event.
        const hex = new Date(at(minute)).getTime().toString(16).padStart(12, "0");
        const eventId = `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`;
        await query(
          `insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, created_at)
           values ($1, $2, $3, $4, $5, $6, $7)`,
          [eventId, world.companyId, world.campaignId, id, type, email, at(minute)],
        );
      }
    });
    const types = async (params: ParamsOf<"tracking.listEvents">) => {
      const { count, results } = await events(params);
      expect(count).toBe(results.length);
      return results.map(({ type }) => type);
    };

    test("are listed newest first, in the form of the webhook event", async () => {
      const { count, results } = await events();
      expect(count).toBe(5);
      expect(results[0]).toEqual({
        id: expect.any(String),
        type: "unsubscribed",
        recipient: world.mails[0]!.email,
        sent_email_id: world.mails[0]!.id,
        campaign_id: world.campaignId,
        metadata: {},
        timestamp: at(4),
      });
    });

    test("are filtered by type, campaign, recipient and time; `until` is exclusive", async () => {
      expect(await types({ type: "opened" })).toEqual(["opened", "opened"]);
      expect(await types({ type: "delivered" })).toEqual([]);
      expect(await types({ campaign: world.campaignId })).toHaveLength(5);
      expect(await types({ campaign: world.campaignId, type: "bounced" })).toEqual(["bounced"]);
      expect(await types({ campaign: newId() })).toEqual([]);
      expect(await types({ recipient: world.mails[1]!.email.toUpperCase() })).toEqual(["clicked", "opened"]);
      expect(await types({ since: at(1), until: at(3) })).toEqual(["clicked", "opened"]);
      expect(await types({ since: at(3), type: "unsubscribed" })).toEqual(["unsubscribed"]);
      expect(await types({ until: at(0) })).toEqual([]);
    });

    test("include bounces and unsubscribes, which are in the campaign's numbers", async () => {
      const numbers = await call(
        app.broker,
        "tracking.analytics",
        { id: world.campaignId },
        { meta: { companyId: world.companyId } },
      );
      expect(numbers).toMatchObject({
        sent: 3,
        delivered: 3,
        bounced: 1,
        unsubscribed: 1,
        opens: { total: 2, unique: 0, machine: 0 },
        rates: { open: 0, bounce: 0.25, unsubscribe: 0.3333 },
        timeline: [{ at: "2026-01-01T12:00:00.000Z", opens: 2, clicks: 1 }],
      });
    });

    test("are invisible to another company", async () => {
      const stranger = await newWorld();
      for (const params of [{}, { campaign: world.campaignId }, { recipient: world.mails[0]!.email }]) {
        expect(await events(params, stranger.companyId)).toMatchObject({ count: 0, results: [] });
      }
    });
  });
});
