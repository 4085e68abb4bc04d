/** The console over HTTP, as a browser without JavaScript sees it: sign-in, session, form tokens, roles, other companies. */
import jwt from "jsonwebtoken";
import { query } from "../../../models/database/db.ts";
import { keptBy } from "../../../services/console/kept-form.ts";
import { newId } from "../../../services/lib/ids.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { ConsoleBrowser, signIn } from "../../support/console-browser.ts";
import { startSmtpServer } from "../../support/smtp-server.ts";
import { totpCode } from "../../support/totp.ts";
import { waitingCampaign } from "../../support/waiting-campaign.ts";
import { until } from "../campaigns/world.ts";

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
});
afterAll(() => app.stop());

const signedIn = (of = company): Promise<ConsoleBrowser> => signIn(app, of);

test("a visitor who is not signed in is redirected to sign-in, and from there to the requested page", async () => {
  const browser = new ConsoleBrowser(app);
  const wanted = `/app/${company.id}/campaigns?status=sending`;
  const { status, location } = await browser.open(wanted);
  expect({ status, location }).toEqual({ status: 303, location: `/app/login?next=${encodeURIComponent(wanted)}` });
  await browser.open(location!);
  expect(await browser.signIn(company, wanted)).toMatchObject({ status: 303, location: wanted });
  expect(await browser.open(wanted)).toMatchObject({ status: 200, title: "Campaigns" });
});

test.each([
  "https://evil.example/",
  "//evil.example",
  "/app/../api/",
  "/app/\\evil.example",
  "javascript:alert(1)",
  "/app/x\r\nSet-Cookie: a=b",
])("sign-in redirects to no other site for next=%j", async (next) => {
  expect(await new ConsoleBrowser(app).signIn(company, next)).toMatchObject({ status: 303, location: "/app/" });
});

test("a wrong password says so and keeps the address that was typed", async () => {
  const browser = new ConsoleBrowser(app);
  const { status, html } = await browser.signIn({ ...company, password: "not the password" });
  expect(status).toBe(401);
  expect(html).toContain("Wrong email or password");
  expect(html).toContain(`value="${company.email}"`);
});

test("the session is one cookie, limited to the console, that changes at sign-in and at sign-out", async () => {
  const browser = new ConsoleBrowser(app);
  const seen = new Set<string>();
  const first = await browser.open("/app/login");
  expect(first.headers.get("set-cookie")).toMatch(/^fm_session=[\w.-]+; Path=\/app; HttpOnly; SameSite=Strict$/);
  seen.add(browser.cookie);
  await browser.signIn(company);
  seen.add(browser.cookie);
  const old = browser.cookie;
  await browser.open(`/app/${company.id}`);
  expect(await browser.send("/app/logout")).toMatchObject({ status: 303, location: "/app/login" });
  seen.add(browser.cookie);
  expect(seen.size).toBe(3);
  browser.cookie = old;
  expect(await browser.open(`/app/${company.id}`)).toMatchObject({ status: 303 });
  const api = await fetch(`${app.url}/api/auth/me/`, { headers: { cookie: old } });
  expect(api.status).toBe(401);
});

test("the API lists the console's session, and a session ended there is over at once", async () => {
  const other = await newCompany(app);
  const browser = await signedIn(other);
  const api = client(app, { token: other.token });
  expect((await browser.open("/app/account/sessions")).html).toContain('<strong title="node">node</strong>');
  const sessions = (await api.get("/api/auth/sessions/")).body as { id: string; current: boolean }[];
  const its = sessions.filter(({ current }) => !current);
  for (const { id } of its) expect((await api.delete(`/api/auth/sessions/${id}/`)).status).toBe(204);
  expect(its.length).toBeGreaterThan(0);
  expect(await browser.open(`/app/${other.id}`)).toMatchObject({ status: 303 });
});

test.each(["", "made-up", "another session's"])(
  "a write with the form token %j is 403, and nothing changes",
  async (token) => {
    const browser = await signedIn();
    const others = await signedIn();
    await others.open("/app/");
    await browser.open(`/app/${company.id}`);
    const used = token === "another session's" ? others.token : token;
    expect(await browser.send("/app/logout", {}, used)).toMatchObject({ status: 403, title: "You may not do this" });
    expect(await browser.open(`/app/${company.id}`)).toMatchObject({ status: 200 });
    const stranger = new ConsoleBrowser(app);
    await stranger.open("/app/login");
    expect(await stranger.send("/app/login", { email: company.email, password: company.password }, used)).toMatchObject(
      { status: 403 },
    );
  },
);

test("another company's pages, and pages that do not exist, are 404 with a complete page", async () => {
  const browser = await signedIn();
  const other = await newCompany(app);
  for (const path of [
    other.id,
    `${other.id}/campaigns`,
    `${company.id}/nothing`,
    `${company.id}/campaigns/${newId()}`,
    "x",
  ]) {
    const { status, html, title } = await browser.open(`/app/${path}`);
    expect({ path, status, title }).toEqual({ path, status: 404, title: "Page not found" });
    expect(html).toContain("<main");
  }
});

test("pages load no script, style or frame but their own, and are not cached", async () => {
  const browser = await signedIn();
  const { headers, html } = await browser.open(`/app/${company.id}`);
  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'",
  );
  expect(headers.get("cache-control")).toBe("no-store");
  expect(html).not.toMatch(
    /<script(?! src="\/app\/assets\/(?:htmx-\w+\.js" defer|(?:shell|forms)-\w+\.js" type="module")><\/script>)|<style| style=| on\w+=/,
  );
  const [, script] = /src="(\/app\/assets\/[^"]+)"/.exec(html)!;
  expect((await fetch(`${app.url}${script}`)).headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  const [, style] = /href="(\/app\/assets\/[^"]+)"/.exec(html)!;
  const asset = await fetch(`${app.url}${style}`);
  expect([asset.status, asset.headers.get("content-type")]).toEqual([200, "text/css; charset=utf-8"]);
  expect((await fetch(`${app.url}/app/assets/../../package.json`)).status).toBe(404);
  expect((await fetch(`${app.url}/app/assets/other.css`)).status).toBe(404);
});

test("a search text of emoji beyond the maximum length finds nothing without an error", async () => {
  const browser = await signedIn();
  const path = `/app/${company.id}/search?${new URLSearchParams({ q: `a${"😀".repeat(200)}` })}`;
  for (const one of [path, path.replace("q=a", "q=")]) expect(await browser.open(one)).toMatchObject({ status: 200 });
});

test("names of campaigns and companies are escaped", async () => {
  const other = await newCompany(app);
  const evil = `<img src=x onerror=alert(1)>"'`;
  await client(app, { token: other.token }).patch(`/api/companies/${other.id}/`, { name: evil });
  const browser = await signedIn(other);
  const { html } = await browser.open(`/app/${other.id}`);
  expect(html).not.toContain("<img");
  expect(html).toContain("&lt;img");
});

test("a member sees and stops a campaign; a viewer sees it without a button, and is refused", async () => {
  const mine = await newCompany(app);
  const id = await waitingCampaign(mine, "October");
  const path = `/app/${mine.id}/campaigns/${id}`;
  const browser = await signedIn(mine);
  expect((await browser.open(`/app/${mine.id}/campaigns?search=octo`)).html).toContain(path);
  expect((await browser.open(`/app/${mine.id}`)).html).toContain("October");
  const seen = await browser.open(path);
  expect(seen.title).toBe("October");
  expect(seen.html).toContain(`action="${path}/stop"`);
  expect(seen.html).toContain("Nothing has been sent yet. The campaign will be cancelled");

  await query("update memberships set role = 'viewer' where company_id = $1", [mine.id]);
  expect((await browser.open(path)).html).not.toContain(`action="${path}`);
  expect(await browser.send(`${path}/stop`)).toMatchObject({ status: 403, title: "You may not do this" });
  await query("update memberships set role = 'member' where company_id = $1", [mine.id]);

  expect(await browser.send(`${path}/stop`)).toMatchObject({ status: 303, location: path });
  const ended = await until(
    () => browser.open(path),
    ({ html }) => html.includes("status-cancelled"),
  );
  expect(ended.html).toContain(`Stopped by ${mine.email}.`);
  expect(await browser.send(`${path}/stop`)).toMatchObject({ status: 400, title: "This cannot be done" });
  expect(await browser.send(`${path}/delete`)).toMatchObject({
    status: 303,
    location: `/app/${mine.id}/campaigns?notice=deleted`,
  });
  expect((await browser.open(path)).status).toBe(404);
});

test("a second factor is asked for after the password, and its code is valid once", async () => {
  const mine = await newCompany(app);
  const api = client(app, { token: mine.token });
  const { secret } = (await api.post("/api/auth/totp/", {})).body;
  const codes = (await api.post("/api/auth/totp/confirm/", { code: totpCode(secret) })).body.recovery_codes;
  const browser = new ConsoleBrowser(app);
  const { email, password } = mine;
  const asked = await browser.signIn(mine);
  expect(asked.status).toBe(200);
  expect(asked.html).toContain('name="code"');
  expect(await browser.send("/app/login", { email, password, code: codes[0] })).toMatchObject({ status: 303 });
  const again = new ConsoleBrowser(app);
  await again.open("/app/login");
  expect(await again.send("/app/login", { email, password, code: codes[0] })).toMatchObject({ status: 401 });
});

test("a key is created, shown once, works and is deleted; form errors are shown at their fields", async () => {
  const mine = await newCompany(app);
  const browser = await signedIn(mine);
  const path = `/app/${mine.id}/settings/keys`;
  await browser.open(path);
  const wrong = await browser.send(path, { name: "Shop", allowed_ips: "nonsense" });
  expect(wrong.status).toBe(400);
  expect(wrong.html).toMatch(/id="wrong-allowed_ips"/);
  expect(wrong.html).toContain('value="Shop"');
  const made = await browser.send(path, { name: "Shop", "scope.send": "on", "scope.read": "on" });
  const key = /<code[^>]*>(fm_\w+)<\/code><\/p>/.exec(made.html)![1]!;
  expect((await client(app, { key }).get("/api/emails/campaigns/")).status).toBe(200);
  expect((await client(app, { key }).post("/api/emails/lists/", { name: "L" })).status).toBe(403);
  const { html } = await browser.open(path);
  expect(html).not.toContain(key);
  const [, id] = new RegExp(`${path}/([0-9a-f-]+)/delete`).exec(html.slice(html.indexOf("Shop")))!;
  expect(await browser.send(`${path}/${id}/delete`)).toMatchObject({ status: 303, location: path });
  expect((await browser.open(path)).html).not.toContain("Shop");
});

test("a person is invited, changed in role and removed; the last owner stays; a member sees no form", async () => {
  const mine = await newCompany(app);
  const browser = await signedIn(mine);
  const path = `/app/${mine.id}/settings/members`;
  await browser.open(path);
  const email = `grace-${mine.id}@example.com`;
  const invited = await browser.send(path, { email, role: "viewer" });
  expect(invited.html).toContain(`${email} is invited.`);
  expect((await browser.send(`${path}/${mine.userId}/role`, { role: "viewer" })).status).toBe(400);
  const token = /invitation\?token=([\w-]+)/.exec(invited.html)![1];
  await client(app, { ip: someIp() }).post(`/api/auth/invitations/${token}/`, { password: "a long and plain one" });
  const grace = await query<{ id: string }>("select id from users where email = $1", [email]);
  expect(await browser.send(`${path}/${grace[0]!.id}/role`, { role: "member" })).toMatchObject({ status: 303 });
  const other = await signedIn({ ...mine, email, password: "a long and plain one" });
  const seen = await other.open(path);
  expect(seen.status).toBe(200);
  expect(seen.html).not.toContain(`action="${path}`);
  expect(await other.send(path, { email: "x@example.com", role: "viewer" })).toMatchObject({ status: 403 });
  expect(await browser.send(`${path}/${grace[0]!.id}/remove`)).toMatchObject({ status: 303 });
  expect((await other.open(path)).status).toBe(404);
  expect((await browser.open(`/app/${mine.id}/settings/plan`)).html).toContain("Emails per month");
});

test("a person is added, put on a list, removed from it, found, and erased; a suppression is created and lifted", async () => {
  const mine = await newCompany(app);
  const browser = await signedIn(mine);
  const at = (path: string) => `/app/${mine.id}/${path}`;
  await browser.open(at("lists"));
  expect(await browser.send(at("lists"), { name: "Readers" })).toMatchObject({ status: 303 });
  const list = /lists\/([0-9a-f-]{36})/.exec((await browser.open(at("lists"))).html)![1]!;
  const wrong = await browser.send(at("subscribers"), { email: "no address", first_name: "Ada" });
  expect(wrong).toMatchObject({ status: 400 });
  expect(wrong.html).toMatch(/id="wrong-email"/);
  expect(wrong.html).toContain('value="Ada"');
  const added = await browser.send(at("subscribers"), { email: "ada@example.com", first_name: "Ada", list });
  const person = added.location!;
  expect((await browser.open(person)).html).toContain("Readers");
  expect(await browser.send(`${person}/off-list`, { list })).toMatchObject({ status: 303 });
  expect((await browser.open(person)).html).toContain("On no list.");
  expect((await browser.open(at("subscribers?search=ADA&status=active"))).html).toContain(person);
  expect((await browser.open(at("subscribers?search=ada&status=bounced"))).html).toContain("Nobody matches");
  await waitingCampaign(mine, "October");
  const history = await until(
    () => browser.open(person),
    ({ html }) => html.includes("status-queued"),
  );
  expect(history.html).toContain("Hello");
  expect(await browser.send(`${person}/erase`, { email: "ada@example.com" })).toMatchObject({ status: 303 });
  expect((await browser.open(person)).status).toBe(404);

  expect(await browser.send(at("suppressions"), { what: "spam.example", reason: "Asked" })).toMatchObject({
    status: 303,
  });
  const { html } = await browser.open(at("suppressions?search=spam"));
  const [, lift] = new RegExp(`action="(${at("suppressions")}/[0-9a-f-]+/lift)"`).exec(html)!;
  expect(await browser.send(lift!)).toMatchObject({ status: 303 });
  expect((await browser.open(at("suppressions?search=spam"))).html).toContain("No suppression matches");
  expect((await browser.send(at("suppressions"), { what: "not a domain" })).html).toMatch(/id="wrong-domain"/);
});

test("an owner signs in, creates a list, adds a reader, and sees the campaign to them delivered", async () => {
  const mine = await newCompany(app);
  const smtp = await startSmtpServer();
  try {
    const at = (path: string) => `/app/${mine.id}/${path}`;
    const browser = await signedIn(mine);
    expect((await browser.open(`/app/${mine.id}`)).html).toContain("Set up your account");
    await browser.open(at("lists"));
    expect(await browser.send(at("lists"), { name: "Readers", description: "" })).toMatchObject({ status: 303 });
    const list = /lists\/([0-9a-f-]{36})/.exec((await browser.open(at("lists"))).html)![1]!;
    const added = await browser.send(at("subscribers"), { email: "ada@example.com", first_name: "Ada", list });
    expect(added.status).toBe(303);
    const server = await mine.api.post("/api/emails/smtp-configs/", {
      name: "S",
      host: "127.0.0.1",
      port: smtp.port,
      username: "",
      password: "",
      use_tls: false,
      sender_email: "news@acme.example",
    });
    const template = await mine.api.post("/api/emails/templates/", {
      name: "News",
      subject: "Hello [[first_name]]",
      body: '<p>Six <a href="https://example.com/books">books</a>. <a href="[[unsubscribe_url]]">Unsubscribe</a></p>',
    });
    const sent = await mine.api.post("/api/emails/send/to-list/", {
      name: "October",
      smtp_config_id: server.body.id,
      template_id: template.body.id,
      list_id: list,
    });
    expect(sent.status).toBe(201);
    const path = at(`campaigns/${sent.body.id}`);
    const delivered = await until(
      () => browser.open(path),
      ({ html }) => html.includes("status-completed"),
    );
    expect(delivered).toMatchObject({ status: 200, title: "October" });
    expect(smtp.messages.map(({ to }) => to)).toEqual([["ada@example.com"]]);
    expect((await browser.open(at("campaigns"))).html).toMatch(/October<\/a>[\s\S]*?1 \/ 1/);
    expect((await browser.open(added.location!)).html).toContain("Hello Ada");
  } finally {
    await smtp.stop();
  }
});

/** Sends the form with an expired session, runs `between`, and signs in with the right password. */
async function signInAfter(path: string, form: Record<string, string>, between = async () => {}) {
  const browser = await signedIn();
  await browser.open("/app/account");
  const { exp: _, ...claims } = jwt.decode(browser.cookie.split("=")[1]!) as jwt.JwtPayload;
  browser.cookie = `fm_session=${jwt.sign({ ...claims, exp: claims.iat! - 60 }, keysFor("console")[0]!)}`;
  const asked = await browser.send(path, form);
  const [kept = "", next = ""] = ["kept", "next"].map(
    (name) => asked.html.match(`name="${name}" value="([^"]*)"`)?.[1],
  );
  await between();
  const { email, password } = company;
  const page = await browser.send("/app/login", { email, password, next, kept });
  return { asked: asked.status, page, account: (await browser.open("/app/account")).status };
}

test.each([
  ["subscribers/bulk", "subscribers"],
  ["domains/tracking", "domains"],
])("the form %s is shown again on its own page after an expired session", async (form, page) => {
  const path = `/app/${company.id}/${form}`;
  const shown = await signInAfter(path, { all: "yes", do: "unsubscribe", domain: "t.example.com" });
  expect(shown).toMatchObject({ asked: 401, page: { status: 200 }, account: 200 });
  expect(shown.page.html).toContain(`data-page="/app/${company.id}/${page}" data-action="${path}"`);
});

test("a form whose page was deleted while its session ended signs the person in and shows the typed text", async () => {
  const template = await company.api.post("/api/emails/templates/", {
    name: "Old",
    subject: "Old",
    body: "<p>Old</p>",
  });
  const at = `/api/emails/templates/${template.body.id}/`;
  const form = { name: "Autumn", body: "<p>Typed for an hour</p>", seen: "2026-01-01" };
  const shown = await signInAfter(`/app/${company.id}/templates/${template.body.id}`, form, async () => {
    await company.api.delete(at);
  });
  expect(shown).toMatchObject({ asked: 401, page: { status: 404 }, account: 200 });
  expect(shown.page.html).toContain("You are signed in again, but this form cannot be shown anymore.");
  expect(shown.page.html).toContain("&lt;p&gt;Typed for an hour&lt;/p&gt;</textarea>");
  expect(shown.page.html).not.toContain("2026-01-01");
  expect(await signInAfter(`/app/${newId()}/lists`, { name: "Readers" })).toMatchObject({ asked: 401, account: 200 });
});

test("a form submitted after its session ended is kept through sign-in for the same person only, without passwords", async () => {
  const company = await newCompany(app);
  const other = await newCompany(app);
  const browser = await signIn(app, company);
  const path = `/app/${company.id}/servers/new`;
  await browser.open(path);
  const { exp: _, ...claims } = jwt.decode(browser.cookie.split("=")[1]!) as jwt.JwtPayload;
  const ended = jwt.sign({ ...claims, exp: claims.iat! - 60 }, keysFor("console")[0]!);
  const typed = { name: 'Typed </b> "relay"', host: "mail.example.com", password: "hunter2-hunter2" };
  const sendEnded = async (token = browser.token) => {
    browser.cookie = `fm_session=${ended}`;
    return browser.send(path, typed, token);
  };
  const token = browser.token;
  const asked = await sendEnded();
  expect(asked.status).toBe(401);
  expect(asked.html).toContain("Your session expired. Sign in to continue; your changes are kept.");
  const kept = /name="kept" value="([^"]+)"/.exec(asked.html)![1]!;
  expect(Buffer.from(kept, "base64url").includes("mail.example.com")).toBe(false);
  const wrong = await browser.send("/app/login", { email: company.email, password: "wrong", next: path, kept });
  expect(wrong.html).toContain(`name="kept" value="${kept}"`);
  const back = await browser.send("/app/login", { email: company.email, password: company.password, next: path, kept });
  expect(back).toMatchObject({ status: 200 });
  expect(back.html).toContain(`data-action="${path}"`);
  expect(back.html).toContain("mail.example.com");
  expect(back.html).not.toContain("hunter2");
  expect(back.html).not.toContain("</b> ");
  expect((await company.api.get("/api/emails/smtp-configs/")).body.count).toBe(0);

  const stranger = new ConsoleBrowser(app);
  await stranger.open("/app/login");
  const theirs = { email: other.email, password: other.password, next: path, kept };
  expect(await stranger.send("/app/login", theirs)).toMatchObject({ status: 303 });
  expect((await sendEnded("made-up")).status).toBe(403);
  const later = jest.spyOn(Date, "now").mockReturnValue(Date.now() + 61 * 60_000);
  const afterAnHour = keptBy(claims.sub!, kept);
  later.mockRestore();
  expect(afterAnHour).toBeUndefined();
  expect(keptBy(claims.sub!, kept)).toMatchObject({ fields: { host: "mail.example.com" } });
  expect((await sendEnded(token)).status).toBe(401);
});

test("a form is kept through sign-in also if the browser has no cookie, or a visitor's, but not by somebody else's token", async () => {
  const company = await newCompany(app);
  const browser = await signIn(app, company);
  const path = `/app/${company.id}/servers/new`;
  await browser.open(path);
  const { token } = browser;
  const typed = { name: "x".repeat(100_000), host: "mail.example.com" };
  for (const cookie of ["without", "visitor"]) {
    const cleared = new ConsoleBrowser(app);
    if (cookie === "visitor") await cleared.open("/app/login");
    const asked = await cleared.send(path, typed, token);
    expect([cookie, asked.status]).toEqual([cookie, 401]);
    const kept = /name="kept" value="([^"]+)"/.exec(asked.html)![1]!;
    const back = await cleared.send("/app/login", {
      email: company.email,
      password: company.password,
      next: path,
      kept,
    });
    expect(back).toMatchObject({ status: 200 });
    expect(back.html).toContain("mail.example.com");
  }
  expect((await company.api.get("/api/emails/smtp-configs/")).body.count).toBe(0);

  const [own, sealed] = token.split(".");
  const visitor = new ConsoleBrowser(app);
  await visitor.open("/app/login");
  for (const forged of ["", own!, `${own}.${sealed!.slice(0, -4)}AAAA`, `${visitor.token.slice(1)}.${sealed}`]) {
    expect((await visitor.send(path, typed, forged)).status).toBe(403);
  }
  const other = await signIn(app, await newCompany(app));
  expect((await other.send(path, typed, token)).status).toBe(403);
});
