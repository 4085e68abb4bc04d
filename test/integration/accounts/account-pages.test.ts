/** The pages that links of system mail lead to, as a browser without scripts uses them. */
import { setTimeout as sleep } from "node:timers/promises";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, someIp } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const PASSWORD = "quite another staple";

describe("the pages of system mail", () => {
  let app: App;
  let smtp: SmtpServer;
  beforeAll(async () => {
    smtp = await startSmtpServer();
    app = await startApp({
      services: ["accounts", "gateway"],
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

  /** Follows the link as it stands in the mail, and sends the form that is there. */
  async function use(link: URL, fields: Record<string, string>) {
    const headers = { "X-Forwarded-For": someIp() };
    const opened = await fetch(`${app.url}${link.pathname}${link.search}`, { headers });
    const html = await opened.text();
    expect([opened.status, opened.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(opened.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(opened.headers.get("referrer-policy")).toBe("no-referrer");
    expect(html).not.toContain("<script");
    const token = /name="token" value="([\w-]*)"/.exec(html)![1]!;
    expect(token).toBe(link.searchParams.get("token"));
    for (const name of Object.keys(fields)) expect(html).toContain(`<label for="${name}">`);
    const sent = await fetch(opened.url, { method: "POST", headers, body: new URLSearchParams({ token, ...fields }) });
    return { status: sent.status, html: await sent.text() };
  }

  test("verify, reset and accept; what is wrong is said on the page, and the form is there again", async () => {
    const company = await newCompany(app);
    const verified = await use(await linkFor(company.email, "verify"), {});
    expect([verified.status, verified.html]).toEqual([200, expect.stringContaining("Your address is confirmed.")]);
    const again = await use(await linkFor(company.email, "verify"), {});
    expect([again.status, again.html]).toEqual([400, expect.stringContaining("This link is no longer valid.")]);

    const anyone = client(app, { ip: someIp() });
    await anyone.post("/api/auth/password/reset/", { email: company.email });
    const reset = await linkFor(company.email, "reset");
    const weak = await use(reset, { new_password: "password1234" });
    expect([weak.status, weak.html]).toEqual([400, expect.stringContaining("This password is too common.")]);
    expect(weak.html).toContain('name="new_password"');
    expect((await use(reset, { new_password: PASSWORD })).status).toBe(200);
    const login = await anyone.post("/api/auth/login/", { email: company.email, password: PASSWORD });
    expect(login.status).toBe(200);

    const owner = client(app, { token: login.body.access });
    const email = "invited@example.net";
    await owner.post(`/api/companies/${company.id}/members/`, { email, role: "member" });
    const invitation = await linkFor(email, "invitation");
    const person = { first_name: "<Ada>", last_name: "Lee" };
    const refused = await use(invitation, { ...person, password: "short" });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('value="&#60;Ada&#62;"');
    expect((await use(invitation, { ...person, password: PASSWORD })).status).toBe(200);
    expect((await use(invitation, { ...person, password: PASSWORD })).status).toBe(410);
    expect((await anyone.post("/api/auth/login/", { email, password: PASSWORD })).status).toBe(200);
  });

  test("a made-up token is shown as text, never as markup, and guessing is slowed down", async () => {
    const ip = someIp();
    const headers = { "X-Forwarded-For": ip };
    const evil = await fetch(`${app.url}/app/reset/?token=${encodeURIComponent('"><script>x</script>')}`, { headers });
    expect(await evil.text()).not.toContain("<script");
    const statuses: number[] = [];
    for (let n = 0; n < 21; n++) {
      const body = new URLSearchParams({ token: `guess-${n}`, password: PASSWORD });
      statuses.push((await fetch(`${app.url}/app/invitation/`, { method: "POST", headers, body })).status);
    }
    expect(statuses).toEqual([...Array(20).fill(404), 429]);
  });
});
