import { query, queryOne } from "../../../models/database/db.ts";
import { mailOf } from "../../../models/statements/mail-key.ts";
import { call } from "../../../services/call.ts";
import type { Caller } from "../../../services/lib/caller.ts";
import { newId } from "../../../services/lib/ids.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { addressToken } from "../../../services/lib/tokens/link-token.ts";
import { CampaignLinks } from "../../../services/tracking/hits/campaign-links.ts";
import { storeHits } from "../../../services/tracking/hits/store-hits.ts";
import { type App, startApp } from "../../support/app.ts";
import { STORED_EVENTS, storedEvents } from "../../support/stored-events.ts";
import { FIREFOX, http, LINKS, newWorld, token, type World } from "./world.ts";

/** Starts with empty caches. */

let app: App;
beforeAll(async () => {
  app = await startApp({ services: ["tracking"] });
});
afterAll(() => app.stop());

describe("opens and clicks", () => {
  const open = (mailId: string, meta: Caller = http()) =>
    call(app.broker, "tracking.open", { token: token(mailId, 0) }, { meta });
  const click = (mailId: string, link: number, meta: Caller = http()) =>
    call(app.broker, "tracking.click", { token: token(mailId, link) }, { meta });
  const eventsOf = ({ companyId }: World) => storedEvents(companyId);
  const rowOf = async (mailId: string) => {
    const { campaign_no, seq } = await mailOf(mailId);
    return queryOne(
      `select coalesce(opens, 0) as opens, coalesce(clicks, 0) as clicks, opened_at, clicked_at from sent_emails
       where campaign_no = $1 and seq = $2`,
      [campaign_no, seq],
    );
  };
  const analyticsOf = ({ companyId, campaignId }: World) =>
    call(app.broker, "tracking.analytics", { id: campaignId }, { meta: { companyId } });
  /** Ages the clicks so far by a minute. */
  const aMinutePasses = async ({ companyId }: World) => {
    await query("update email_events set created_at = created_at - interval '1 minute' where company_id = $1", [
      companyId,
    ]);
    await query(
      `update hits set id = (lpad(to_hex(hit_ms(id) - 60000), 12, '0') || right(replace(id::text, '-', ''), 20))::uuid
       where company_no = (select no from companies where id = $1)`,
      [companyId],
    );
  };

  test("an open is stored before it is answered; the second one is not the first", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    const answer = await open(id);
    expect(answer.content_type).toBe("image/gif");
    expect(answer.headers?.["cache-control"]).toContain("no-store");
    expect(await eventsOf(world)).toMatchObject([
      { type: "opened", machine: false, is_first: true, metadata: { ip: "192.0.2.7", machine: false } },
    ]);
    await open(id);
    expect((await eventsOf(world)).map(({ is_first }) => is_first)).toEqual([true, false]);
    expect(await rowOf(id)).toMatchObject({ opens: 2, clicks: 0, clicked_at: null });
    expect((await analyticsOf(world)).opens).toEqual({ total: 2, unique: 1, machine: 0 });
  });

  test("a click redirects to its link, is counted, and causes no open", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    expect(await click(id, 1)).toMatchObject({ status: 302, headers: { location: LINKS[0] } });
    expect((await click(id, 2)).headers?.location).toBe(new URL(LINKS[1]!).href);
    await click(id, 1);
    const { opens, clicks, links, timeline } = await analyticsOf(world);
    expect(opens.total).toBe(0);
    expect(clicks).toEqual({ total: 3, unique: 1, machine: 0 });
    expect(links).toEqual([
      { url: LINKS[0], total: 2, unique: 1 },
      { url: LINKS[1], total: 1, unique: 1 },
      { url: LINKS[2], total: 0, unique: 0 },
    ]);
    expect(timeline.map(({ clicks }) => clicks)).toEqual([3]);
    expect((await eventsOf(world))[0]!.metadata.url).toBe(LINKS[0]);
  });

  test("forged, damaged and wrong tokens are 404 and do not redirect", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    const good = token(id, 1);
    const forged = good.slice(0, -1) + (good.endsWith("A") ? "B" : "A");
    const url = addressToken(Buffer.alloc(32), id, 1, "https://evil.example/");
    for (const bad of [forged, url, "x", "", token(id, 0), token(newId(), 1), token(id, LINKS.length + 1)]) {
      await expect(call(app.broker, "tracking.click", { token: bad }, { meta: http() })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    }
    for (const bad of [token(id, 1), token(newId(), 0)]) {
      await expect(call(app.broker, "tracking.open", { token: bad }, { meta: http() })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    }
    expect(await eventsOf(world)).toEqual([]);
  });

  test("an address in a token is followed if it is signed, and http or https", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    const made = (url: string) => addressToken(keysFor("link")[0]!, id, 3, url);
    const answer = await call(
      app.broker,
      "tracking.click",
      { token: made("https://example.org/p?x=ü") },
      { meta: http() },
    );
    expect(answer.headers?.location).toBe("https://example.org/p?x=%C3%BC");
    await expect(
      call(app.broker, "tracking.click", { token: made("javascript:alert(1)") }, { meta: http() }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await analyticsOf(world)).links[2]).toMatchObject({ total: 1 });
  });

  test("HEAD is answered and not counted", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    expect((await click(id, 1, http({ method: "HEAD" }))).headers?.location).toBe(LINKS[0]);
    expect((await open(id, http({ method: "HEAD" }))).content_type).toBe("image/gif");
    expect(await eventsOf(world)).toEqual([]);
  });

  test("hits beyond the limit per address are recorded, and those beyond the limit per message only counted", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    const over = (isRecorded: boolean, more = {}) => http({ overLimit: { retryAfterSeconds: 9, isRecorded }, ...more });
    const refused = { code: "THROTTLED", data: { retryAfterSeconds: 9 } };
    await expect(open(id, over(true))).rejects.toMatchObject(refused);
    expect((await click(id, 1, over(true))).headers?.location).toBe(LINKS[0]);
    expect((await eventsOf(world)).map(({ type }) => type)).toEqual(["opened", "clicked"]);
    for (let n = 0; n < 2; n++) await expect(open(id, over(false))).rejects.toMatchObject(refused);
    expect((await click(id, 1, over(false))).headers?.location).toBe(LINKS[0]);
    // The request uses another company's tracking domain.
    await expect(open(id, over(false, { hostOf: newId() }))).rejects.toMatchObject(refused);
    await expect(open(id, over(false, { method: "HEAD" }))).rejects.toMatchObject(refused);
    expect((await eventsOf(world)).length).toBe(2);
    expect(await analyticsOf(world)).toMatchObject({
      opens: { total: 1, unique: 1, machine: 0 },
      clicks: { total: 1, unique: 1, machine: 0 },
      not_recorded: { opens: 2, clicks: 1 },
    });
  });

  test("UTM parameters are added on redirect, counted or not, and reports keep the original address", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    await query("update campaign_contents set utm = $2 where campaign_id = $1", [
      world.campaignId,
      { source: "news", campaign: "Ä & B" },
    ]);
    const tags = "utm_source=news&utm_campaign=%C3%84%20%26%20B";
    const own = addressToken(keysFor("link")[0]!, id, 3, "https://example.org/p?utm_source=own#top");
    const follow = async (given: Caller) => [
      (await click(id, 1, given)).headers?.location,
      (await call(app.broker, "tracking.click", { token: own }, { meta: given })).headers?.location,
    ];
    const led = [`${LINKS[0]}?${tags}`, "https://example.org/p?utm_source=own&utm_campaign=%C3%84%20%26%20B#top"];
    expect(await follow(http())).toEqual(led);
    expect(await follow(http({ method: "HEAD" }))).toEqual(led);
    expect(await follow(http({ overLimit: { retryAfterSeconds: 9, isRecorded: false } }))).toEqual(led);
    expect((await analyticsOf(world)).links.map(({ url, total }) => [url, total])).toEqual([
      [LINKS[0], 1],
      [LINKS[1], 0],
      [LINKS[2], 1],
    ]);
    expect((await eventsOf(world))[0]!.metadata.url).toBe(LINKS[0]);
  });

  test("machines are separated: Apple's prefetch, scanners, and hits too soon after delivery", async () => {
    const world = await newWorld(2);
    const [mail, fresh] = world.mails;
    const { campaign_no, seq } = await mailOf(fresh!.id);
    await query("update sent_emails set sent_at = now() where campaign_no = $1 and seq = $2", [campaign_no, seq]);
    await open(mail!.id, http({ userAgent: "Mozilla/5.0" }));
    await click(mail!.id, 1, http({ userAgent: "Barracuda Sentinel (EE)" }));
    await open(fresh!.id);
    const { opens, clicks, rates, timeline } = await analyticsOf(world);
    expect(opens).toEqual({ total: 0, unique: 0, machine: 2 });
    expect(clicks).toEqual({ total: 0, unique: 0, machine: 1 });
    expect(rates.open).toBe(0);
    expect(timeline).toEqual([]);
    expect(await rowOf(mail!.id)).toEqual({ opens: 0, clicks: 0, opened_at: null, clicked_at: null });
    expect((await eventsOf(world)).every(({ metadata }) => metadata.machine === true)).toBe(true);
  });

  test("three links within two seconds mark the earlier clicks as a machine's", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    await click(id, 1);
    await click(id, 2);
    expect((await analyticsOf(world)).clicks).toEqual({ total: 2, unique: 1, machine: 0 });
    await click(id, 3);
    const after = await analyticsOf(world);
    expect(after.clicks).toEqual({ total: 0, unique: 0, machine: 3 });
    expect(after.links.every(({ total, unique }) => total === 0 && unique === 0)).toBe(true);
    expect(await rowOf(id)).toMatchObject({ clicks: 0, clicked_at: null });
    await aMinutePasses(world);
    await click(id, 1);
    expect((await analyticsOf(world)).clicks).toEqual({ total: 1, unique: 1, machine: 3 });
    expect((await eventsOf(world)).at(-1)).toMatchObject({ is_first: true, is_first_of_link: true });
  });

  test("a person's click before a burst keeps counting", async () => {
    const world = await newWorld();
    const { id } = world.mails[0]!;
    await click(id, 1);
    const first = (await rowOf(id))!.clicked_at as Date;
    await aMinutePasses(world);
    await Promise.all([click(id, 1), click(id, 2), click(id, 3)]);
    expect((await analyticsOf(world)).clicks).toEqual({ total: 1, unique: 1, machine: 3 });
    const kept = (await rowOf(id))!.clicked_at as Date;
    expect(first.getTime() - kept.getTime()).toBeLessThanOrEqual(60_000);
  });

  test("counters equal a recount from the events, with hundreds of concurrent hits", async () => {
    const world = await newWorld(20);
    const agents = [undefined, "Mozilla/5.0", undefined];
    await Promise.all(
      Array.from({ length: 400 }, (_, n) => {
        const { id } = world.mails[n % 20]!;
        const userAgent = agents[n % 3];
        const meta = http(userAgent ? { userAgent } : {});
        return n % 4 === 0 ? click(id, (n % 2) + 1, meta) : open(id, meta);
      }),
    );
    const [recount] = await query(
      `select count(*) filter (where type = 'opened' and not machine) opens,
         count(distinct (sent_email_id, campaign_no, seq)) filter (where type = 'opened' and not machine) unique_opens,
         count(*) filter (where type = 'opened' and machine) machine_opens,
         count(*) filter (where type = 'clicked' and not machine) clicks,
         count(distinct (sent_email_id, campaign_no, seq)) filter (where type = 'clicked' and not machine) unique_clicks,
         count(*) filter (where type = 'clicked' and machine) machine_clicks,
         count(distinct (sent_email_id, campaign_no, seq, link)) filter (where type = 'clicked' and not machine and link = 1) unique_one
       from ${STORED_EVENTS} x`,
      [world.companyId],
    );
    const { opens, clicks, links, timeline } = await analyticsOf(world);
    expect(recount).toEqual({
      opens: opens.total,
      unique_opens: opens.unique,
      machine_opens: opens.machine,
      clicks: clicks.total,
      unique_clicks: clicks.unique,
      machine_clicks: clicks.machine,
      unique_one: links[0]!.unique,
    });
    expect(opens.total + opens.machine + clicks.total + clicks.machine).toBe(400);
    expect(timeline.reduce((sum, hour) => sum + hour.opens + hour.clicks, 0)).toBe(opens.total + clicks.total);
    const rows = await queryOne(
      `select sum(s.opens)::int opens, sum(s.clicks)::int clicks from campaigns c join sent_emails s on s.campaign_no = c.no
       where c.company_id = $1`,
      [world.companyId],
    );
    expect(rows).toEqual({ opens: opens.total, clicks: clicks.total });
  });

  test("one of ten concurrent opens is stored as first, and none is lost", async () => {
    const world = await newWorld();
    const { id: sentEmailId } = world.mails[0]!;
    const hit = { sentEmailId, link: 0, at: new Date(), userAgent: FIREFOX, ip: "192.0.2.7" };
    await Promise.all(Array.from({ length: 10 }, () => storeHits([hit], new CampaignLinks())));
    expect((await analyticsOf(world)).opens).toEqual({ total: 10, unique: 1, machine: 0 });
    expect((await eventsOf(world)).filter(({ is_first }) => is_first)).toHaveLength(1);
    expect(await rowOf(sentEmailId)).toMatchObject({ opens: 10 });
  });

  test("ten concurrent clicks on different links count as a scanner's, whichever is stored first", async () => {
    const world = await newWorld();
    const { id: sentEmailId } = world.mails[0]!;
    const at = new Date();
    const clicks = Array.from({ length: 9 }, (_, n) => ({
      sentEmailId,
      link: (n % 3) + 1,
      at,
      userAgent: FIREFOX,
      ip: "",
    }));
    await Promise.all(clicks.map((hit) => storeHits([hit], new CampaignLinks())));
    expect((await analyticsOf(world)).clicks).toEqual({ total: 0, unique: 0, machine: 9 });
    expect(await rowOf(sentEmailId)).toMatchObject({ clicks: 0, clicked_at: null });
  });

  const refuse = async (mail: World["mails"][number]) => {
    const { campaign_no, seq } = await mailOf(mail.id);
    await query(`alter table hits add constraint refuse check (campaign_no <> ${campaign_no} or seq <> ${seq})`);
  };
  const refuseNothing = () => query("alter table hits drop constraint refuse");

  test("a hit that cannot be stored is an error", async () => {
    const world = await newWorld();
    await refuse(world.mails[0]!);
    await expect(open(world.mails[0]!.id)).rejects.toThrow();
    await refuseNothing();
    expect(await rowOf(world.mails[0]!.id)).toMatchObject({ opens: 0 });
    await open(world.mails[0]!.id);
  });

  test("a hit that PostgreSQL refuses does not affect others of its batch", async () => {
    const world = await newWorld(9);
    await refuse(world.mails[4]!);
    const answers = await Promise.allSettled(world.mails.map(({ id }, n) => (n % 2 ? click(id, 1) : open(id))));
    await refuseNothing();
    expect(answers.map(({ status }) => status === "rejected")).toEqual(world.mails.map((_, n) => n === 4));
    const { opens, clicks } = await analyticsOf(world);
    expect([opens.total, clicks.total]).toEqual([4, 4]);
  });

  test("events reach the outbox of the company's endpoint", async () => {
    const world = await newWorld();
    await query(
      "insert into webhook_endpoints (id, company_id, url, events, secret_sealed) values ($1, $2, 'https://example.com/', '{clicked}', '')",
      [newId(), world.companyId],
    );
    await open(world.mails[0]!.id);
    await click(world.mails[0]!.id, 1);
    const queued = await query<{ payload: object }>("select payload from webhook_deliveries where company_id = $1", [
      world.companyId,
    ]);
    expect(queued).toMatchObject([
      {
        payload: {
          type: "clicked",
          recipient: world.mails[0]!.email,
          campaign_id: world.campaignId,
          metadata: { url: LINKS[0] },
        },
      },
    ]);
  });
});
