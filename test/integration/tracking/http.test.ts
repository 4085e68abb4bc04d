import { query, queryOne } from "../../../models/database/db.ts";
import { erasedPerson } from "../../../models/statements/erase-person.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, newCompany, someIp } from "../../support/client.ts";
import { storedEvents } from "../../support/stored-events.ts";
import { until } from "../campaigns/world.ts";
import { FIREFOX, http, LINKS, newWorld, token, type World } from "./world.ts";

describe("recipients over HTTP", () => {
  let app: App;
  let world: World;
  let browser: Client;
  beforeAll(async () => {
    app = await startApp({
      services: ["gateway", "accounts", "subscribers", "campaigns", "renderer", "tracking", "webhooks"],
    });
  });
  beforeEach(async () => {
    world = await newWorld();
    browser = client(app, { ip: someIp(), headers: { "user-agent": FIREFOX, accept: "text/html,*/*;q=0.8" } });
  });
  afterAll(() => app.stop());

  const mail = () => world.mails[0]!;
  const pub = (path: string) => `/api/emails/public/${path}`;
  const events = async () => (await storedEvents(world.companyId)).map(({ type, metadata }) => ({ type, metadata }));

  test("the pixel is an image that is not cached, and its event has address and user agent", async () => {
    const { status, headers, bytes } = await browser.get(pub(`open/${token(mail().id, 0)}.gif`), { ip: "203.0.113.9" });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("image/gif");
    expect(headers.get("cache-control")).toContain("no-store");
    expect(bytes.subarray(0, 6).toString()).toBe("GIF89a");
    expect(await events()).toEqual([
      { type: "opened", metadata: { ip: "203.0.113.9", user_agent: FIREFOX, machine: false } },
    ]);
  });

  test("a click is a 302 to the link; HEAD, too, uncounted; a forged one is 404 without a location", async () => {
    const path = pub(`click/${token(mail().id, 1)}/`);
    const head = await browser.request("HEAD", path);
    expect([head.status, head.headers.get("location")]).toEqual([302, LINKS[0]]);
    expect(await events()).toEqual([]);
    const got = await browser.get(path);
    expect([got.status, got.headers.get("location")]).toEqual([302, LINKS[0]]);
    const sent = ["cache-control", "content-type", "content-length", "referrer-policy"].map((name) =>
      got.headers.get(name),
    );
    expect(sent).toEqual(["no-store, max-age=0", "text/plain; charset=utf-8", "0", "no-referrer"]);
    expect(await events()).toMatchObject([{ type: "clicked" }]);
    const forged = await browser.get(path.replace(/.\/$/, (end) => (end === "A/" ? "B/" : "A/")));
    expect([forged.status, forged.headers.get("location")]).toEqual([404, null]);
  });

  test("concurrent hits are stored together: each gets its own answer, also if one is forged or cannot be stored", async () => {
    world = await newWorld(6);
    const [refused] = world.mails;
    await query(`alter table hits add constraint refuse check (campaign_no <> ${world.campaignNo} or seq <> 1)`);
    // Does not use the other tests' client, which fails on every 500.
    const headers = { "user-agent": FIREFOX, "x-forwarded-for": someIp() };
    const get = (path: string) => fetch(new URL(pub(path), app.url), { headers, redirect: "manual" });
    const opened = world.mails.map(({ id }) => get(`open/${token(id, 0)}.gif`));
    const clicked = world.mails.map(({ id }, n) => get(`click/${token(id, (n % 3) + 1)}/`));
    const forged = get(`open/${token(newId(), 0)}.gif`);
    const mistaken = get(`open/${token(refused!.id, 1)}.gif`);
    expect((await Promise.all(opened)).map(({ status }) => status)).toEqual([500, 200, 200, 200, 200, 200]);
    const locations = (await Promise.all(clicked)).map(({ headers }) => headers.get("location"));
    expect(locations).toEqual([0, 1, 2, 0, 1, 2].map((n, at) => (at === 0 ? null : new URL(LINKS[n]!).href)));
    expect([(await forged).status, (await mistaken).status]).toEqual([404, 404]);
    await query("alter table hits drop constraint refuse");
    expect(await events()).toHaveLength(10);
  });

  test("beyond 60 per minute the pixel is 429 and a click redirects uncounted", async () => {
    const tired = client(app, { ip: someIp(), headers: { "user-agent": FIREFOX } });
    for (let i = 0; i < 60; i++) await tired.get(pub(`open/${token(mail().id, 0)}.gif`));
    const refused = await tired.get(pub(`open/${token(mail().id, 0)}.gif`));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await tired.get(pub(`click/${token(mail().id, 1)}/`))).headers.get("location")).toBe(LINKS[0]);
    expect(await events()).toHaveLength(60);
  });

  test("one-click unsubscribe accepts every form that mailbox providers send, without a redirect", async () => {
    const multipart = new FormData();
    multipart.set("List-Unsubscribe", "One-Click");
    const bodies: [unknown, Record<string, string>][] = [
      [new URLSearchParams({ "List-Unsubscribe": "One-Click" }), { "user-agent": "" }],
      [multipart, { "user-agent": "Java/1.8" }],
      [{ "List-Unsubscribe": "One-Click" }, { "user-agent": "curl/8" }],
      [undefined, {}],
      ["List-Unsubscribe=One-Click", { "content-type": "text/plain" }],
    ];
    for (const [body, headers] of bodies) {
      world = await newWorld();
      const answer = await client(app, { ip: "198.51.100.1" }).post(pub(`unsubscribe/${mail().id}/`), body as object, {
        headers,
      });
      expect(answer.status).toBe(200);
      expect(await events()).toMatchObject([{ type: "unsubscribed", metadata: { method: "one_click" } }]);
    }
  });

  test("the unsubscribe page has a form that works", async () => {
    const path = pub(`unsubscribe/${mail().id}/`);
    const page = await browser.get(path, { headers: { "accept-language": "de" } });
    expect(page.text).toContain('<html lang="de" dir="ltr">');
    expect(page.headers.get("content-security-policy")).toContain("style-src 'sha256-");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("set-cookie")).toBeNull();
    const [, name, value] = /<input type="hidden" name="(\w+)" value="(\w+)">/.exec(page.text)!;
    const done = await browser.post(path, new URLSearchParams({ [name!]: value! }));
    expect([done.status, done.text.includes("You are unsubscribed")]).toEqual([200, true]);
    expect(await events()).toMatchObject([{ metadata: { method: "page" } }]);
    expect((await browser.get(pub(`unsubscribe/${newId()}/`))).status).toBe(404);
    expect((await client(app).post(pub("unsubscribe/nonsense/"))).status).toBe(404);
  });

  test("a one-click for an unknown message is 200, and nothing is recorded", async () => {
    const path = pub(`unsubscribe/${newId()}/`);
    const oneClick = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
    const page = await client(app).post(path, oneClick);
    expect([page.status, page.text.includes("You are unsubscribed")]).toEqual([200, false]);
    const answer = await client(app, { headers: { accept: "application/json" } }).post(path, oneClick);
    expect([answer.status, answer.body]).toEqual([200, { detail: "This link belongs to nobody who gets emails." }]);
    expect(await events()).toEqual([]);
  });

  test("preferences can be read as page and JSON, and changed by PUT and the page's form", async () => {
    const path = pub(`preferences/${personToken("preferences", world.companyId, mail().subscriberId)}/`);
    const listId = newId();
    await query("insert into lists (id, company_id, name, visibility) values ($1, $2, 'Offers', 'public')", [
      listId,
      world.companyId,
    ]);
    await query("insert into list_members (company_id, list_id, subscriber_id) values ($1, $2, $3)", [
      world.companyId,
      listId,
      mail().subscriberId,
    ]);
    const program = client(app, { headers: { accept: "application/json" } });
    const { body } = await program.get(path);
    expect(body).toMatchObject({
      email: mail().email,
      subscribed: true,
      lists: [{ id: listId, name: "Offers", subscribed: true }],
    });
    const put = await program.put(path, {
      ...body,
      first_name: "Bea",
      lists: [{ ...body.lists[0], subscribed: false }],
    });
    expect(put.body).toMatchObject({ first_name: "Bea", subscribed: true, lists: [{ subscribed: false }] });
    expect((await program.put(path, { first_name: 7, lists: "x" })).body).toEqual({
      first_name: ["Not a valid string."],
      lists: ['Expected a list of items but got type "str".'],
    });
    expect((await browser.get(path)).text).toContain('value="Bea"');
    const form = new URLSearchParams({ from: "page", first_name: "Cleo", last_name: "", subscribed: "on" });
    form.append("list", listId);
    expect((await browser.post(path, form)).text).toContain("Your preferences are saved.");
    expect((await program.get(path)).body).toMatchObject({
      first_name: "Cleo",
      subscribed: true,
      lists: [{ subscribed: true }],
    });
    expect((await program.get(pub("preferences/nonsense/"))).status).toBe(404);
  });

  test("double opt-in is confirmed by the page's button; an expired link is 410", async () => {
    await query("update subscribers set status = 'unconfirmed' where company_id = $1", [world.companyId]);
    const made = (ms: number) =>
      pub(`confirm/${personToken("confirm", world.companyId, mail().subscriberId, new Date(Date.now() + ms))}/`);
    expect((await browser.get(made(60_000))).text).toContain("Yes, subscribe me");
    expect((await browser.post(made(60_000), new URLSearchParams())).text).toContain("confirmed");
    const row = await queryOne("select status from subscribers where id = $1", [mail().subscriberId]);
    expect(row).toEqual({ status: "active" });
    expect((await browser.get(made(-60_000))).status).toBe(410);
    expect((await client(app).post(made(-60_000), {}, { headers: { accept: "application/json" } })).status).toBe(410);
    expect((await browser.get(pub("confirm/nonsense/"))).status).toBe(404);
  });

  test("view in browser shows the recipient's own rendering, without scripts", async () => {
    const { status, headers, text } = await browser.get(pub(`view/${mail().id}/`));
    expect(status).toBe(200);
    expect(text).toContain("https://example.com/one");
    expect(text).not.toContain("/public/open/");
    expect(text).not.toContain("/public/click/");
    expect(headers.get("content-security-policy")).toContain("sandbox");
    expect((await browser.get(pub(`view/${newId()}/`))).status).toBe(404);
  });

  test("webhook endpoints are a resource with errors, a secret shown once, and the plan's feature", async () => {
    const company = await newCompany(app);
    const hooks = "/api/emails/webhook-endpoints/";
    expect((await company.api.post(hooks, {})).body).toEqual({
      url: ["This field is required."],
      events: ["This field is required."],
    });
    expect(
      (await company.api.post(hooks, { url: "https://a:b@example.com/", events: ["opened", "nope"] })).body,
    ).toMatchObject({
      url: ["The URL must not contain a user name or password."],
      events: [expect.stringContaining('"nope" is not a valid choice.')],
    });
    expect((await company.api.post(hooks, { url: "https://example.com/", events: [] })).body).toHaveProperty("events");
    const made = await company.api.post(hooks, { url: "http://127.0.0.1:9/", events: ["opened", "opened"] });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      events: ["opened"],
      disabled_at: null,
      secret: expect.stringMatching(/^whsec_/),
    });
    const one = `${hooks}${made.body.id}/`;
    expect((await company.api.get(one)).body).not.toHaveProperty("secret");
    expect((await company.api.put(one, { url: "https://example.com/x", events: ["clicked"] })).body).toMatchObject({
      events: ["clicked"],
    });
    expect((await company.api.put(one, { url: "https://example.com/x" })).status).toBe(400);
    expect((await company.api.get(hooks)).body).toMatchObject({ count: 1, results: [{ id: made.body.id }] });
    expect((await company.api.post(`${one}test/`)).body).toMatchObject({ status: "pending" });
    expect((await company.api.get(`${one}deliveries/`)).body).toMatchObject({ count: 1 });
    expect((await company.api.post(`${one}rotate-secret/`)).body.secret).not.toBe(made.body.secret);
    const stranger = await newCompany(app);
    await call(app.broker, "accounts.setPlan", { company_id: stranger.id, plan: "starter" });
    for (const [method, path] of [
      ["GET", one],
      ["PUT", one],
      ["DELETE", one],
      ["GET", `${one}deliveries/`],
      ["POST", `${one}rotate-secret/`],
    ] as const) {
      const answer = await stranger.api.request(
        method,
        path,
        method === "PUT" ? { url: "https://example.com/", events: ["opened"] } : undefined,
      );
      expect([403, 404]).toContain(answer.status);
    }
    expect((await stranger.api.post(hooks, { url: "nonsense" })).body).toMatchObject({
      detail: { code: "feature_not_available", feature: "webhooks", package: "starter" },
    });
    expect((await company.api.delete(one)).status).toBe(204);
    expect((await company.api.get(one)).status).toBe(404);
  });

  test("the lists over HTTP check their filters, and pages follow each other", async () => {
    const company = await newCompany(app);
    for (const path of ["sent-emails/", "events/"]) {
      expect((await company.api.get(`/api/emails/${path}`)).body).toEqual({
        count: 0,
        next: null,
        previous: null,
        results: [],
      });
      expect((await company.api.get(`/api/emails/${path}`, { query: { campaign: "x" } })).body).toEqual({
        campaign: ["Must be a valid UUID."],
      });
      expect((await company.api.get(`/api/emails/${path}`, { query: { page: 2 } })).status).toBe(404);
      expect((await company.api.get(`/api/emails/${path}`, { query: { ordering: "nope" } })).status).toBe(400);
    }
    expect((await company.api.get("/api/emails/events/", { query: { since: "yesterday" } })).body).toHaveProperty(
      "since",
    );
    expect((await company.api.get(`/api/emails/campaigns/${world.campaignId}/analytics/`)).status).toBe(404);
  });

  describe("the archive of a list", () => {
    let listId: string;
    const at = (more = "", list = listId) => pub(`archive/${list}/${more}`);
    const MAIL = `<!doctype html><html lang="en"><body><p>Dear [[first_name|default:reader]] [[email]]!</p>
<p>[[#if city]]In [[city]][[#else]]Everywhere[[/if]] [[plan]] <a href="https://example.com/one">One</a></p>
<p><a href="[[unsubscribe_url]]">Off</a> <a href="[[preferences_url]]">Choose</a> <a href="[[view_in_browser_url]]">View</a></p>
<script>alert(1)</script></body></html>`;
    const FOR_NOBODY = "00000000-0000-7000-8000-000000000000";

    beforeEach(async () => {
      listId = newId();
      await query(
        `insert into lists (id, company_id, name, visibility, public_name, public_description, archive)
         values ($1, $2, 'news-2026-b', 'public', 'News & <more>', 'Once a month', true)`,
        [listId, world.companyId],
      );
    });

    /** Sent `daysAgo`; the newest has the highest number. */
    async function campaign(
      subject: string,
      { daysAgo = 1, ...columns }: { daysAgo?: number; [column: string]: unknown } = {},
    ): Promise<string> {
      const { campaignId } = await newWorld(0, { id: world.companyId });
      const set = { list_id: listId, started_at: new Date(Date.now() - daysAgo * 86_400_000), ...columns };
      const names = Object.keys(set).map((name, n) => `${name} = $${n + 2}`);
      await query(`update campaigns set ${names.join(", ")} where id = $1`, [campaignId, ...Object.values(set)]);
      await query("update campaign_contents set subject = $2, body = $3 where campaign_id = $1", [
        campaignId,
        subject,
        MAIL,
      ]);
      return campaignId;
    }
    const shown = (text: string) => [...text.matchAll(/<bdi>(.*?)<\/bdi>/g)].map(([, title]) => title);

    test("shows completed and partial campaigns to the list, newest first, and nothing else", async () => {
      await campaign("Second", { daysAgo: 2 });
      await campaign("Third [[first_name]]", { daysAgo: 1, status: "partial" });
      await campaign("First", { daysAgo: 3 });
      // The service itself ends running campaigns; with an error they end as failed.
      for (const status of ["pending", "sending", "scheduled", "failed", "cancelled"])
        await campaign(status, { status, error: "Stopped", scheduled_for: new Date(Date.now() + 86_400_000) });
      await campaign("To receivers", { campaign_type: "to_receivers" });
      await campaign("Another list", { list_id: newId() });
      await campaign("A receipt", { is_transactional: true });
      await campaign("Deleted", { deleted_at: new Date() });
      const { status, headers, text } = await browser.get(at());
      expect([status, shown(text)]).toEqual([200, ["Third", "Second", "First"]]);
      expect(text).toContain('<h1 dir="auto">News &amp; &lt;more&gt;</h1>');
      expect(text).toContain("Once a month");
      expect(text).not.toMatch(/news-2026-b|noindex/);
      expect(headers.get("cache-control")).toBe("public, max-age=60");
      expect(headers.get("vary")).toMatch(/Accept-Language/);
    });

    test("shows an anonymous campaign: no personal values, recipient links, scripts or tracking", async () => {
      const id = await campaign("Hello [[first_name|default:reader]]");
      const { status, headers, text } = await browser.get(at(`${id}/`));
      expect(status).toBe(200);
      expect(text).toContain("<p>Dear reader !</p>");
      expect(text).toContain('<p>Everywhere  <a href="https://example.com/one">One</a></p>');
      const [off, choose, view] = [...text.matchAll(/href="([^"]*)">(?:Off|Choose|View)/g)].map(([, url]) => url!);
      expect([off, choose]).toEqual([off, off]);
      expect(new URL(off!).pathname).toBe(at());
      expect(new URL(view!).pathname).toBe(at(`${id}/`));
      expect(text).not.toMatch(/unsubscribe|\/open\/|\/click\//);
      expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*sandbox/);
      expect(headers.get("content-security-policy")).not.toContain("allow-scripts");
      expect(headers.get("set-cookie")).toBeNull();
    });

    test("adds no footer with an unsubscribe link to a body without one", async () => {
      const id = await campaign("Plain");
      await query("update campaign_contents set body = '<p>Only this</p>' where campaign_id = $1", [id]);
      expect((await browser.get(at(`${id}/`))).text).toMatch(/^(?!.*unsubscribe).*<p>Only this<\/p>$/s);
    });

    test("has an RSS 2.0 feed in which each item links to its own page", async () => {
      await query("update companies set name = 'Ärger & \u0001Söhne' where id = $1", [world.companyId]);
      const older = await campaign("Second ]]> <b>&amp;", { daysAgo: 2 });
      const newer = await campaign("", { daysAgo: 1 });
      const { status, headers, text } = await browser.get(at("feed.xml"));
      expect([status, headers.get("content-type")]).toEqual([200, "application/rss+xml; charset=utf-8"]);
      const [head, ...items] = text.split("<item>");
      const of = (part: string, name: string) => new RegExp(`<${name}\\b[^>]*>([^<]*)</${name}>`).exec(part)?.[1];
      expect(head).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<rss version="2.0"/);
      expect(of(head!, "title")).toBe("News &amp; &lt;more&gt; – Ärger &amp; Söhne");
      expect(of(head!, "description")).toBe("Once a month");
      expect(new URL(of(head!, "link")!).pathname).toBe(at());
      expect(items.map((item) => of(item, "title"))).toEqual([
        "News &amp; &lt;more&gt;",
        "Second ]]&gt; &lt;b&gt;&amp;amp;",
      ]);
      const links = items.map((item) => of(item, "link")!);
      expect(links.map((link) => new URL(link).pathname)).toEqual([at(`${newer}/`), at(`${older}/`)]);
      expect(items.map((item) => of(item, "guid"))).toEqual(links);
      for (const item of items) {
        expect(of(item, "pubDate")).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/);
      }
      for (const link of links) expect((await browser.get(link)).status).toBe(200);
      expect((await browser.get(at())).text).toContain(
        'type="application/rss+xml" title="News &amp; &lt;more&gt;" href="feed.xml"',
      );
    });

    test("is 404 for page, feed and campaigns of a list that is private, without archive, missing or of a deleted company", async () => {
      const id = await campaign("Once");
      const all = (list = listId) =>
        Promise.all(["", "feed.xml", `${id}/`].map(async (more) => (await browser.get(at(more, list))).status));
      expect(await all()).toEqual([200, 200, 200]);
      expect(await all(newId())).toEqual([404, 404, 404]);
      const set = (sql: string, of = listId) => query(`update ${sql} where id = $1`, [of]);
      for (const [off, on] of [
        ["lists set archive = false", "lists set archive = true"],
        ["lists set visibility = 'private'", "lists set visibility = 'public'"],
      ] as const) {
        await set(off);
        expect(await all()).toEqual([404, 404, 404]);
        await set(on);
      }
      await set("companies set deleted_at = now()", world.companyId);
      expect(await all()).toEqual([404, 404, 404]);
    });

    test("loses a deleted campaign at once although cached, and never shows other companies' ones", async () => {
      const id = await campaign("Gone");
      expect((await browser.get(at(`${id}/`))).status).toBe(200);
      // Cached: its contents are not read again.
      await query("update campaign_contents set body = 'other', subject = 'other' where campaign_id = $1", [id]);
      expect((await browser.get(at(`${id}/`))).text).toContain("Dear reader");
      await query("update campaigns set deleted_at = now() where id = $1", [id]);
      expect((await browser.get(at(`${id}/`))).status).toBe(404);
      expect(shown((await browser.get(at())).text)).toEqual([]);
      const other = await newWorld();
      await query("update campaigns set list_id = $2 where id = $1", [other.campaignId, listId]);
      expect((await browser.get(at(`${other.campaignId}/`))).status).toBe(404);
      expect(shown((await browser.get(at())).text)).toEqual([]);
    });

    test("is revalidated by ETag: 304 without a body until something changes", async () => {
      const id = await campaign("One");
      for (const more of ["", "feed.xml", `${id}/`]) {
        const { headers } = await browser.get(at(more));
        const again = await browser.get(at(more), { headers: { "if-none-match": headers.get("etag")! } });
        expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", headers.get("etag")]);
      }
      const { headers } = await browser.get(at());
      await campaign("Two");
      expect((await browser.get(at(), { headers: { "if-none-match": headers.get("etag")! } })).status).toBe(200);
    });

    test("has 20 per page; an invalid page is a 404 page for people", async () => {
      const insert = `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, list_id,
          started_at, expanded_at)
        select gen_random_uuid(), $1, 'n', 'to_list', 'completed', $3, $3, $2, now() - n * interval '1 hour', now()
        from generate_series(1, 45) n returning id`;
      await query(insert, [world.companyId, listId, FOR_NOBODY]);
      const read = async (page: string) => browser.get(at(`?page=${page}`));
      const [first, second, third] = [(await read("1")).text, (await read("2")).text, (await read("3")).text];
      expect([first, second, third].map((text) => shown(text).length)).toEqual([20, 20, 5]);
      // Campaigns without contents are titled with the list's name.
      expect(shown(third)).toEqual(Array(5).fill("News &amp; &lt;more&gt;"));
      expect(new Set([first, second, third].flatMap((text) => text.match(/href="[\w-]{36}\/"/g))).size).toBe(45);
      expect([first.includes('rel="prev"'), first.includes('href="?page=2"')]).toEqual([false, true]);
      expect([third.includes('href="?page=2"'), third.includes('rel="next"')]).toEqual([true, false]);
      for (const none of ["4", "0", "-1", "501", "1e9", "two", "99999999999999999999"]) {
        const { status, headers } = await read(none);
        expect([none, status, headers.get("content-type")]).toEqual([none, 404, "text/html; charset=utf-8"]);
      }
    });

    test("is served on the company's own host, and on no other company's", async () => {
      const id = await campaign("One");
      const other = await newWorld();
      const asked = { list_id: listId, campaign_id: id };
      const on = (hostOf: string) => ({ meta: http({ hostOf, accept: "application/json" }) });
      for (const action of ["tracking.archivePage", "tracking.archiveFeed", "tracking.archivedIssue"] as const) {
        expect(await call(app.broker, action, asked, on(world.companyId))).toMatchObject({ body: expect.any(String) });
        await expect(call(app.broker, action, asked, on(other.companyId))).rejects.toMatchObject({ code: "NOT_FOUND" });
      }
    });
  });

  describe("a change of address", () => {
    const NEW = "new@elsewhere.example";
    const json = { headers: { accept: "application/json" } };
    beforeEach(() =>
      query(
        `insert into smtp_configs (id, company_id, name, host, port, sender_email)
         values (uuid_v7(), $1, 'S', 'localhost', 25, 'news@acme.example')`,
        [world.companyId],
      ),
    );

    const preferencesOf = (subscriberId: string) =>
      pub(`preferences/${personToken("preferences", world.companyId, subscriberId)}/`);
    const ask = (email: unknown, subscriberId = mail().subscriberId) =>
      browser.put(preferencesOf(subscriberId), { email }, json);
    const person = (subscriberId = mail().subscriberId) =>
      queryOne<{ email: string; status: string; first_name: string }>(
        "select email, status, first_name from subscribers where company_id = $1 and id = $2",
        [world.companyId, subscriberId],
      );
    const changes = () =>
      query<{ email: string }>("select email from address_changes where company_id = $1", [world.companyId]);
    const links = () =>
      query<{ email: string; url: string; subject: string; subscriber_id: null }>(
        `select e.email, e.variables->>'confirm_url' as url, t.subject, e.subscriber_id
         from campaigns c join sent_emails e on e.campaign_no = c.no join campaign_contents t on t.campaign_id = c.id
         where c.company_id = $1 and c.is_internal order by c.id`,
        [world.companyId],
      );
    /** Path of the link sent to the address. */
    async function mailedTo(email: string): Promise<string> {
      const found = await until(
        async () => (await links()).findLast((link) => link.email === email),
        (link) => link !== undefined,
      );
      return new URL(found!.url).pathname;
    }
    const block = (email: string, kind: string) =>
      query("insert into suppressions (company_id, email, kind) values ($1, $2, $3)", [world.companyId, email, kind]);
    const blocks = async () =>
      (
        await query<{ email: string; kind: string }>(
          "select email, kind from suppressions where company_id = $1 order by email",
          [world.companyId],
        )
      ).map(({ email, kind }) => `${kind} ${email}`);
    const setStatus = (status: string) =>
      query("update subscribers set status = $3 where company_id = $1 and id = $2", [
        world.companyId,
        mail().subscriberId,
        status,
      ]);

    test("takes effect on confirmation from the new mailbox; until then the old one stays, and id, names and lists do, too", async () => {
      const listId = newId();
      await query("insert into lists (id, company_id, name) values ($1, $2, 'L')", [listId, world.companyId]);
      await query("insert into list_members (company_id, list_id, subscriber_id) values ($1, $2, $3)", [
        world.companyId,
        listId,
        mail().subscriberId,
      ]);
      const asked = await browser.put(
        preferencesOf(mail().subscriberId),
        { email: ` ${NEW} `, last_name: "Lee" },
        { headers: { accept: "application/json", "accept-language": "de" } },
      );
      expect(asked).toMatchObject({ status: 200, body: { email: mail().email, last_name: "Lee" } });
      const path = await mailedTo(NEW);
      expect(await links()).toMatchObject([{ subscriber_id: null, subject: expect.stringContaining("neue Adresse") }]);
      const page = await browser.get(path);
      expect([page.status, page.text.includes(NEW)]).toEqual([200, true]);
      expect(await person()).toMatchObject({ email: mail().email });

      const done = await browser.post(path, undefined, json);
      expect(done).toMatchObject({ status: 200, body: { detail: "Address changed.", email: NEW } });
      expect(await person()).toEqual({ email: NEW, status: "active", first_name: "Ann" });
      const lists = "select list_id from list_members where company_id = $1 and subscriber_id = $2";
      expect(await query(lists, [world.companyId, mail().subscriberId])).toEqual([{ list_id: listId }]);
      expect(
        await queryOne("select email from sent_emails where campaign_no = $1 and seq = 1", [world.campaignNo]),
      ).toEqual({
        email: mail().email,
      });
      for (const again of [await browser.get(path), await browser.post(path, undefined, json)]) {
        expect(again.status).toBe(410);
      }
      expect((await browser.get(path.replace(/.{3}\/$/, "AAA/"))).status).toBe(404);
    });

    test("can be requested in the page's form, which announces a link", async () => {
      const path = preferencesOf(mail().subscriberId);
      expect((await browser.get(path)).text).toContain(`name="email" value="${mail().email}"`);
      const form = (email: string) =>
        browser.post(path, new URLSearchParams({ from: "page", subscribed: "on", email }));
      expect((await form(mail().email)).text).not.toContain("To confirm the new address");
      const page = await form(NEW);
      expect(page.text).toContain("To confirm the new address");
      expect(page.text).toContain(`name="email" value="${mail().email}"`);
      expect((await form("nobody")).status).toBe(400);
      const changed = await browser.post(await mailedTo(NEW));
      expect([changed.status, changed.text.includes("Your address has been changed")]).toEqual([200, true]);
    });

    test("is 400 with an invalid address; the current one, or an unavailable one, gets the same response and nothing is sent", async () => {
      for (const email of ["", "nobody", "a@", null, 7]) {
        const refused = await ask(email);
        expect([refused.status, Object.keys(refused.body)]).toEqual([400, ["email"]]);
      }
      const other = { id: newId(), email: "Taken@elsewhere.example" };
      await query("insert into subscribers (id, company_id, email) values ($1, $2, $3)", [
        other.id,
        world.companyId,
        other.email,
      ]);
      for (const kind of ["bounced", "complained", "manual"]) await block(`${kind}@elsewhere.example`, kind);
      const plain = await browser.put(preferencesOf(mail().subscriberId), {}, json);
      const unusable = ["taken@elsewhere.example", mail().email.toUpperCase(), "bounced@elsewhere.example"];
      for (const email of [...unusable, "complained@elsewhere.example", "manual@elsewhere.example"]) {
        const began = performance.now();
        const answer = await ask(email);
        expect([answer.status, answer.body]).toEqual([200, plain.body]);
        // Responses take a fixed time; timers may fire a millisecond early.
        expect(performance.now() - began).toBeGreaterThan(48);
      }
      await setStatus("complained");
      expect((await ask(NEW)).body).toMatchObject({ email: mail().email });
      await setStatus("active");
      await block(mail().email, "manual");
      expect((await ask(NEW)).status).toBe(200);
      expect([await changes(), await links()]).toEqual([[], []]);
    });

    test("sends a mailbox one confirmation in 24 hours, whoever requests it, and a subscriber may try three mailboxes", async () => {
      const other = newId();
      await query("insert into subscribers (id, company_id, email) values ($1, $2, 'other@example.com')", [
        other,
        world.companyId,
      ]);
      await ask(NEW);
      const path = await mailedTo(NEW);
      await ask("New@Elsewhere.example");
      await ask(NEW, other);
      await query("update companies set double_opt_in = true where id = $1", [world.companyId]);
      const form = { email: NEW };
      expect((await browser.post(pub(`subscribe/${world.companyId}/`), form, { ip: someIp() })).status).toBe(201);
      expect(await query("select from unsent_confirmations where company_id = $1", [world.companyId])).toEqual([]);
      for (const n of [2, 3, 4]) await ask(`new${n}@elsewhere.example`);
      const mailboxes = [NEW, "new2@elsewhere.example", "new3@elsewhere.example"];
      expect(new Set((await changes()).map(({ email }) => email))).toEqual(new Set(mailboxes));
      expect((await links()).filter(({ email }) => email === NEW)).toHaveLength(1);

      // The address belongs to a subscriber by now.
      expect((await browser.post(path, undefined, json)).status).toBe(410);
      expect(await person()).toMatchObject({ email: mail().email });
      await query("delete from subscribers where company_id = $1 and email = $2", [world.companyId, NEW]);
      const second = await mailedTo("new2@elsewhere.example");
      expect((await browser.post(path, undefined, json)).status).toBe(200);
      expect((await browser.post(second, undefined, json)).status).toBe(410);
      await ask("new2@elsewhere.example");
      expect((await links()).filter(({ email }) => email === "new2@elsewhere.example")).toHaveLength(1);
      await query("update address_changes set asked_at = asked_at - interval '25 hours' where company_id = $1", [
        world.companyId,
      ]);
      await ask("new2@elsewhere.example");
      const third = await until(
        () => mailedTo("new2@elsewhere.example"),
        (path) => path !== second,
      );
      await query("update address_changes set asked_at = asked_at - interval '8 days' where company_id = $1", [
        world.companyId,
      ]);
      expect((await browser.post(third, undefined, json)).status).toBe(410);
    });

    test("sends another confirmation to a mailbox that confirms a subscription", async () => {
      await ask(NEW);
      await mailedTo(NEW);
      await query("update companies set double_opt_in = true where id = $1", [world.companyId]);
      await browser.post(pub(`subscribe/${world.companyId}/`), { email: NEW }, { ip: someIp() });
      const [subscriber] = await query<{ id: string }>(
        "select id from subscribers where company_id = $1 and email = $2",
        [world.companyId, NEW],
      );
      const soon = new Date(Date.now() + 60_000);
      const path = pub(`confirm/${personToken("confirm", world.companyId, subscriber!.id, soon)}/`);
      expect((await browser.post(path, undefined, json)).status).toBe(200);
      expect(await changes()).toEqual([]);
    });

    test.each([
      [
        "who unsubscribed stays so, at both addresses",
        "unsubscribed",
        ["unsubscribed"],
        [],
        "unsubscribed",
        ["unsubscribed OLD", "unsubscribed NEW"],
      ],
      ["who is active lifts an unsubscribe of the new mailbox", "active", [], ["unsubscribed"], "active", []],
      ["who bounced is active", "bounced", ["bounced"], [], "active", ["bounced OLD"]],
    ])("%s", async (_what, status, old, taken, then, left) => {
      await setStatus(status);
      for (const kind of old) await block(mail().email, kind);
      for (const kind of taken) await block(NEW, kind);
      await ask(NEW);
      expect((await browser.post(await mailedTo(NEW), undefined, json)).status).toBe(200);
      expect(await person()).toMatchObject({ email: NEW, status: then });
      const named = (await blocks()).map((one) => one.replace(mail().email, "OLD").replace(NEW, "NEW"));
      expect(named.toSorted()).toEqual(left.toSorted());
    });

    test("gives an erased person the address back when it is confirmed", async () => {
      const { hash } = await erasedPerson(world.companyId, NEW);
      await query("insert into erased_addresses (id, company_id, address_hash) values (uuid_v7(), $1, $2)", [
        world.companyId,
        hash,
      ]);
      await ask(NEW);
      expect((await browser.post(await mailedTo(NEW), undefined, json)).status).toBe(200);
      expect(await query("select from erased_addresses where company_id = $1", [world.companyId])).toEqual([]);
    });

    test("lets a message to the old address unsubscribe the person, unless somebody else has that address now", async () => {
      world = await newWorld(2);
      const [first, second] = world.mails;
      await query(
        `insert into smtp_configs (id, company_id, name, host, port, sender_email)
         values (uuid_v7(), $1, 'S', 'localhost', 25, 'news@acme.example')`,
        [world.companyId],
      );
      for (const [n, { subscriberId }] of world.mails.entries()) {
        await ask(`new${n}@elsewhere.example`, subscriberId);
        expect((await browser.post(await mailedTo(`new${n}@elsewhere.example`), undefined, json)).status).toBe(200);
      }
      const oneClick = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
      await browser.post(pub(`unsubscribe/${first!.id}/`), oneClick);
      expect(await person(first!.subscriberId)).toMatchObject({
        email: "new0@elsewhere.example",
        status: "unsubscribed",
      });
      expect((await blocks()).toSorted()).toEqual(
        [`unsubscribed ${first!.email}`, "unsubscribed new0@elsewhere.example"].toSorted(),
      );
      expect(await events()).toHaveLength(1);
      await query("insert into subscribers (company_id, email) values ($1, $2)", [world.companyId, second!.email]);
      await browser.post(pub(`unsubscribe/${second!.id}/`), oneClick);
      expect(await person(second!.subscriberId)).toMatchObject({ status: "active" });
    });
  });
});
