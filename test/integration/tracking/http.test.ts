import { query, queryOne } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, newCompany, someIp } from "../../support/client.ts";
import { FIREFOX, LINKS, newWorld, token, type World } from "./world.ts";

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
  const events = () =>
    query<{ type: string }>("select type, metadata from email_events where company_id = $1", [world.companyId]);

  test("pixel: an image that is not kept, and the event with address and user agent", async () => {
    const { status, headers, bytes } = await browser.get(pub(`open/${token(mail().id, 0)}.gif`), { ip: "203.0.113.9" });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("image/gif");
    expect(headers.get("cache-control")).toContain("no-store");
    expect(bytes.subarray(0, 6).toString()).toBe("GIF89a");
    expect(await events()).toEqual([
      { type: "opened", metadata: { ip: "203.0.113.9", user_agent: FIREFOX, machine: false } },
    ]);
  });

  test("click: 302 to the link; HEAD too, uncounted; a forged one is 404 without a location", async () => {
    const path = pub(`click/${token(mail().id, 1)}/`);
    const head = await browser.request("HEAD", path);
    expect([head.status, head.headers.get("location")]).toEqual([302, LINKS[0]]);
    expect(await events()).toEqual([]);
    const got = await browser.get(path);
    expect([got.status, got.headers.get("location")]).toEqual([302, LINKS[0]]);
    expect(await events()).toMatchObject([{ type: "clicked" }]);
    const forged = await browser.get(path.replace(/.\/$/, (end) => (end === "A/" ? "B/" : "A/")));
    expect([forged.status, forged.headers.get("location")]).toEqual([404, null]);
  });

  test("many at once go together: each gets its own answer, also where one is forged and one cannot be stored", async () => {
    world = await newWorld(6);
    const [refused] = world.mails;
    await query(`alter table email_events add constraint refuse check (recipient <> '${refused!.email}')`);
    // Not by the client of the other tests, to which a 500 is always a failure.
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
    await query("alter table email_events drop constraint refuse");
    expect(await events()).toHaveLength(10);
  });

  test("over 60 a minute the pixel is 429 and a click redirects uncounted", async () => {
    const tired = client(app, { ip: someIp(), headers: { "user-agent": FIREFOX } });
    for (let i = 0; i < 60; i++) await tired.get(pub(`open/${token(mail().id, 0)}.gif`));
    const refused = await tired.get(pub(`open/${token(mail().id, 0)}.gif`));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await tired.get(pub(`click/${token(mail().id, 1)}/`))).headers.get("location")).toBe(LINKS[0]);
    expect(await events()).toHaveLength(60);
  });

  test("one-click unsubscribe in every form a mail provider sends it, without a redirect", async () => {
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

  test("the unsubscribe page and its form", async () => {
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

  test("a one-click for a mail that nobody knows: 200 and nothing recorded, a provider never sees it fail", async () => {
    const path = pub(`unsubscribe/${newId()}/`);
    const oneClick = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
    const page = await client(app).post(path, oneClick);
    expect([page.status, page.text.includes("You are unsubscribed")]).toEqual([200, false]);
    const answer = await client(app, { headers: { accept: "application/json" } }).post(path, oneClick);
    expect([answer.status, answer.body]).toEqual([200, { detail: "Nobody gets emails by this link." }]);
    expect(await events()).toEqual([]);
  });

  test("preferences: page, JSON, PUT and the page's form", async () => {
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

  test("double opt-in: the page asks, its button confirms; expired is 410", async () => {
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

  test("view in browser: the recipient's own rendering, which can run nothing", async () => {
    const { status, headers, text } = await browser.get(pub(`view/${mail().id}/`));
    expect(status).toBe(200);
    expect(text).toContain("https://example.com/one");
    expect(text).not.toContain("/public/open/");
    expect(text).not.toContain("/public/click/");
    expect(headers.get("content-security-policy")).toContain("sandbox");
    expect((await browser.get(pub(`view/${newId()}/`))).status).toBe(404);
  });

  test("webhook endpoints as a resource: errors, the secret once, the plan's feature", async () => {
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

  test("the lists over HTTP: filters are checked, pages follow each other", async () => {
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
});
