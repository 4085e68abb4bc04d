import { query, queryOne } from "../../../models/database/db.ts";
import { addressHashes, bounceTokens, mailIds, mailOf } from "../../../models/statements/mail-key.ts";
import type { IncomingReport } from "../../../services/bounces/incoming-report.ts";
import { type Ingester, startIngester } from "../../../services/bounces/ingest.ts";
import type { Verdict } from "../../../services/bounces/verdict.ts";
import { settle } from "../../../services/campaigns/lifecycle/settle.ts";
import { removeOld } from "../../../services/campaigns/retention.ts";
import { firstIdAt, newId } from "../../../services/lib/ids.ts";
import type { MailNumber } from "../../../services/lib/tokens/mail-id.ts";
import { liftSuppression, suppress } from "../../../services/subscribers/suppressions.ts";
import { type App, startApp } from "../../support/app.ts";
import { newWorld, type World } from "../tracking/world.ts";

describe("ingesting reports", () => {
  let app: App;
  let ingester: Ingester;
  const queued: string[] = [];
  beforeAll(async () => {
    app = await startApp({
      services: ["bounces"],
      env: { SYSTEM_SMTP_URL: "smtp://127.0.0.1:9", SYSTEM_FROM: "s@service.example" },
    });
    ingester = startIngester((companyIds) => queued.push(...companyIds));
  });
  afterAll(async () => {
    await ingester.idle();
    await app.stop();
  });

  const tokenFor = async (mailId: string, copy = false) => (await bounceTokens()).of(await mailOf(mailId), copy);

  const verdict = (kind: Verdict["kind"], recipient: string | null, given: Partial<Verdict> = {}): Verdict => ({
    kind,
    reason: "mailbox-unknown",
    recipient,
    statusCode: "5.1.1",
    diagnostic: "550 5.1.1 User unknown",
    ...given,
  });
  const incoming = (companyId: string, verdicts: Verdict[], given: Partial<IncomingReport> = {}): IncomingReport => ({
    via: "smtp",
    companyId,
    report: { verdicts, returnedMessageId: null, addressedTo: [], dialect: "rfc3464" },
    ...given,
  });

  const mailRow = async (id: string) => {
    const { campaign_no, seq } = await mailOf(id);
    return queryOne<{ status: number; error: string | null; sent_at: Date | null; bounced_at: Date | null }>(
      "select status, error, sent_at, bounced_at from sent_emails where campaign_no = $1 and seq = $2",
      [campaign_no, seq],
    );
  };
  const events = ({ companyId }: World) =>
    query<{ type: string; recipient: string; metadata: Record<string, unknown>; sent_email_id: string }>(
      "select type, recipient, metadata, sent_email_id from email_events where company_id = $1 order by id",
      [companyId],
    );
  const suppressions = ({ companyId }: World) =>
    query<{ email: string; kind: string }>("select email, kind from suppressions where company_id = $1", [companyId]);
  const subscriberStatus = async (id: string) =>
    (await queryOne<{ status: string }>("select status from subscribers where id = $1", [id]))!.status;
  const campaignOf = ({ campaignId }: World) =>
    queryOne<{ status: string; sent_count: number; failed_count: number }>(
      "select status, sent_count, failed_count from campaigns where id = $1",
      [campaignId],
    );
  const inbound = ({ companyId }: World) =>
    query<{ result: string; sent_email_id: string | null; recipient: string | null; bounce_type: string | null }>(
      "select result, sent_email_id, recipient, bounce_type from inbound_messages where company_id = $1 order by id",
      [companyId],
    );

  test("a hard bounce marks the message, suppresses the address, and marks the subscriber; the campaign's counters stay", async () => {
    const world = await newWorld(2);
    const [mail, other] = world.mails;
    const taken = await ingester.ingest(
      incoming(world.companyId, [verdict("hard", mail!.email)], { token: await tokenFor(mail!.id) }),
    );
    expect(taken).toEqual([
      expect.objectContaining({ result: "bounced", sentEmailId: mail!.id, bounceType: "hard", changed: true }),
    ]);
    expect(await mailRow(mail!.id)).toMatchObject({ status: 4, bounced_at: expect.any(Date) });
    expect(await mailRow(other!.id)).toMatchObject({ status: 2, bounced_at: null });
    expect(await events(world)).toEqual([
      {
        type: "bounced",
        recipient: mail!.email,
        sent_email_id: mail!.id,
        metadata: expect.objectContaining({ bounce_type: "hard", source: "dsn", enhanced_code: "5.1.1" }),
      },
    ]);
    expect(await suppressions(world)).toEqual([{ email: mail!.email, kind: "bounced" }]);
    expect(await subscriberStatus(mail!.subscriberId)).toBe("bounced");
    expect(await campaignOf(world)).toEqual({ status: "completed", sent_count: 2, failed_count: 0 });
  });

  test("a thousand copies of one report at once change one row, one event, one suppression", async () => {
    const world = await newWorld();
    const mail = world.mails[0]!;
    const token = await tokenFor(mail.id);
    const one = incoming(world.companyId, [verdict("hard", mail.email)], { token });
    const other = startIngester(() => {});
    const takers = [ingester, other];
    const taken: boolean[] = [];
    // Each ingester accepts 400 waiting reports, so the test sends 500 at a time to the two.
    for (let sent = 0; sent < 1_000; sent += 500) {
      const answers = Array.from({ length: 500 }, (_, n) => takers[n % 2]!.ingest(one));
      taken.push(...(await Promise.all(answers)).map(([first]) => first!.changed));
    }
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await events(world)).toHaveLength(1);
    expect(await suppressions(world)).toHaveLength(1);
    expect(await inbound(world)).toHaveLength(1_000);
  });

  test("a block changes only the status", async () => {
    const world = await newWorld();
    const mail = world.mails[0]!;
    await ingester.ingest(
      incoming(world.companyId, [verdict("block", mail.email)], { token: await tokenFor(mail.id) }),
    );
    expect(await mailRow(mail.id)).toMatchObject({ status: 4 });
    expect((await events(world)).map(({ metadata }) => metadata.bounce_type)).toEqual(["block"]);
    expect(await suppressions(world)).toEqual([]);
    expect(await subscriberStatus(mail.subscriberId)).toBe("active");
  });

  test("a complaint suppresses the address and marks the subscriber; the message stays sent", async () => {
    const world = await newWorld();
    const mail = world.mails[0]!;
    await ingester.ingest(
      incoming(world.companyId, [verdict("complaint", mail.email)], { token: await tokenFor(mail.id) }),
    );
    expect(await mailRow(mail.id)).toMatchObject({ status: 2 });
    expect((await events(world)).map(({ type }) => type)).toEqual(["complained"]);
    expect(await suppressions(world)).toEqual([{ email: mail.email, kind: "complained" }]);
    expect(await subscriberStatus(mail.subscriberId)).toBe("complained");
  });

  test("forged tokens, other companies' messages and unrelated complaints change nothing and are unmatched", async () => {
    const world = await newWorld();
    const strangers = await newWorld();
    const mail = world.mails[0]!;
    const about = (given: Partial<IncomingReport>, of = verdict("hard", mail.email)) =>
      ingester.ingest(incoming(world.companyId, [of], given));
    const token = await tokenFor(mail.id);
    await about({ token: `${token[0] === "a" ? "b" : "a"}${token.slice(1)}` });
    await about({ token: await tokenFor(strangers.mails[0]!.id) }, verdict("hard", strangers.mails[0]!.email));
    await about({ sentEmailId: strangers.mails[0]!.id });
    await about({}, verdict("complaint", "stranger@example.com"));
    expect((await inbound(world)).map(({ result, sent_email_id }) => [result, sent_email_id])).toEqual(
      Array(4).fill(["unmatched", null]),
    );
    for (const one of [world, strangers]) {
      expect(await events(one)).toEqual([]);
      expect(await suppressions(one)).toEqual([]);
      expect(await mailRow(one.mails[0]!.id)).toMatchObject({ status: 2 });
    }
  });

  test("a report without a token matches by Message-ID, else by a recipient with a message within 14 days", async () => {
    const world = await newWorld(3);
    const [first, second, old] = world.mails;
    const report = (returnedMessageId: string | null, recipient: string) =>
      ingester.ingest({
        ...incoming(world.companyId, []),
        report: { verdicts: [verdict("soft", recipient)], returnedMessageId, addressedTo: [], dialect: "rfc3464" },
      });
    const byMessage = await report(`${first!.messageId}@acme.example`, first!.email.toUpperCase());
    expect(byMessage[0]).toMatchObject({ result: "bounced", sentEmailId: first!.id });
    const byAddress = await report("somebody@elsewhere.example", second!.email);
    expect(byAddress[0]).toMatchObject({ result: "bounced", sentEmailId: second!.id });
    await query("update sent_emails set sent_at = now() - interval '15 days' where campaign_no = $1 and seq = 3", [
      world.campaignNo,
    ]);
    expect((await report(null, old!.email))[0]).toMatchObject({ result: "unmatched" });
  });

  describe("forwarded messages", () => {
    const reported = (
      companyId: string,
      verdicts: Verdict[],
      given: Partial<IncomingReport["report"]> & Partial<IncomingReport>,
    ) => {
      const { returnedMessageId = null, addressedTo = [], ...others } = given;
      const report = { verdicts, returnedMessageId, addressedTo, dialect: "arf" };
      return ingester.ingest({ ...incoming(companyId, []), report, ...others });
    };
    const complaint = (recipient: string | null) =>
      verdict("complaint", recipient, { reason: "abuse", statusCode: null, diagnostic: null });

    test("a complaint counts for the recipient of its token or Message-ID; the reported address is kept as diagnostic", async () => {
      const world = await newWorld(3);
      const [one, two, three] = world.mails;
      const answers = [
        await reported(world.companyId, [complaint("bob@mailbox.test")], { token: await tokenFor(one!.id) }),
        await reported(world.companyId, [complaint("bob@mailbox.test")], {
          addressedTo: [`bounce+${await tokenFor(two!.id)}@acme.example`],
        }),
        await reported(world.companyId, [complaint("bob@mailbox.test")], {
          via: "ses",
          returnedMessageId: `${three!.messageId}@acme.example`,
        }),
      ];
      expect(answers.flat().map(({ result, recipient, diagnostic }) => [result, recipient, diagnostic])).toEqual(
        world.mails.map(({ email }) => ["complained", email, "Reported for bob@mailbox.test."]),
      );
      const blocked = world.mails.map(({ email }) => ({ email, kind: "complained" }));
      expect(await suppressions(world)).toEqual(blocked);
      for (const { subscriberId } of world.mails) expect(await subscriberStatus(subscriberId)).toBe("complained");
    });

    test("a report with a Message-ID does not affect the address it names, even if that one had a message", async () => {
      const world = await newWorld(2);
      const [own, named] = world.mails;
      const returnedMessageId = `<${own!.messageId}@acme.example>`;
      await reported(world.companyId, [verdict("hard", named!.email)], { returnedMessageId });
      expect(await suppressions(world)).toEqual([{ email: own!.email, kind: "bounced" }]);
      expect([await mailRow(own!.id), await mailRow(named!.id)]).toMatchObject([{ status: 4 }, { status: 2 }]);
      const nobody = await reported(world.companyId, [verdict("hard", null)], { returnedMessageId });
      expect(nobody).toMatchObject([{ result: "bounced", recipient: own!.email, changed: false }]);
    });

    test("several verdicts on one recipient's message count as one: the verdict on the recipient's address counts, otherwise the first that is not ignored", async () => {
      const world = await newWorld(2);
      const [own, exploded] = world.mails;
      await reported(world.companyId, [verdict("hard", "x@mailbox.test"), verdict("soft", own!.email)], {
        returnedMessageId: own!.messageId,
      });
      await reported(world.companyId, [verdict("ignored", "x@mailbox.test"), verdict("block", "y@mailbox.test")], {
        returnedMessageId: exploded!.messageId,
      });
      expect((await events(world)).map(({ recipient, metadata }) => [recipient, metadata.bounce_type])).toEqual([
        [own!.email, "soft"],
        [exploded!.email, "block"],
      ]);
    });

    test("a report with a Message-ID that names an erased copy recipient is unmatched", async () => {
      const world = await newWorld();
      const hash = (await addressHashes()).of(world.companyId, "erased@to.example");
      await query("insert into erased_addresses (company_id, address_hash) values ($1, $2)", [world.companyId, hash]);
      const about = [verdict("hard", "erased@to.example")];
      const taken = await reported(world.companyId, about, { returnedMessageId: world.mails[0]!.messageId });
      expect(taken).toMatchObject([{ result: "unmatched", recipient: null, diagnostic: null }]);
      expect(await events(world)).toEqual([]);
    });

    test("a report that names a copy's address changes only that copy; an unknown address is unmatched if the message has copies", async () => {
      const world = await newWorld(2);
      const [mail, newer] = world.mails;
      const copyStatus = () =>
        query<{ status: number }>("select status from sent_email_copies where company_id = $1", [world.companyId]);
      await query(
        `insert into sent_email_copies (company_id, campaign_id, seq, no, email, kind, status, attempts, sent_at)
         select $1, $2, 1, 0, 'copy@to.example', 'cc', 2, 1, now()`,
        [world.companyId, world.campaignId],
      );
      const returnedMessageId = mail!.messageId;
      const unknown = [verdict("hard", "x@mailbox.test"), verdict("hard", newer!.email), complaint("x@mailbox.test")];
      const taken = await reported(world.companyId, unknown, { returnedMessageId });
      expect(taken.map(({ result }) => result)).toEqual(["unmatched", "unmatched", "unmatched"]);
      expect([await copyStatus(), await events(world)]).toEqual([[{ status: 2 }], []]);
      await reported(world.companyId, [verdict("hard", "copy@to.example")], { returnedMessageId });
      expect(await copyStatus()).toEqual([{ status: 4 }]);
      expect(await mailRow(mail!.id)).toMatchObject({ status: 2 });
      await reported(world.companyId, [verdict("hard", null)], { returnedMessageId });
      expect([await mailRow(mail!.id), await mailRow(newer!.id)]).toMatchObject([{ status: 4 }, { status: 2 }]);
    });
  });

  test("untrusted text is stored without characters that PostgreSQL refuses", async () => {
    const world = await newWorld(2);
    const answers = await Promise.all(
      world.mails.map(async ({ id, email }, n) =>
        ingester.ingest(
          incoming(world.companyId, [verdict("hard", email, n === 0 ? { diagnostic: "\u0000\ud800 odd" } : {})], {
            token: await tokenFor(id),
            raw: Buffer.from("From: x\r\n\r\n\0"),
          }),
        ),
      ),
    );
    expect(answers.map(([one]) => one!.changed)).toEqual([true, true]);
  });

  test("a message in doubt that bounces counts as sent, and its campaign's final status follows the counts", async () => {
    const world = await newWorld();
    const mail = world.mails[0]!;
    await query("update sent_emails set status = 6, sent_at = null, error = 'In doubt.' where campaign_no = $1", [
      world.campaignNo,
    ]);
    await query("update campaigns set status = 'failed', sent_count = 0, failed_count = 1 where id = $1", [
      world.campaignId,
    ]);
    await ingester.ingest(incoming(world.companyId, [verdict("hard", mail.email)], { token: await tokenFor(mail.id) }));
    expect(await mailRow(mail.id)).toMatchObject({ status: 4, sent_at: expect.any(Date) });
    expect(await campaignOf(world)).toEqual({ status: "completed", sent_count: 1, failed_count: 0 });
  });

  test.each([
    ["nothing", true],
    ["a delivery", false],
    ["a year without events", true],
    ["a delivery that is no longer kept", false],
    ["its suppression lifted", false],
  ])("five soft bounces, with %s before the last one, suppress the address: %s", async (between, suppresses) => {
    const world = await newWorld();
    const { email, subscriberId } = world.mails[0]!;
    const setDelivered = (at: string) =>
      query(`update sent_emails set sent_at = ${at} where campaign_no = $1 and seq = 1`, [world.campaignNo]);
    const addSoftBounce = async () => {
      const mails = await query<MailNumber>(
        `insert into sent_emails (campaign_no, seq, subscriber_id, status, attempts, sent_at)
         select $1, coalesce(max(seq), 0) + 1, $2, 2, 1, now() from sent_emails where campaign_no = $1 returning campaign_no, seq`,
        [world.campaignNo, subscriberId],
      );
      const [id] = (await mailIds()).of(mails);
      await ingester.ingest(incoming(world.companyId, [verdict("soft", email)], { token: await tokenFor(id!) }));
    };
    // The message of `newWorld` was delivered earlier than these.
    await setDelivered("now() - interval '2 years'");
    for (let n = 0; n < 4; n++) await addSoftBounce();
    expect(await suppressions(world)).toEqual([]);
    if (between === "a delivery") await setDelivered("now()");
    if (between.startsWith("a year")) {
      await query("update subscribers set soft_bounced_at = now() - interval '1 year' where id = $1", [subscriberId]);
      await query("delete from email_events where company_id = $1", [world.companyId]);
    }
    if (between.endsWith("no longer kept")) {
      await setDelivered("now()");
      await query("update campaigns set updated_at = now() - interval '61 days' where id = $1", [world.campaignId]);
      await query(`update companies set retention_days = '{"sent_emails": 60}' where id = $1`, [world.companyId]);
      await removeOld(app.broker);
      expect(await mailRow(world.mails[0]!.id)).toBeUndefined();
    }
    if (between === "its suppression lifted") {
      const { id } = await suppress(world.companyId, { email, kind: "bounced" });
      await liftSuppression(world.companyId, id);
    }
    await addSoftBounce();
    expect(await suppressions(world)).toEqual(suppresses ? [{ email, kind: "bounced" }] : []);
  });

  test("raw reports are deleted after 30 days; their results stay", async () => {
    const world = await newWorld();
    const kept = [29, 31].map((days) => firstIdAt(Date.now() - days * 86_400_000));
    await query(
      `with raws as (insert into inbound_raws (id, company_id, raw) select id, $1, 'From: a@b.example' from unnest($2::uuid[]) id
         returning id)
       insert into inbound_messages (id, company_id, via, result, raw_id) select id, $1, 'smtp', 'unmatched', id from raws`,
      [world.companyId, kept],
    );
    await app.broker.call("bounces.purge");
    const raws = "select id from inbound_raws where company_id = $1";
    expect(await query(raws, [world.companyId])).toEqual([{ id: kept[0] }]);
    expect(await inbound(world)).toHaveLength(2);
  });

  describe("the bounce guard of a running campaign", () => {
    const stopped: string[] = [];
    let guarding: Ingester;
    beforeAll(() => {
      guarding = startIngester(
        () => {},
        (campaignIds) => stopped.push(...campaignIds),
      );
    });
    afterAll(() => guarding.idle());

    /** Creates a campaign of which 20 of 40 mails were sent. */
    async function newHalfSentCampaign(guard: object): Promise<World> {
      const world = await newWorld(20);
      await query("update companies set guard = $2 where id = $1", [world.companyId, guard]);
      await query("update campaigns set status = 'sending', total_emails = 40 where id = $1", [world.campaignId]);
      return world;
    }
    async function reportBounces({ companyId, mails }: World, kind: Verdict["kind"], from: number, to: number) {
      for (const { id, email } of mails.slice(from, to)) {
        await guarding.ingest(incoming(companyId, [verdict(kind, email)], { token: await tokenFor(id) }));
      }
    }
    const guarded = ({ campaignId }: World) =>
      queryOne<{ error: string | null; hard_bounces: number; complaints: number }>(
        "select error, hard_bounces, complaints from campaigns where id = $1",
        [campaignId],
      );

    test("more hard bounces than the company allows stop it once; owners are notified, and the audit log has an entry", async () => {
      const world = await newHalfSentCampaign({ after: 20 });
      const owner = newId();
      await query("insert into users (id, email, password_hash) values ($1, $2, 'x')", [
        owner,
        `${owner}@acme.example`,
      ]);
      await query("insert into memberships (company_id, user_id, role) values ($1, $2, 'owner')", [
        world.companyId,
        owner,
      ]);
      await reportBounces(world, "hard", 0, 2);
      expect(await guarded(world)).toEqual({ error: null, hard_bounces: 2, complaints: 0 });
      await reportBounces(world, "hard", 2, 3);
      expect((await guarded(world))!.error).toMatch(
        "Stopped by the guard: 3 of 20 mails bounced for good (15 %, more than 10 %).",
      );
      expect(stopped).toContain(world.campaignId);
      const notices = await query<{ data: object }>("select data from system_mails where recipient = $1", [
        `${owner}@acme.example`,
      ]);
      expect(notices).toEqual([
        { data: { company: "Ärger & Söhne", campaign: "News", reason: (await guarded(world))!.error } },
      ]);
      expect(await query("select actor_type, action from audit_log where target = $1", [world.campaignId])).toEqual([
        { actor_type: "system", action: "campaign.stopped" },
      ]);
      expect(await settle(world.campaignId)).toBe(false);
      await reportBounces(world, "hard", 3, 6);
      expect(await query("select from audit_log where target = $1", [world.campaignId])).toHaveLength(1);
    });

    test("complaints count, blocks and soft bounces do not; copies of one report count once", async () => {
      const world = await newHalfSentCampaign({ after: 20, complaint_percent: 5 });
      await reportBounces(world, "soft", 0, 4);
      await reportBounces(world, "block", 4, 8);
      for (let n = 0; n < 3; n++) await reportBounces(world, "complaint", 10, 11);
      expect(await guarded(world)).toEqual({ error: null, hard_bounces: 0, complaints: 1 });
      await reportBounces(world, "complaint", 11, 12);
      expect((await guarded(world))!.error).toMatch("2 of 20 mails were complained about (10 %, more than 5 %)");
    });

    test("bounces of messages sent before a resume do not count", async () => {
      const world = await newHalfSentCampaign({ after: 5 });
      await query(`update campaigns set guard_since = now() - interval '30 minutes', guard_from = 10 where id = $1`, [
        world.campaignId,
      ]);
      await reportBounces(world, "hard", 0, 9);
      expect(await guarded(world)).toEqual({ error: null, hard_bounces: 0, complaints: 0 });
      await query("update sent_emails set sent_at = now() where campaign_no = $1", [world.campaignNo]);
      await reportBounces(world, "hard", 9, 11);
      expect((await guarded(world))!.error).toMatch("2 of 10 mails bounced for good");
    });

    test("forty concurrent reports, some about messages in doubt, are counted one by one", async () => {
      const worlds = await Promise.all([
        newHalfSentCampaign({ hard_bounce_percent: 100 }),
        newHalfSentCampaign({ hard_bounce_percent: 100 }),
      ]);
      for (const { campaignNo } of worlds)
        await query("update sent_emails set status = 6, sent_at = null where campaign_no = $1 and seq <= 5", [
          campaignNo,
        ]);
      const others = startIngester(() => {});
      await Promise.all(
        worlds
          .flatMap(({ companyId, mails }) => mails.map((mail, n) => ({ companyId, n, ...mail })))
          .map(async ({ companyId, id, email, n }) =>
            (n % 2 ? guarding : others).ingest(
              incoming(companyId, [verdict("hard", email)], { token: await tokenFor(id) }),
            ),
          ),
      );
      for (const world of worlds)
        expect(await guarded(world)).toEqual({ error: null, hard_bounces: 20, complaints: 0 });
    });
  });
});
