/** Statistics by recipient domain, from rows as sending, readers and bounces leave them. */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { isDatabaseOutage } from "../../../models/database/outage.ts";
import { newId } from "../../../services/lib/ids.ts";
import { domainStats } from "../../../services/tracking/reports/domain-stats.ts";
import { type App, startApp } from "../../support/app.ts";
import { capturePlans, nodesOf } from "../../support/captured-plans.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { asOwner } from "../../support/sending.ts";

let app: App;
beforeAll(async () => {
  app = await startApp({ services: ["gateway", "accounts", "tracking", "renderer"], env: { REGISTRATION: "open" } });
});
afterAll(() => app.stop());

interface Given {
  /** Address of a subscriber, stored with the subscriber only. */
  email?: string;
  /** Address stored in the message's row. */
  own?: string;
  status?: "sent" | "queued" | "failed" | "bounced";
  sentDaysAgo?: number | null;
  opened?: boolean;
  reply?: string;
}

const STATUS = { queued: 0, sent: 2, failed: 3, bounced: 4 };

/** Campaign status that fits its messages, because finished campaigns are not searched. */
const statusOf = (mails: readonly Given[]) => {
  const has = (status: Given["status"]) => mails.some((mail) => mail.status === status);
  return has("queued") ? "sending" : has("failed") ? "partial" : "completed";
};

interface CampaignGiven {
  finishedDaysAgo?: number | null;
}

async function campaign(
  { id: companyId }: Pick<TestCompany, "id">,
  mails: Given[],
  { finishedDaysAgo = 0 }: CampaignGiven = {},
): Promise<void> {
  const made = await queryOne<{ no: number; id: string }>(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, total_emails, next_seq,
       finished_at, no)
     values ($1, $2, 'News', 'to_list', $4, $1, $1, $5::int, $5::int + 1, now() - make_interval(days => $3),
       next_campaign_no()) returning no, id`,
    [newId(), companyId, finishedDaysAgo, statusOf(mails), mails.length],
  );
  for (const [at, { email, own, status = "sent", sentDaysAgo = 0, opened, reply }] of mails.entries()) {
    const subscriberId = email === undefined ? null : newId();
    if (email)
      await query("insert into subscribers (id, company_id, email) values ($1, $2, $3)", [
        subscriberId,
        companyId,
        email,
      ]);
    await query(
      `insert into sent_emails (campaign_no, seq, subscriber_id, email, status, attempts, sent_at, opened_at, smtp_response,
         next_attempt_at)
       values ($1, $2, $3, $4, $5::smallint, 1, now() - make_interval(days => $6), case when $7 then now() end, $8,
         case when $5::smallint = 0 then now() end)`,
      [
        ...[made!.no, at + 1, subscriberId, own ?? null, STATUS[status]],
        ...[status === "sent" || status === "bounced" ? sentDaysAgo : null, opened ?? false, reply ?? null],
      ],
    );
  }
}

const event = ({ id }: Pick<TestCompany, "id">, recipient: string, metadata: object, daysAgo = 0, type = "bounced") =>
  query(
    `insert into email_events (id, company_id, type, recipient, metadata, created_at)
     values (uuid_v7(), $1, $2, $3, $4, now() - make_interval(days => $5))`,
    [id, type, recipient, JSON.stringify(metadata), daysAgo],
  );

const stats = async (company: TestCompany, days?: number) => {
  const { status, body } = await company.api.get("/api/emails/stats/domains/", days ? { query: { days } } : {});
  expect(status).toBe(200);
  return body as Record<string, unknown>[];
};
const NOTHING = { sent: 0, delivered: 0, hard: 0, soft: 0, block: 0, complaints: 0, opens: 0, last_refusal: null };

test("counts by domain, most messages first, whether the address is in the message's row or with the subscriber", async () => {
  const [company, other] = [await newCompany(app), await newCompany(app)];
  await campaign(company, [
    { email: "ann@one.example", opened: true },
    { email: "Bob@ONE.example" },
    { own: "carl@one.example", status: "bounced" },
    { email: "dora@two.example", opened: true },
    // Erased person.
    { own: "" },
  ]);
  await campaign(company, [
    { email: "eve@one.example" },
    { own: "finn@three.example", status: "failed", sentDaysAgo: null },
  ]);
  await campaign(other, [{ email: "ann@one.example" }]);
  await event(company, "carl@one.example", { bounce_type: "hard", diagnostic: "550 5.1.1 No such user" });
  await event(company, "dora@two.example", { bounce_type: "soft", diagnostic: "452 4.2.2 Full" });
  await event(company, "dora@two.example", { diagnostic: "abuse" }, 0, "complained");
  await event(company, "finn@three.example", { bounce_type: "block", diagnostic: "550 5.7.1 Not from you" });
  await event(other, "ann@one.example", { bounce_type: "block", diagnostic: "no" });
  expect(await stats(company)).toEqual([
    {
      domain: "one.example",
      ...NOTHING,
      sent: 4,
      delivered: 3,
      hard: 1,
      opens: 1,
      last_refusal: "550 5.1.1 No such user",
    },
    {
      domain: "two.example",
      ...NOTHING,
      sent: 1,
      delivered: 1,
      soft: 1,
      complaints: 1,
      opens: 1,
      last_refusal: "452 4.2.2 Full",
    },
    { domain: "three.example", ...NOTHING, block: 1, last_refusal: "550 5.7.1 Not from you" },
  ]);
});

test("only events within the given days count", async () => {
  const company = await newCompany(app);
  await campaign(
    company,
    [
      { own: "a@now.example", sentDaysAgo: 3 },
      { own: "b@then.example", sentDaysAgo: 40 },
    ],
    {
      finishedDaysAgo: null,
    },
  );
  await campaign(company, [{ own: "c@then.example", sentDaysAgo: 40 }], { finishedDaysAgo: 40 });
  await event(company, "d@then.example", { bounce_type: "hard", diagnostic: "no" }, 40);
  const domains = async (days?: number) => (await stats(company, days)).map(({ domain, sent }) => [domain, sent]);
  expect(await domains()).toEqual([["now.example", 1]]);
  expect(await domains(2)).toEqual([]);
  expect((await company.api.get("/api/emails/stats/domains/", { query: { days: 0 } })).status).toBe(400);
});

test("small campaigns are selected by their start, whenever they were created", async () => {
  const company = await newCompany(app);
  /** Id created that many days ago. */
  const idOf = (days: number) => {
    const at = (Date.now() - days * 86_400_000).toString(16).padStart(12, "0");
    return `${at.slice(0, 8)}-${at.slice(8)}-7${newId().slice(15)}`;
  };
  const sentTo = async (domain: string, mails: number, { madeDaysAgo = 0, beganDaysAgo = 0 }) => {
    const made = await queryOne<{ no: number }>(
      `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, total_emails, next_seq, no,
         expansion_began_at, finished_at)
       values ($1, $2, 'News', 'to_list', 'completed', $2, $2, $3::int, $3::int + 1, next_campaign_no(),
         now() - make_interval(days => $4), now()) returning no`,
      [idOf(madeDaysAgo), company.id, mails, beganDaysAgo],
    );
    await query(
      `insert into sent_emails (campaign_no, seq, email, status, attempts, sent_at)
       select $1, n, 'a' || n || '@' || $3::text, 2, 1, now() from generate_series(1, $2::int) n`,
      [made!.no, mails, domain],
    );
  };
  for (let n = 0; n < 20; n++) await sentTo("paused.example", 1, { madeDaysAgo: 300, beganDaysAgo: 200 });
  await sentTo("large.example", 150, { madeDaysAgo: 300, beganDaysAgo: 200 });
  await sentTo("before.example", 4, { madeDaysAgo: 20, beganDaysAgo: 20 });
  // The newest of the old campaigns.
  await sentTo("scheduled.example", 3, { madeDaysAgo: 100 });
  await sentTo("now.example", 2, { madeDaysAgo: 20 });
  expect((await stats(company)).map(({ domain, sent }) => [domain, sent])).toEqual([
    ["large.example", 150],
    ["before.example", 4],
    ["scheduled.example", 3],
    ["now.example", 2],
  ]);
});

test("one campaign is counted alone, whenever it was sent; another company's is 404", async () => {
  const [company, other] = [await newCompany(app), await newCompany(app)];
  await campaign(company, [{ own: "a@one.example", sentDaysAgo: 300 }, { own: "b@two.example" }], {
    finishedDaysAgo: 300,
  });
  await campaign(company, [{ own: "c@one.example" }]);
  const ids = await query<{ id: string }>("select id from campaigns where company_id = $1 order by id", [company.id]);
  await event(company, "a@one.example", { bounce_type: "hard", diagnostic: "gone" });
  await query("update email_events set campaign_id = $2 where company_id = $1", [company.id, ids[0]!.id]);
  const of = async (id: string, asker = company) =>
    (await asker.api.get("/api/emails/stats/domains/", { query: { campaign: id, days: 1 } })).body.map(
      ({ domain, sent, hard }: Record<string, unknown>) => [domain, sent, hard],
    );
  expect(await of(ids[0]!.id)).toEqual([
    ["one.example", 1, 1],
    ["two.example", 1, 0],
  ]);
  expect(await of(ids[1]!.id)).toEqual([["one.example", 1, 0]]);
  expect(await of(ids[0]!.id, other)).toEqual([]);
});

test("spellings of a domain count as one", async () => {
  const company = await newCompany(app);
  await campaign(company, [
    { email: "a@bücher.example" },
    { own: "b@BÜCHER.example" },
    { own: "c@xn--bcher-kva.example" },
    { own: "d@Bücher.example", status: "failed" },
  ]);
  await event(company, "d@Bücher.example", { bounce_type: "block", diagnostic: "no" });
  expect(await stats(company)).toEqual([
    { domain: "xn--bcher-kva.example", ...NOTHING, sent: 3, delivered: 3, block: 1, last_refusal: "no" },
  ]);
});

test("a waiting deferral shows the latest refusal; of two texts the later one counts", async () => {
  const company = await newCompany(app);
  await campaign(company, [
    { own: "a@slow.example", status: "queued", reply: "450 4.7.1 Slow down, 100 per minute" },
    { own: "b@fast.example", status: "failed", reply: "554 Older" },
  ]);
  await event(company, "a@slow.example", { bounce_type: "soft", diagnostic: "452 Yesterday's" }, 1);
  await query("update campaigns set finished_at = now() - interval '2 hours' where company_id = $1", [company.id]);
  await event(company, "b@fast.example", { bounce_type: "block", diagnostic: "550 Newer" });
  const refusals = (await stats(company)).map(({ domain, last_refusal }) => [domain, last_refusal]);
  expect(refusals.toSorted()).toEqual([
    ["fast.example", "550 Newer"],
    ["slow.example", "450 4.7.1 Slow down, 100 per minute"],
  ]);
});

test("only the hundred domains with most messages are shown", async () => {
  const company = await newCompany(app);
  const mails = Array.from({ length: 120 }, (_, n) => ({ own: `a@d${String(n).padStart(3, "0")}.example` }));
  await campaign(company, [...mails, { own: "b@d119.example" }, { own: "" }]);
  const shown = await stats(company);
  expect(shown).toHaveLength(100);
  expect(shown[0]).toMatchObject({ domain: "d119.example", sent: 2 });
  expect(shown.at(-1)).toMatchObject({ domain: "d098.example", sent: 1 });
});

test("many messages are sampled in evenly spaced runs, and rare bounces and refusals are exact", async () => {
  const company = await newCompany(app);
  const MAILS = 9_000;
  const made = await queryOne<{ id: string; no: number }>(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, total_emails, next_seq, sent_count, no,
       finished_at)
     values ($1, $2, 'News', 'to_list', 'partial', $2, $2, $3, $3::int + 1, $3::int - 1, next_campaign_no(), now()) returning id, no`,
    [newId(), company.id, MAILS],
  );
  // The first eighth is at one provider, where half are opened; one message was refused by another server.
  await query(
    `insert into sent_emails (campaign_no, seq, email, status, attempts, sent_at, opened_at, smtp_response, error)
     select $1, n, case when n = $2 then 'a@rare.example' when n <= $2 / 8 then n || '@one.example' else n || '@two.example' end,
       case when n = $2 then 3 else 2 end, 1, case when n < $2 then now() end, case when n <= $2 / 8 and n % 2 = 0 then now() end,
       case when n = $2 then '554 Not you' end, case when n = $2 then 'Refused' end
     from generate_series(1, $2::int) n`,
    [made!.no, MAILS],
  );
  await event(company, "b@two.example", { bounce_type: "hard", diagnostic: "550 5.1.1 No such user" });
  await query("update email_events set campaign_id = $2 where company_id = $1", [company.id, made!.id]);
  const exact = await stats(company);
  expect(exact.map(({ domain, sent, opens, estimated }) => [domain, sent, opens, estimated])).toEqual([
    ["two.example", 7_874, 0, undefined],
    ["one.example", 1_125, 562, undefined],
    ["rare.example", 0, 0, undefined],
  ]);
  const settings = { counted: 4_000 };
  for (const asked of [{}, { campaign: made!.id }]) {
    const [two, one, rare] = await domainStats(asOwner(company.id, asked), settings);
    // Tolerates any first run: every fifth run of a hundred is read.
    expect(Math.abs(two!.sent - 7_874)).toBeLessThan(600);
    expect(Math.abs(one!.sent - 1_125)).toBeLessThan(600);
    expect(Math.abs(one!.opens - one!.sent / 2)).toBeLessThanOrEqual(5);
    expect(two).toMatchObject({
      domain: "two.example",
      estimated: true,
      hard: 1,
      last_refusal: "550 5.1.1 No such user",
    });
    expect(rare).toMatchObject({ domain: "rare.example", estimated: true, sent: 0, last_refusal: "554 Not you" });
  }
  const other = await newCompany(app);
  expect(await domainStats(asOwner(other.id, { campaign: made!.id }), { counted: 0 })).toEqual([]);
});

test("each address is found, whether its people are consecutive, few among many, or in another order", async () => {
  const [company, other] = [await newCompany(app), await newCompany(app)];
  // Interleaved with another company's subscribers, who must not be counted.
  await query(
    `insert into subscribers (id, company_id, email)
     select uuid_v7(), case n % 2 when 0 then $1::uuid else $2::uuid end, 'p' || n || '@d' || n % 2 || n % 5 || '.example'
     from generate_series(1, 2400) n`,
    [company.id, other.id],
  );
  const sentTo = (which: string, order: string) =>
    query(
      `with made as (
         insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, total_emails, next_seq, no)
         values (uuid_v7(), $1, 'News', 'to_list', 'completed', $1, $1, 400, 401, next_campaign_no()) returning no)
       insert into sent_emails (campaign_no, seq, subscriber_id, status, attempts, sent_at)
       select no, row_number() over (order by ${order}), id, 2, 1, now() from made, (
         select id, row_number() over (order by id) as n from subscribers where company_id = $1 order by id) p
       where ${which}`,
      [company.id],
    );
  await sentTo("n <= 400", "id");
  await sentTo("n % 3 = 0", "id");
  await sentTo("n > 800", "id desc");
  const counted = await query(
    `select split_part(p.email, '@', 2) as domain, count(*)::int as sent from sent_emails s join subscribers p on p.id = s.subscriber_id
     where p.company_id = $1 group by 1 order by 2 desc, 1`,
    [company.id],
  );
  expect((await stats(company)).map(({ domain, sent }) => ({ domain, sent }))).toEqual(counted);
  expect(counted.reduce((sum, { sent }) => sum + Number(sent), 0)).toBe(1_200);
});

test("many bounces and complaints are sampled, and the newest give the texts", async () => {
  const company = await newCompany(app);
  await campaign(company, [{ own: "a@one.example" }]);
  const many = (type: string, events: number, kind: string) =>
    query(
      `insert into email_events (company_id, type, recipient, metadata)
       select $1, $2, 'a' || n || case when n % 4 = 0 then '@one.example' else '@two.example' end, $4 from generate_series(1, $3::int) n`,
      [company.id, type, events, { bounce_type: kind, diagnostic: `${kind} refusal` }],
    );
  await many("bounced", 2_000, "hard");
  await many("bounced", 2_000, "soft");
  await many("complained", 2_000, "");
  const found = await domainStats(asOwner(company.id, {}), { counted: 1_000 });
  const [one, two] = ["one.example", "two.example"].map((name) => found.find(({ domain }) => domain === name)!);
  // Every eighth and every fourth: five standard deviations of 62, 188, 125 and 375.
  const near = (value: number, expected: number, share: number) =>
    expect(Math.abs(value / expected - 1)).toBeLessThan(share);
  near(one!.hard, 500, 0.6);
  near(two!.hard, 1_500, 0.35);
  near(one!.soft, 500, 0.6);
  near(two!.soft, 1_500, 0.35);
  near(one!.complaints, 500, 0.4);
  near(two!.complaints, 1_500, 0.25);
  expect(two).toMatchObject({ estimated: true, last_refusal: "soft refusal", block: 0 });
  const exact = await domainStats(asOwner(company.id, {}), { counted: 10_000 });
  expect(exact.find(({ domain }) => domain === "two.example")).toMatchObject({
    hard: 1_500,
    soft: 1_500,
    complaints: 1_500,
  });
});

test("thousands of campaigns of one message are sampled together with the large ones", async () => {
  const company = await newCompany(app);
  const RECEIPTS = 4_000;
  await query(
    `with made as (
       insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, total_emails, next_seq,
         sent_count, no, finished_at)
       select uuid_v7(), $1, 'Receipt', 'custom', 'completed', $1, $1, 1, 2, 1, next_campaign_no(), now() from generate_series(1, $2::int)
       returning no),
     large as (
       insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, total_emails, next_seq,
         sent_count, no, finished_at)
       values (uuid_v7(), $1, 'News', 'to_list', 'completed', $1, $1, 1000, 1001, 1000, next_campaign_no(), now()) returning no)
     insert into sent_emails (campaign_no, seq, email, status, attempts, sent_at)
     select no, 1, 'a' || no || '@receipts.example', 2, 1, now() from made
     union all
     select no, n, 'a' || n || '@news.example', 2, 1, now() from large, generate_series(1, 1000) n`,
    [company.id, RECEIPTS],
  );
  await query("analyze campaigns");
  const plans = capturePlans();
  let found: Awaited<ReturnType<typeof domainStats>> = [];
  const nodes = (await plans.of(async () => (found = await domainStats(asOwner(company.id, {}), { counted: 1_000 }))))
    .flatMap(({ root }) => nodesOf(root))
    .filter((node) => node["Relation Name"] === "sent_emails_0" || node["Relation Name"] === "campaigns");
  plans.stop();
  const [receipts, news] = found;
  // Every tenth number in a hundred ranges, together with those of other tests.
  expect(Math.abs(receipts!.sent / RECEIPTS - 1)).toBeLessThan(0.1);
  expect([receipts!.domain, news!.domain, news!.sent]).toEqual(["receipts.example", "news.example", 1_000]);
  expect(nodes.filter((node) => node["Actual Rows"] * node["Actual Loops"] > RECEIPTS / 4)).toEqual([]);
});

test("a statement that takes too long ends like an outage", async () => {
  const company = await newCompany(app);
  const error = await transaction(async (client) => {
    await client.query("lock table sent_emails in access exclusive mode");
    return domainStats(asOwner(company.id, {}), { statementMs: 200 }).catch((reason: unknown) => reason);
  });
  expect(isDatabaseOutage(error)).toBe(true);
});

describe("company overview", () => {
  const today = () => new Date().toISOString().slice(0, 10);
  const overview = async ({ api }: TestCompany, query: object = {}) =>
    (await api.get("/api/emails/stats/", { query: query as Record<string, number> })).body;
  const NO_CAMPAIGNS = { scheduled: 0, pending: 0, sending: 0, completed: 0, partial: 0, failed: 0, cancelled: 0 };
  const NO_MAIL = { sent: 0, delivered: 0, bounced: 0, complained: 0, opens: 0, clicks: 0 };

  test("has a zero for each of the days, today last, for an empty company", async () => {
    const company = await newCompany(app);
    const stats = await overview(company);
    expect(stats.subscribers).toEqual({
      total: 0,
      active: 0,
      unconfirmed: 0,
      unsubscribed: 0,
      bounced: 0,
      complained: 0,
    });
    expect(stats.campaigns).toEqual(NO_CAMPAIGNS);
    expect([stats.growth.length, stats.sending.length]).toEqual([30, 30]);
    expect(stats.sending.at(-1)).toEqual({ date: today(), ...NO_MAIL });
    expect((await overview(company, { days: 2 })).growth.map(({ date }: { date: string }) => date)).toEqual([
      new Date(Date.parse(today()) - 86_400_000).toISOString().slice(0, 10),
      today(),
    ]);
    for (const days of [0, 366, "x"]) {
      expect((await company.api.get("/api/emails/stats/", { query: { days } })).status).toBe(400);
    }
  });

  test("counts people by status, and new and unsubscribed people per day, each once", async () => {
    const [company, other] = [await newCompany(app), await newCompany(app)];
    const add = (status: string, n: number, { id } = company) =>
      query(
        `insert into subscribers (company_id, email, status)
         select $1, $2 || n || '@example.com', $2 from generate_series(1, $3::int) n`,
        [id, status, n],
      );
    const move = (from: string, to: string, n: number) =>
      query(
        `update subscribers set status = $3 where company_id = $1 and id in (
           select id from subscribers where company_id = $1 and status = $2 order by id limit $4)`,
        [company.id, from, to, n],
      );
    for (const [status, n] of Object.entries({
      active: 9,
      unconfirmed: 3,
      unsubscribed: 2,
      bounced: 1,
      complained: 1,
    })) {
      await add(status, n);
    }
    await add("active", 5, other);
    await move("unconfirmed", "active", 2);
    await move("active", "unsubscribed", 3);
    await move("active", "bounced", 2);
    await move("active", "complained", 1);
    // People who had left do not leave again; those who return count as new.
    await move("unsubscribed", "complained", 2);
    await move("unsubscribed", "active", 1);
    await query("update subscribers set first_name = 'x' where company_id = $1", [company.id]);
    // Two people swap states in one statement.
    await query(
      `update subscribers set status = case status when 'bounced' then 'active' else 'bounced' end
       where company_id = $1 and id in (
         (select id from subscribers where company_id = $1 and status = 'bounced' limit 1)
         union all (select id from subscribers where company_id = $1 and status = 'active' limit 1))`,
      [company.id],
    );
    await query(
      `delete from subscribers where company_id = $1 and id = (
         select id from subscribers where company_id = $1 and status = 'complained' limit 1)`,
      [company.id],
    );
    const { subscribers, growth } = await overview(company);
    const statuses = "select status, count(*)::int as n from subscribers where company_id = $1 group by 1";
    const counted = (await query<{ status: string; n: number }>(statuses, [company.id])).map(
      ({ status, n }) => [status, n] as const,
    );
    expect(subscribers).toEqual({ total: 15, ...Object.fromEntries(counted) });
    expect(growth.at(-1)).toEqual({ date: today(), subscribed: 9 + 2 + 1 + 1, unsubscribed: 3 + 1, bounced: 2 + 1 });
  });

  test("counts campaigns by status without internal and deleted ones, and messages by day of sending", async () => {
    const company = await newCompany(app);
    await campaign(company, [{ email: "a@x.example" }]);
    await campaign(company, []);
    const deleted = newId();
    await query(
      `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, is_internal)
       select i, $1, 'x', 'to_list', 'sending', $1, $1, internal from unnest($2::uuid[], $3::bool[]) x (i, internal)`,
      [company.id, [deleted, newId(), newId()], [false, false, true]],
    );
    await query("update campaigns set sent_count = sent_count + 5 where company_id = $1 and status = 'sending'", [
      company.id,
    ]);
    await query("update campaigns set sent_count = sent_count - 1, failed_count = 1 where id = $1", [deleted]);
    await query("update campaigns set deleted_at = now() where id = $1", [deleted]);
    const { campaigns, sending } = await overview(company);
    expect(campaigns).toEqual({ ...NO_CAMPAIGNS, completed: 2, sending: 1 });
    expect(sending.at(-1)).toMatchObject({ sent: 14, delivered: 14 });
  });

  test("counts first opens and clicks of people, bounces and complaints, even after their events were deleted", async () => {
    const company = await newCompany(app);
    const event = (type: string, isFirst: boolean, machine = false) =>
      query(
        `insert into email_events (company_id, campaign_id, type, recipient, is_first, machine, metadata)
         values ($1, $1, $2, 'a@example.com', $3, $4, '{"bounce_type":"hard"}')`,
        [company.id, type, isFirst, machine],
      );
    for (const type of ["opened", "opened", "clicked", "bounced", "complained"]) await event(type, true);
    await event("opened", false);
    await event("opened", false, true);
    await event("unsubscribed", true);
    const expected = { date: today(), ...NO_MAIL, opens: 2, clicks: 1, bounced: 1, complained: 1 };
    expect((await overview(company)).sending.at(-1)).toEqual(expected);
    await query("delete from email_events where company_id = $1", [company.id]);
    expect((await overview(company)).sending.at(-1)).toEqual(expected);
  });
});
