/** Coming in by mailed links, the own account, and the settings of a company, as a browser without scripts uses them. */
import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../../../models/database/db.ts";
import { Membership } from "../../../models/membership.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany } from "../../support/client.ts";
import { ConsoleBrowser, signIn } from "../../support/console-browser.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { totpCode } from "../../support/totp.ts";

const PASSWORD = "quite another staple";

describe("the pages of system mail", () => {
  let app: App;
  let smtp: SmtpServer;
  beforeAll(async () => {
    smtp = await startSmtpServer();
    app = await startApp({
      env: { SYSTEM_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, SYSTEM_FROM: "accounts@service.example" },
    });
  });
  afterAll(async () => {
    await app.stop();
    await smtp.stop();
  });

  async function linkFor(email: string, page: string): Promise<URL> {
    for (const deadline = Date.now() + 50_000; Date.now() < deadline; await sleep(50)) {
      for (const { to, raw } of smtp.messages) {
        const link = new RegExp(`http\\S+/app/${page}\\?token=[\\w-]+`).exec(
          raw.replaceAll("=\r\n", "").replaceAll("=3D", "="),
        );
        if (to.includes(email) && link) return new URL(link[0]);
      }
    }
    throw new Error("No mail came");
  }

  /** Follows the link in the mail and submits the form on its page. */
  async function use(link: URL, fields: Record<string, string>, browser = new ConsoleBrowser(app)) {
    const { status, headers, html } = await browser.open(`${link.pathname}${link.search}`);
    expect(status).toBe(200);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    const [, action] = /<form class="card narrow" method="post" action="([^"]+)"/.exec(html)!;
    expect(action).toBe(link.pathname);
    const token = /name="token" value="([\w-]*)"/.exec(html)![1]!;
    expect(token).toBe(link.searchParams.get("token"));
    for (const name of Object.keys(fields)) expect(html).toContain(`<label for="${name}">`);
    return browser.send(action!, { token, ...fields });
  }

  test("verify, reset and accept; errors are shown on the page with the form", async () => {
    const company = await newCompany(app);
    const verified = await use(await linkFor(company.email, "verify"), {});
    expect(verified).toMatchObject({ status: 303, location: "/app/login?notice=verified" });
    expect((await new ConsoleBrowser(app).open(verified.location!)).html).toContain("Your address is confirmed.");
    const again = await use(await linkFor(company.email, "verify"), {});
    expect([again.status, again.html]).toEqual([400, expect.stringContaining("This link is no longer valid.")]);

    const forgetful = new ConsoleBrowser(app);
    await forgetful.open("/app/forgotten");
    const asked = await forgetful.send("/app/forgotten", { email: company.email });
    expect(asked).toMatchObject({ status: 303, location: "/app/forgotten?notice=resetMailed" });
    expect(await forgetful.send("/app/forgotten", { email: "nobody@example.net" })).toMatchObject({
      status: 303,
      location: asked.location,
    });
    const reset = await linkFor(company.email, "reset");
    const weak = await use(reset, { new_password: "password1234" });
    expect([weak.status, weak.html]).toEqual([400, expect.stringContaining("This password is too common.")]);
    expect(weak.html).toContain('name="new_password"');
    const set = await use(reset, { new_password: PASSWORD });
    expect(set).toMatchObject({ status: 303, location: "/app/login?notice=passwordSet" });
    const owner = await signIn(app, { ...company, password: PASSWORD });
    expect((await use(reset, { new_password: PASSWORD })).html).toContain("Ask for another link");

    const email = "invited@example.net";
    await owner.open(`/app/${company.id}/settings/members`);
    await owner.send(`/app/${company.id}/settings/members`, { email, role: "member" });
    const invitation = await linkFor(email, "invitation");
    const person = { first_name: "<Ada>", last_name: "Lee" };
    const refused = await use(invitation, { ...person, password: "short" });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('value="&lt;Ada&gt;"');
    const browser = new ConsoleBrowser(app);
    const accepted = await use(invitation, { ...person, password: PASSWORD }, browser);
    expect(accepted).toMatchObject({ status: 303, location: `/app/${company.id}` });
    expect((await browser.open(accepted.location!)).title).toBe("Welcome to Flockmail, &lt;Ada&gt;");
    expect((await use(invitation, { ...person, password: PASSWORD })).status).toBe(410);
  });

  test("let a person with an account accept when signed in, or by signing in; another person's invitation is refused", async () => {
    const [host, guest] = [await newCompany(app), await newCompany(app)];
    const stranger = await newCompany(app);
    await use(await linkFor(guest.email, "verify"), {});
    const invite = () =>
      client(app, { token: host.token }).post(`/api/companies/${host.id}/members/`, {
        email: guest.email,
        role: "viewer",
      });
    await invite();
    const link = await linkFor(guest.email, "invitation");

    const wrong = await use(link, {}, await signIn(app, stranger));
    expect([wrong.status, wrong.html]).toEqual([403, expect.stringContaining("for another address")]);

    const known = await use(link, { password: PASSWORD });
    expect([known.status, known.html]).toEqual([401, expect.stringContaining("Sign in to accept")]);
    expect(known.html).toContain('action="/app/login/invitation"');
    const browser = new ConsoleBrowser(app);
    await browser.open(link.pathname + link.search);
    const token = link.searchParams.get("token")!;
    const { email, password } = guest;
    const failed = await browser.send("/app/login/invitation", { token, email, password: "wrong" });
    expect([failed.status, failed.html]).toEqual([401, expect.stringContaining(`value="${token}"`)]);
    const joined = await browser.send("/app/login/invitation", { token, email, password });
    expect(joined).toMatchObject({ status: 303, location: `/app/${host.id}` });
    expect((await browser.open(joined.location!)).status).toBe(200);

    await client(app, { token: host.token }).delete(`/api/companies/${host.id}/members/${guest.userId}/`);
    smtp.messages.length = 0;
    await invite();
    const second = await signIn(app, guest);
    const before = second.cookie;
    const accepted = await use(await linkFor(guest.email, "invitation"), {}, second);
    expect(accepted).toMatchObject({ status: 303, location: `/app/${host.id}` });
    // The session from before has ended with it.
    second.cookie = before;
    expect((await second.open(`/app/${host.id}`)).status).toBe(303);
  });

  test("escape an invented token, and slow down guessing", async () => {
    const browser = new ConsoleBrowser(app);
    const { html } = await browser.open(`/app/reset?token=${encodeURIComponent('"><script>x</script>')}`);
    expect(html).not.toContain("<script>");
    const statuses: number[] = [];
    for (let n = 0; n < 21; n++) {
      statuses.push((await browser.send("/app/invitation", { token: `guess-${n}`, password: PASSWORD })).status);
    }
    expect(statuses).toEqual([...Array(20).fill(404), 429]);
  });

  test("sign a new person in and show the first steps; form errors are shown at their fields", async () => {
    const browser = new ConsoleBrowser(app);
    await browser.open("/app/sign-up");
    const fields = { name: "Maria <b> Almeida", email: `sign-up-${Date.now()}@example.com` };
    const weak = await browser.send("/app/sign-up", { ...fields, password: "password1234" });
    expect(weak.status).toBe(400);
    expect(weak.html).toContain('id="wrong-password"');
    expect(weak.html).toContain('value="Maria &lt;b&gt; Almeida"');
    const nameless = await browser.send("/app/sign-up", { ...fields, name: " ", password: PASSWORD });
    expect([nameless.status, nameless.html]).toEqual([400, expect.stringContaining('id="wrong-name"')]);
    const done = await browser.send("/app/sign-up", { ...fields, password: PASSWORD, timezone: "Asia/Tokyo" });
    expect(done).toMatchObject({ status: 303, location: expect.stringMatching(/^\/app\/[0-9a-f-]{36}$/) });
    const home = await browser.open(done.location!);
    expect(home).toMatchObject({ status: 200, title: "Welcome to Flockmail, Maria" });
    expect(home.html).toContain("Set up your account");
    expect(home.html).toContain("Maria’s company");
    const unnamed = await browser.send(`${done.location}/setup/name`, { name: " " });
    expect([unnamed.status, unnamed.html]).toEqual([400, expect.stringContaining('id="wrong-name"')]);
    const named = await browser.send(`${done.location}/setup/name`, { name: "Lantern Books" });
    expect(named).toMatchObject({ status: 303, location: `${done.location}?notice=saved` });
    expect((await browser.open(done.location!)).html).not.toContain("Maria’s company");
    expect((await browser.open(`${done.location}/settings/company`)).html).toMatch(
      /<option value="Asia\/Tokyo" selected/,
    );
  });

  test("changing a password keeps this session with a new cookie, and ends the old cookie and all other sessions", async () => {
    const company = await newCompany(app);
    const [browser, other] = [await signIn(app, company), await signIn(app, company)];
    await browser.open("/app/account/password");
    const wrong = await browser.send("/app/account/password", { current_password: "no", new_password: PASSWORD });
    expect([wrong.status, wrong.html]).toEqual([400, expect.stringContaining('id="wrong-current_password"')]);
    const old = browser.cookie;
    const given = { current_password: company.password, new_password: PASSWORD };
    expect(await browser.send("/app/account/password", given)).toMatchObject({
      status: 303,
      location: "/app/account?notice=passwordChanged",
    });
    expect((await browser.open("/app/account?notice=passwordChanged")).html).toContain("Your password is changed.");
    expect((await other.open("/app/account")).status).toBe(303);
    browser.cookie = old;
    expect((await browser.open("/app/account")).status).toBe(303);
  });

  test("a second factor is set up with a code, its recovery codes are shown once, and disabling it needs password and code", async () => {
    const company = await newCompany(app);
    const browser = await signIn(app, company);
    expect((await browser.open("/app/account/two-factor")).html).toContain("It is off.");
    const begun = await browser.send("/app/account/two-factor");
    const secret = /name="secret" value="(\w+)"/.exec(begun.html)![1]!;
    const uri = /name="uri" value="([^"]+)"/.exec(begun.html)![1]!.replaceAll("&amp;", "&");
    const again = await browser.send("/app/account/two-factor/confirm", { secret, uri, code: "nonsense" });
    expect([again.status, again.html]).toEqual([400, expect.stringContaining('id="wrong-code"')]);
    expect(again.html).toContain(`value="${secret}"`);
    const evil = await browser.send("/app/account/two-factor/confirm", {
      secret,
      uri: "javascript:alert(1)",
      code: "1",
    });
    expect(evil.html).not.toContain("javascript:");
    const code = totpCode(secret);
    const on = await browser.send("/app/account/two-factor/confirm", { secret, uri, code });
    expect(on.status).toBe(200);
    const codes = [...on.html.matchAll(/<li><code>([^<]+)<\/code>/g)].map(([, one]) => one!);
    expect(codes.length).toBeGreaterThan(5);
    const later = await browser.open("/app/account/two-factor");
    expect(later.html).not.toContain(codes[0]);
    expect(later.html).not.toContain(secret);
    const off = (fields: Record<string, string>) => browser.send("/app/account/two-factor/off", fields);
    expect((await off({ password: "no", code: codes[0]! })).status).toBe(400);
    expect((await off({ password: company.password, code: "no" })).status).toBe(400);
    expect(await off({ password: company.password, code: codes[0]! })).toMatchObject({ status: 303 });
    expect((await browser.open("/app/account/two-factor")).html).toContain("It is off.");
  });

  test("all company settings are saved by one button, and errors are shown at their fields with all that was typed", async () => {
    const company = await newCompany(app, { name: "Lantern" });
    const browser = await signIn(app, company);
    const api = client(app, { token: company.token });
    const stored = async () => (await api.get(`/api/companies/${company.id}/`)).body;
    const path = `/app/${company.id}/settings/company`;
    const { html } = await browser.open(path);
    expect(html.match(/<form[^>]* action="[^"]*settings\/company[^"]*"/g)).toHaveLength(1);
    const untouched = {
      name: "Lantern",
      timezone: "UTC",
      tracking_enabled: "on",
      individual_tracking: "on",
      "guard.hard_bounce_percent": "10",
      "guard.complaint_percent": "0.3",
      "guard.after": "200",
    };
    const general = {
      ...untouched,
      name: "Lantern Books",
      timezone: "Europe/Berlin",
      website: "lantern.example",
      footer_text: "Harbour Street 1\r\nSpringfield",
    };
    expect(await browser.send(path, general)).toMatchObject({ status: 303, location: `${path}?notice=saved` });
    expect(await stored()).toMatchObject({
      name: "Lantern Books",
      timezone: "Europe/Berlin",
      footer_text: "Harbour Street 1\nSpringfield",
      website: "https://lantern.example",
      tracking_enabled: true,
    });
    const wrong = await browser.send(path, {
      ...general,
      name: "Lantern & Sons",
      "retention_days.sent_emails": "5",
      "retention_days.events": "x",
    });
    expect(wrong.status).toBe(400);
    expect(wrong.html).toContain('id="wrong-retention_days.sent_emails"');
    expect(wrong.html).toContain('id="wrong-retention_days.events"');
    expect(wrong.html).toContain('name="retention_days.sent_emails" type="number" value="5"');
    expect(wrong.html).toContain('value="Lantern &amp; Sons"');
    expect((await stored()).name).toBe("Lantern Books");
    expect((await browser.send(path, { ...general, double_opt_in: "on" })).html).toContain('id="wrong-double_opt_in"');
    const { tracking_enabled: _, ...untracked } = general;
    await browser.send(path, {
      ...untracked,
      "retention_days.sent_emails": "90",
      form_attributes: "city\r\nbirthday",
      form_hosts: "www.example.com",
    });
    await browser.send(path, {
      ...untracked,
      "retention_days.sent_emails": "90",
      form_attributes: "city\r\nbirthday",
      form_hosts: "www.example.com",
      "guard.hard_bounce_percent": "5",
    });
    expect(await stored()).toMatchObject({
      tracking_enabled: false,
      individual_tracking: true,
      retention_days: { events: null, sent_emails: 90 },
      form_attributes: ["city", "birthday"],
      form_hosts: ["www.example.com"],
      guard: { hard_bounce_percent: 5, complaint_percent: 0.3, after: 200 },
    });
    const log = await browser.open(
      `/app/${company.id}/settings/audit-log?action=company.updated&actor=${company.email}`,
    );
    expect(log.html).toContain("Fields: guard");
    expect(log.html).toContain("Fields: name, website, footer text, timezone");
    expect(log.html).not.toContain("Signed in</th>");
    const none = await browser.open(`/app/${company.id}/settings/audit-log?since=2001-01-01&until=2001-01-02`);
    expect(none.html).toContain("No entries match");
    const plan = await browser.open(`/app/${company.id}/settings/plan`);
    expect(plan.html).toContain("Emails per month");
  });

  test("branding is previewed before it is saved, in a frame that runs no script; unreadable colours are refused at their field", async () => {
    const company = await newCompany(app);
    const browser = await signIn(app, company);
    const path = `/app/${company.id}/settings/branding`;
    const typed = { "branding.name": "Lantern <b>", "branding.color": "#7a1f3d", page: "unsubscribe" };
    const tried = await browser.open(`${path}?${new URLSearchParams(typed)}`);
    const [, source] = /<iframe class="brand-preview" sandbox title="Preview" src="([^"]+)"/.exec(tried.html)!;
    const frame = await browser.open(source!.replaceAll("&amp;", "&"));
    expect(frame.html).toContain("Lantern &lt;b&gt;");
    expect(frame.html).toContain("#7a1f3d");
    expect(frame.html).toContain("Unsubscribe");
    expect(frame.headers.get("x-frame-options")).toBe("SAMEORIGIN");
    expect(frame.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; .*frame-ancestors 'self'; sandbox$/,
    );
    expect(await browser.send(`${path}/designs`, {})).toMatchObject({ status: 303 });
    const api = client(app, { token: company.token });
    const stored = async () => (await api.get(`/api/companies/${company.id}/`)).body.branding;
    expect((await stored()).name).toBeNull();
    const pale = { ...typed, "branding.color": "#eeeeee", "branding.background": "#ffffff", "branding.language": "en" };
    const refused = await browser.send(path, pale);
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('id="wrong-branding.color"')]);
    expect(refused.html).toContain('value="#eeeeee"');
    expect(await browser.send(path, { ...pale, "branding.color": "#7a1f3d", "branding.language": "fr" })).toMatchObject(
      {
        status: 303,
      },
    );
    expect(await stored()).toMatchObject({
      name: "Lantern <b>",
      logo_url: null,
      color: "#7a1f3d",
      background: null,
      footer_text: null,
      language: "fr",
    });
  });

  test("deleting a company needs its owner, its name and the password; the page shows what is deleted", async () => {
    const company = await newCompany(app, { name: "Lantern Books" });
    await company.api.post("/api/emails/lists/", { name: "Readers" });
    const browser = await signIn(app, company);
    const path = `/app/${company.id}/settings/company/delete`;
    const asked = await browser.open(path);
    expect(asked.html).toMatch(/<dt>Lists<\/dt><dd>1<\/dd>/);
    const { password } = company;
    const other = await browser.send(path, { name: "Lantern", password });
    expect([other.status, other.html]).toEqual([400, expect.stringContaining('id="wrong-name"')]);
    const wrong = await browser.send(path, { name: "Lantern Books", password: "wrong" });
    expect([wrong.status, wrong.html]).toEqual([403, expect.stringContaining('id="wrong-password"')]);
    await query("update memberships set role = 'admin' where company_id = $1", [company.id]);
    expect((await browser.open(path)).status).toBe(403);
    expect((await browser.send(path, { name: "Lantern Books", password })).status).toBe(403);
    await query("update memberships set role = 'owner' where company_id = $1", [company.id]);
    expect(await browser.send(path, { name: "Lantern Books", password })).toMatchObject({
      status: 303,
      location: "/app/account?notice=companyDeleted",
    });
    expect((await browser.open(`/app/${company.id}`)).status).toBe(404);
    expect((await browser.open("/app/account?notice=companyDeleted")).html).toContain("The company is deleted.");
    expect((await browser.send("/app/companies/new", { name: " " })).html).toContain('id="wrong-name"');
    const founded = await browser.send("/app/companies/new", { name: "Lantern Two" });
    expect(await browser.open(founded.location!)).toMatchObject({ status: 200, title: "Overview" });
    expect((await browser.open(`${founded.location}/settings/company/delete`)).status).toBe(200);
  });

  test("a member reads the settings but cannot change them: no form, no branding, no log", async () => {
    const [company, member] = [await newCompany(app), await newCompany(app)];
    await Membership.create({ companyId: company.id, userId: member.userId, role: "member" });
    const browser = await signIn(app, member);
    const at = (page: string) => `/app/${company.id}/settings/${page}`;
    const { status, html } = await browser.open(at("company"));
    expect([status, html.includes(`action="${at("company")}`)]).toEqual([200, false]);
    expect(await browser.send(at("company"), { name: "Mine" })).toMatchObject({ status: 403 });
    for (const page of ["branding", "branding/preview", "audit-log", "company/delete"]) {
      const refused = await browser.open(at(page));
      expect([page, refused.status, refused.title]).toEqual([page, 403, "You may not do this"]);
    }
  });
});
