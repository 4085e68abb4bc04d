/**
 * The operators' pages over HTTP: the link, its session, the separation from people's sessions, and the pages' contents
 * and actions.
 */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { askBroker } from "../../../services/operator/ask-broker.ts";
import { commandNamed } from "../../../services/operator/commands.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { ConsoleBrowser, signIn } from "../../support/console-browser.ts";
import { waitingCampaign } from "../../support/waiting-campaign.ts";
import { until } from "../campaigns/world.ts";

const PAGES = ["", "/senders", "/campaigns", "/companies", "/plans", "/webhooks", "/why", "/sessions"];

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app, { name: "Lantern <b>Books</b>" });
});
afterAll(() => app.stop());

/** Returns the link that `npm run ops console-link` prints. */
async function link(name?: string): Promise<string> {
  const [{ url }] = (await commandNamed("console-link")!.run(askBroker(app.broker), name)) as [{ url: string }];
  const { pathname, search } = new URL(url);
  return pathname + search;
}

async function useLink(path: string, browser = new ConsoleBrowser(app)) {
  await browser.open(path);
  const token = new URLSearchParams(path.split("?")[1]).get("token")!;
  return { browser, shown: await browser.send("/app/operator/sign-in", { token }) };
}

test("ops sign-in-link signs a person in once, by a button, but nobody with a second factor", async () => {
  const linked = (email: string) => commandNamed("sign-in-link")!.run(askBroker(app.broker), email);
  const [made] = (await linked(company.email)) as { url: string }[];
  const { pathname, search, searchParams } = new URL(made!.url);
  const browser = new ConsoleBrowser(app);
  for (let n = 0; n < 2; n++) expect((await browser.open(pathname + search)).html).toContain("signs you in once");
  const token = searchParams.get("token")!;
  expect(await browser.send(pathname, { token })).toMatchObject({ status: 303, location: "/app/" });
  expect((await browser.open(`/app/${company.id}`)).status).toBe(200);
  const other = new ConsoleBrowser(app);
  await other.open(pathname + search);
  expect(await other.send(pathname, { token })).toMatchObject({ status: 400 });
  await query("update users set totp_confirmed_at = now() where email = $1", [company.email]);
  await expect(linked(company.email)).rejects.toThrow("second factor");
  await query("update users set totp_confirmed_at = null where email = $1", [company.email]);
  await expect(linked("nobody@example.com")).rejects.toThrow("Not found.");
});

async function operator(name?: string): Promise<ConsoleBrowser> {
  const { browser, shown } = await useLink(await link(name));
  expect(shown).toMatchObject({ status: 303, location: "/app/operator" });
  return browser;
}

/** Sends a raw request, because Node's fetch changes these headers. */
async function navigate(path: string, headers: Record<string, string>) {
  const [response] = (await once(get(`${app.url}${path}`, { headers }), "response")) as [IncomingMessage];
  return { status: response.statusCode, answered: response.headers, html: await text(response) };
}

const audited = () =>
  query<{ action: string; actor_type: string; actor_id: string; detail: object }>(
    "select action, actor_type, actor_id, detail from audit_log where company_id = $1 and actor_type = 'operator' order by id",
    [company.id],
  );

test("a link works once: opening it does not use it up; a second use and an invented link are refused", async () => {
  const path = await link();
  await new ConsoleBrowser(app).open(path);
  await new ConsoleBrowser(app).open(path);
  expect((await useLink(path)).shown).toMatchObject({ status: 303, location: "/app/operator" });
  for (const spent of [path, "/app/operator/sign-in?token=made-up"]) {
    const { shown, browser } = await useLink(spent);
    expect(shown.status).toBe(401);
    expect(shown.html).toContain("Create a new one: ops console-link");
    expect(await browser.open("/app/operator")).toMatchObject({ status: 303, location: "/app/operator/sign-in" });
  }
});

test("only one of many concurrent uses of a link succeeds", async () => {
  const path = await link();
  const used = await Promise.all(Array.from({ length: 4 }, () => useLink(path)));
  expect(used.map(({ shown }) => shown.status).sort()).toEqual([303, 401, 401, 401]);
});

test("a link is refused after 5 minutes, and a session ends after an hour", async () => {
  const path = await link("late");
  await query("update operator_sessions set link_until = now() - interval '1 second' where name = 'late'");
  expect((await useLink(path)).shown.status).toBe(401);
  const browser = await operator("long");
  const [kept] = await query<{ seconds: number; hash: Buffer | null }>(
    "select extract(epoch from expires_at - began_at)::int as seconds, link_hash as hash from operator_sessions where name = 'long'",
  );
  expect(kept).toEqual({ seconds: 3_600, hash: null });
  await query("update operator_sessions set expires_at = now() - interval '1 second' where name = 'long'");
  expect(await browser.open("/app/operator")).toMatchObject({ status: 303, location: "/app/operator/sign-in" });
});

test("the session cookie is limited to operators' pages, changes at the start of the session and opens no company's page", async () => {
  const browser = new ConsoleBrowser(app);
  const path = await link();
  const first = await browser.open(path);
  expect(first.headers.get("set-cookie")).toMatch(
    /^fm_operator=[\w.-]+; Path=\/app\/operator; HttpOnly; SameSite=Strict$/,
  );
  const before = browser.cookie;
  await useLink(path, browser);
  expect(browser.cookie).not.toBe(before);
  expect(browser.cookie).toMatch(/^fm_operator=/);
  const value = browser.cookie.split("=")[1]!;
  for (const cookie of [browser.cookie, `fm_session=${value}`]) {
    const other = new ConsoleBrowser(app);
    other.cookie = cookie;
    expect(await other.open(`/app/${company.id}`)).toMatchObject({ status: 303 });
    expect((await fetch(`${app.url}/api/auth/me/`, { headers: { cookie } })).status).toBe(401);
  }
});

test("the pages redirect everybody but operators to sign-in, also an owner of a company", async () => {
  const owner = await signIn(app, company);
  for (const cookie of ["", owner.cookie, owner.cookie.replace("fm_session", "fm_operator")]) {
    const browser = new ConsoleBrowser(app);
    browser.cookie = cookie;
    for (const page of PAGES) {
      const { status, location } = await browser.open(`/app/operator${page}`);
      expect({ page, status, location }).toEqual({ page, status: 303, location: "/app/operator/sign-in" });
    }
  }
});

test("every write without the session's own form token is refused and changes nothing", async () => {
  const browser = await operator();
  const path = `/app/operator/companies/${company.id}`;
  const others = await operator();
  await others.open(path);
  for (const token of ["", "made-up", others.token]) {
    expect(await browser.send(`${path}/pause`, { reason: "x" }, token)).toMatchObject({ status: 403 });
  }
  expect((await browser.open(path)).html).toContain("Sending allowed");
});

test("every page is complete and shows dependencies, nodes and waiting work", async () => {
  const browser = await operator("Ada");
  for (const page of PAGES) {
    const { status, html } = await browser.open(`/app/operator${page}`);
    expect({ page, status }).toEqual({ page, status: 200 });
    expect(html).toMatch(/<h1>[^<]+<\/h1>/);
    expect(html).toMatch(/Ada<small>until \d\d:\d\d:\d\d UTC/);
    expect(html).not.toContain("<b>Books");
  }
  const { html } = await browser.open("/app/operator");
  expect(html).toMatch(
    /PostgreSQL<\/th><td data-label="State"><span class="status status-ok">Ok<\/span><\/td><td[^>]*>\d+\.\d+/,
  );
  expect(html).toContain("limits are counted in this process");
  expect(html).toContain(app.broker.nodeID);
  expect(html).toContain("recipients to try again");
  expect(await browser.open("/app/operator/none")).toMatchObject({ status: 404, title: "Page not found" });
  expect(await browser.open(`/app/operator/companies/${newId()}`)).toMatchObject({ status: 404 });
  expect(await browser.open(`/app/operator/campaigns/${newId()}`)).toMatchObject({ status: 404 });
});

test("a company is found, moved to another plan, paused and unpaused; its owners see who did it, and why", async () => {
  const browser = await operator();
  const [{ id: session }] = (await query<{ id: string }>(
    "select id from operator_sessions order by began_at desc nulls last limit 1",
  )) as [{ id: string }];
  const path = `/app/operator/companies/${company.id}`;
  expect((await browser.open("/app/operator/companies?search=LANTERN")).html).toContain(path);
  expect((await browser.open("/app/operator/companies?search=nobody")).html).toContain("No companies match.");
  const seen = await browser.open(path);
  expect(seen.html).toContain(company.email);
  expect(seen.html).toMatch(/Emails per hour<\/th><td[^>]*>\s*0\s*<\/td><td[^>]*>\s*No limit/);

  const wrong = await browser.send(`${path}/plan`, { plan: "pro", reason: "  " });
  expect(wrong.status).toBe(400);
  expect(wrong.html).toContain("Enter a reason.");
  expect((await browser.send(`${path}/plan`, { plan: "golden", reason: "Sold" })).html).toContain('id="wrong-plan"');
  expect(await browser.send(`${path}/plan`, { plan: "pro", reason: "Sold" })).toMatchObject({ status: 303 });
  expect(await browser.send(`${path}/pause`, { reason: "Complaints" })).toMatchObject({ status: 303 });
  expect(await browser.send(`${path}/pause`, { reason: "Again" })).toMatchObject({ status: 303 });
  expect((await browser.open(path)).html).toContain("Sending paused since");
  expect(await browser.send(`${path}/unpause`, { reason: "Settled" })).toMatchObject({ status: 303 });

  const by = { actor_type: "operator", actor_id: session };
  expect(await audited()).toEqual([
    { ...by, action: "company.plan_changed", detail: { before: "unlimited", plan: "pro", reason: "Sold" } },
    { ...by, action: "company.paused", detail: { reason: "Complaints" } },
    { ...by, action: "company.unpaused", detail: { reason: "Settled" } },
  ]);
  const { body } = await client(app, { token: company.token }).get(
    `/api/companies/${company.id}/audit-log/?action=company.paused`,
  );
  expect(body.results).toMatchObject([{ actor: { type: "operator" }, detail: { reason: "Complaints" } }]);
});

test("a campaign of any company is shown with what it waits for, and stopped; the reason for an undelivered mail is found", async () => {
  const id = await waitingCampaign(company, "October");
  const browser = await operator();
  const path = `/app/operator/campaigns/${id}`;
  await until(
    () => browser.open("/app/operator/campaigns"),
    ({ html }) => html.includes(`href="${path}"`),
    30_000,
  );
  await until(
    () => browser.open("/app/operator/why?recipient=ADA%40example.com"),
    ({ html }) => html.includes("October") && html.includes("queued"),
    30_000,
  );
  const seen = await browser.open(path);
  expect(seen).toMatchObject({ status: 200, title: "October" });
  expect(seen.html).toContain("2 of 2 recipients are still waiting");
  // A rate is known from the second question on, a second after the first.
  await until(
    () => call(app.broker, "operator.campaigns", {}),
    ([first]) => first?.mails_per_second === 0,
    30_000,
  );
  expect(await browser.send(`${path}/stop`)).toMatchObject({ status: 303 });
  await until(
    () => company.api.get(`/api/emails/campaigns/${id}/`),
    ({ body }) => body.error === "Stopped by the operator.",
    30_000,
  );
});

test("sessions are listed and ended, also from a terminal; signing out ends the own session", async () => {
  const browser = await operator("Ada");
  const other = await operator("Grace");
  await link("Unused");
  const { html } = await browser.open("/app/operator/sessions");
  expect(html).toContain('<span title="node">node</span>');
  const endOf = (name: string) =>
    new RegExp(
      `row"><strong>${name}</strong>(?:(?!</tr>)[\\s\\S])*?action="(/app/operator/sessions/[0-9a-f-]+/end)"`,
    ).exec(html)![1]!;
  expect(await browser.send(endOf("Grace"))).toMatchObject({ status: 303 });
  expect(await other.open("/app/operator")).toMatchObject({ status: 303, location: "/app/operator/sign-in" });
  expect(await browser.send(endOf("Unused"))).toMatchObject({ status: 303 });
  expect(await browser.send("/app/operator/sign-out")).toMatchObject({
    status: 303,
    location: "/app/operator/sign-in",
  });
  const listed = await call(app.broker, "operator.consoleSessions", {});
  const stateOf = (wanted: string) => listed.find(({ name }) => name === wanted)?.state;
  expect([stateOf("Ada"), stateOf("Grace"), stateOf("Unused")]).toEqual(["ended", "ended", "ended"]);
});

test("pages are compressed, each with a different form token that is equally valid", async () => {
  const browser = await operator();
  const first = await browser.open("/app/operator/plans");
  expect(first.html).toMatch(/data-label="Media" class="numeric">\s*[\d.]+ [MG]B/);
  const { token } = browser;
  const second = await browser.open("/app/operator/plans");
  expect(second.headers.get("content-encoding")).toBe("gzip");
  expect(second.headers.get("vary")).toMatch(/accept-encoding/i);
  expect(browser.token).not.toBe(token);
  expect(first.html).not.toContain(browser.token);
  expect(await browser.send("/app/operator/sign-out", {}, token)).toMatchObject({ status: 303 });
});

test("styles and scripts are compressed, cached for good, and have an ETag; those of another version are not cached", async () => {
  const { html } = await new ConsoleBrowser(app).open("/app/operator/sign-in");
  const names = [...html.matchAll(/"(\/app\/assets\/[^"]+)"/g)].map((match) => match[1]!);
  expect(names.length).toBeGreaterThan(1);
  let bytes = 0;
  for (const name of names) {
    const response = await fetch(`${app.url}${name}`, { headers: { "accept-encoding": "gzip" } });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    bytes += Number(response.headers.get("content-length"));
    await response.arrayBuffer();
    const headers = { "accept-encoding": "gzip", "if-none-match": response.headers.get("etag")! };
    expect((await fetch(`${app.url}${name}`, { headers })).status).toBe(304);
    const other = await fetch(`${app.url}${name.replace(/-[0-9a-f]{12}/, "-0123456789ab")}`);
    expect([other.status, other.headers.get("cache-control")]).toEqual([200, "no-store"]);
    await other.arrayBuffer();
  }
  expect(bytes).toBeLessThan(120_000);
});

test("a link from another site, which carries no cookie, ends no session: the page is requested again from here", async () => {
  const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", accept: "text/html" };
  for (const path of [`/app/${company.id}/campaigns?status=sending`, "/app/operator"]) {
    const { status, html, answered } = await navigate(path, headers);
    expect({ path, status, refresh: answered.refresh, cookie: answered["set-cookie"] }).toEqual({
      path,
      status: 200,
      refresh: "0",
      cookie: undefined,
    });
    expect(html).toContain(`href="${path}"`);
    const again = await navigate(path, { ...headers, "sec-fetch-site": "same-origin" });
    expect(again.status).toBe(303);
  }
});
