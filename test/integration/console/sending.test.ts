/**
 * Mail servers, DNS, bounces and webhooks in the console, used as by a browser without JavaScript; and the overview's
 * warnings.
 */
import { query } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { type ConsoleBrowser, signIn } from "../../support/console-browser.ts";
import { type DnsServer, startDnsServer } from "../../support/dns-server.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";
import { until } from "../campaigns/world.ts";

const EVIL = `<img src=x onerror=alert(1)>"'`;

let dns: DnsServer;
let smtp: SmtpServer;
let receiver: WebServer;
let app: App;
let company: TestCompany;
let browser: ConsoleBrowser;
beforeAll(async () => {
  dns = await startDnsServer();
  smtp = await startSmtpServer({ auth: { user: "relay", pass: "the right one" } });
  receiver = await startWebServer();
  app = await startApp({ env: { DNS_SERVERS: dns.address } });
  company = await newCompany(app);
  browser = await signIn(app, company);
  await browser.open(at(""));
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
  await smtp.stop();
  await dns.stop();
});

const at = (path: string) => `/app/${company.id}${path && `/${path}`}`;

/** Fields of the mail server form as filled in by a person. */
const typed = (more: Record<string, string> = {}) => ({
  name: "Relay",
  host: "127.0.0.1",
  port: `${smtp.port}`,
  encryption: "none",
  username: "relay",
  password: "the right one",
  sender_name: "Acme",
  sender_email: "news@acme.example",
  max_connections: "5",
  ...more,
});

async function newServer(more: Record<string, string> = {}): Promise<string> {
  const { status, location } = await browser.send(at("servers/new"), typed(more));
  expect(status).toBe(303);
  return location!.split("?")[0]!;
}

describe("servers", () => {
  test("a server is added with all its settings; errors are shown at their fields, and no password is returned", async () => {
    const refused = await browser.send(
      at("servers/new"),
      typed({ port: "many", sender_email: "nobody", warmup_start: "500", warmup_factor: "2", warmup_until: "100" }),
    );
    expect(refused.status).toBe(400);
    for (const field of ["port", "sender_email"]) expect(refused.html).toContain(`id="wrong-${field}"`);
    expect(refused.html).toContain('value="many"');
    expect(refused.html).not.toContain("the right one");
    const path = await newServer({
      name: EVIL,
      max_per_second: "20",
      warmup_start: "50",
      warmup_factor: "1.5",
      warmup_until: "5000",
      "limit.0.domain": "mail.example",
      "limit.0.per_minute": "100",
      "limit.1.connections": "",
      bounce_address: "bounce@acme.example",
      mailbox_host: "127.0.0.1",
      mailbox_port: "993",
      mailbox_username: "bounces",
      mailbox_password: "of the mailbox",
      mailbox_tls: "on",
    });
    const stored = (await company.api.get(`/api/emails/smtp-configs/${path.split("/").at(-1)}/`)).body;
    expect(stored).toMatchObject({
      max_connections: 5,
      max_per_second: 20,
      warmup: { start_per_day: 50, factor: 1.5, until_per_day: 5_000 },
      domain_limits: [{ domain: "mail.example", max_per_minute: 100 }],
      bounce_mailbox: { host: "127.0.0.1", username: "bounces", use_tls: true },
    });
    for (const page of [path, `${path}/edit`, `${path}/delete`, at("servers"), at("domains"), at("bounces")]) {
      const { html, status } = await browser.open(page);
      expect({ page, status }).toEqual({ page, status: 200 });
      expect(html).not.toMatch(/<img|the right one|of the mailbox/);
    }
  });

  test("an edit keeps fields left empty, and asks for the password before another host gets it", async () => {
    const path = await newServer({ "limit.0.domain": "mail.example", "limit.0.connections": "2" });
    const form = typed({ username: "", password: "", name: "Renamed" });
    expect(await browser.send(`${path}/edit`, form)).toMatchObject({ status: 303 });
    const api = `/api/emails/smtp-configs/${path.split("/").at(-1)}/`;
    expect((await company.api.get(api)).body).toMatchObject({ name: "Renamed", domain_limits: [] });
    expect((await browser.send(`${path}/check`)).html).toContain("The connection works.");
    const moved = await browser.send(`${path}/edit`, { ...form, host: "smtp.elsewhere.example" });
    expect(moved.status).toBe(400);
    expect(moved.html).toMatch(/id="wrong-password"[^>]*>Enter the password again/);
    expect((await company.api.get(api)).body.host).toBe("127.0.0.1");
  });

  test("a connection test says what is wrong and what to do, saves nothing, and uses the stored password for the stored server only", async () => {
    const before = (await company.api.get("/api/emails/smtp-configs/")).body.count;
    const wrong = await browser.send(at("servers/new"), { ...typed({ password: "wrong" }), intent: "try" });
    expect(wrong.status).toBe(200);
    expect(wrong.html).toContain("The server refused the username or password.");
    expect((await browser.send(at("servers/new"), { ...typed(), intent: "try" })).html).toContain(
      "The connection works.",
    );
    expect((await company.api.get("/api/emails/smtp-configs/")).body.count).toBe(before);
    const path = await newServer();
    const stored = { ...typed({ username: "", password: "" }), intent: "try" };
    expect((await browser.send(`${path}/edit`, stored)).html).toContain("The connection works.");
    const elsewhere = await browser.send(`${path}/edit`, { ...stored, port: "9" });
    expect(elsewhere.html).toContain("Enter username and password");
    const half = await browser.send(`${path}/edit`, { ...stored, password: "another" });
    expect(half.html).toContain("Enter username and password");
  });

  test("a test mail goes to the signed-in person only", async () => {
    const path = await newServer({ name: `Relay ${EVIL} [[name]]` });
    const { html } = await browser.send(`${path}/test`);
    expect(html).toContain(`The server accepted the email to ${company.email}.`);
    expect(smtp.messages.flatMap(({ to }) => to)).toEqual([company.email]);
  });

  test("one button saves a new server and sends the first mail; a refusal is shown on the page of the saved server", async () => {
    const before = smtp.messages.length;
    const address = { host: `127.0.0.1:${smtp.port}`, port: "587", encryption: "auto", name: "" };
    const connect = async (password: string) => {
      const form = { ...typed({ ...address, password }), intent: "mail" };
      const { status, location } = await browser.send(at("servers/new"), form);
      expect(status).toBe(303);
      return (await browser.open(location!)).html;
    };
    const refused = await connect("wrong");
    expect(refused).toContain(`The email to ${company.email} was not accepted:`);
    expect(refused).toContain("The server refused the username or password.");
    expect(smtp.messages).toHaveLength(before);
    const html = await connect("the right one");
    expect(html).toContain(`The server accepted the email to ${company.email}.`);
    expect(html).toContain(`127.0.0.1:${smtp.port}</dd>`);
    expect(smtp.messages.slice(before).flatMap(({ to }) => to)).toEqual([company.email]);
  });

  test("an unavailable server is shown with reason, time and advice; deleting it first shows what stops", async () => {
    const path = await newServer({ name: "Broken" });
    const id = path.split("/").at(-1);
    await query(
      `update smtp_configs set failing_since = now(), last_error = '535 5.7.8 Authentication failed', last_error_at = now(),
         backoff_until = now() + interval '1 hour' where id = $1`,
      [id],
    );
    const broken = await browser.open(path);
    expect(broken.html).toContain("535 5.7.8 Authentication failed");
    expect(broken.html).toContain("The server refused the username or password.");
    const template = (await company.api.post("/api/emails/templates/", { name: "T", subject: "S", body: "B" })).body.id;
    const sent = await company.api.post("/api/emails/send/to-receivers/", {
      name: "October",
      smtp_config_id: id,
      template_id: template,
      receivers: [{ email: "ann@example.com" }, { email: "bob@example.com" }],
      scheduled_for: "2999-01-01T00:00:00Z",
    });
    expect(sent.status).toBe(201);
    const { html } = await browser.open(`${path}/delete`);
    expect(html).toContain("Campaigns that use it: 1.");
    expect(html).toContain("October");
    expect(await browser.send(`${path}/delete`)).toMatchObject({ status: 303 });
    expect((await browser.open(path)).status).toBe(404);
  });
});

describe("domains", () => {
  test("records are looked up on request; a new key waits for its record, and signs once it is found", async () => {
    const path = (await newServer({ sender_email: "news@keys.example" })).replace("/servers/", "/domains/");
    const plain = await browser.open(path);
    expect(plain.title).toBe("DNS of keys.example");
    expect(plain.html).not.toContain("Publish this record:");
    const wrong = await browser.send(`${path}/dkim`, { domain: "keys.example", selector: "a b", algorithm: "rsa" });
    expect(wrong.html).toContain('id="wrong-selector"');
    const made = { domain: "keys.example", selector: "fm1", algorithm: "ed25519" };
    expect(await browser.send(`${path}/dkim`, made)).toMatchObject({ status: 303 });
    const waiting = await browser.open(path);
    expect(waiting.html).toContain("Waiting for its record");
    const [, record] = /data-copy>(v=DKIM1[^<]+)</.exec(waiting.html)!;
    dns.zones.set("fm1._domainkey.keys.example", { txt: [record!] });
    dns.zones.set("keys.example", { txt: ["v=spf1 ?all", "v=spf1 -all"] });
    const looked = await browser.open(`${path}?look=now`);
    expect(looked.html).toContain("2 SPF records");
    expect(looked.html).toContain("Late bounces go to your own mailbox and are not counted.");
    expect(looked.html).not.toMatch(/BASE_URL|bounce_address/);
    expect(looked.html).toContain("_dmarc.keys.example");
    expect(looked.html).toMatch(/fm1\._domainkey\.keys\.example<\/strong> <span class="status status-active">Signing/);
    expect((await browser.open(at("domains"))).html).toMatch(/Failing: SPF/);
    expect((await browser.open(at(""))).html).toContain(`href="${path}"`);
    expect(await browser.send(`${path}/stop-signing`)).toMatchObject({ status: 303 });
    expect((await browser.open(path)).html).toContain("Email is not signed.");
  });

  test("a tracking domain is claimed with the record to publish, and released", async () => {
    const wrong = await browser.send(at("domains/tracking"), { tracking_domain: "no host" });
    expect(wrong.html).toContain('id="wrong-tracking_domain"');
    expect(await browser.send(at("domains/tracking"), { tracking_domain: "click.acme.example" })).toMatchObject({
      status: 303,
    });
    const { html } = await browser.open(at("domains"));
    expect(html).toContain("click.acme.example is not used yet");
    expect(html).toContain("CNAME");
    expect(await browser.send(at("domains/tracking"))).toMatchObject({ status: 303 });
    expect((await browser.open(at("domains"))).html).toContain("Not set: links use");
  });
});

describe("bounces", () => {
  test("reports are listed and filtered; a provider's address is added and removed; the guard is set", async () => {
    await company.api.post("/api/emails/bounces/", { email: "gone@example.com", type: "hard", diagnostic: EVIL });
    const { html } = await browser.open(at("bounces?result=unmatched&via=api"));
    expect(html).toContain("gone@example.com");
    expect(html).not.toContain("<img");
    expect((await browser.open(at("bounces?result=complained"))).html).toContain("No report matches");
    const noSecret = await browser.send(at("bounces/settings/sources"), { provider: "sendgrid" });
    expect(noSecret.html).toContain('id="wrong-secret"');
    expect(await browser.send(at("bounces/settings/sources"), { provider: "ses" })).toMatchObject({ status: 303 });
    const [, remove] = /action="([^"]+\/sources\/[^"]+\/remove)"/.exec(
      (await browser.open(at("bounces/settings"))).html,
    )!;
    expect(await browser.send(remove!)).toMatchObject({ status: 303 });
    expect((await browser.open(at("bounces/settings"))).html).not.toContain("/remove");
    const guard = { hard_bounce_percent: "5", complaint_percent: "0.1", after: "100" };
    expect(await browser.send(at("bounces/settings/guard"), { ...guard, after: "0" })).toMatchObject({ status: 400 });
    expect(await browser.send(at("bounces/settings/guard"), guard)).toMatchObject({ status: 303 });
    expect((await company.api.get(`/api/companies/${company.id}/`, { token: company.token })).body.guard).toEqual({
      hard_bounce_percent: 5,
      complaint_percent: 0.1,
      after: 100,
    });
    expect(await browser.open(at("recipient-domains?days=7&count=yes"))).toMatchObject({ status: 200 });
  });
});

describe("webhooks", () => {
  test("an endpoint is added, its secret shown once; deliveries show the payload and the start of the response, and can be repeated", async () => {
    expect((await browser.send(at("webhooks/new"), { url: "ftp://x" })).html).toContain('id="wrong-events"');
    const made = await browser.send(at("webhooks/new"), { url: `${receiver.url}/hook`, "event.opened": "on" });
    const [, secret] = /data-copy>(whsec_[^<]+)</.exec(made.html)!;
    const [, path] = new RegExp(`action="(${at("webhooks")}/[0-9a-f-]{36})"`).exec(made.html)!;
    expect((await browser.open(path!)).html).not.toContain(secret);

    receiver.answer = { status: 500, body: EVIL };
    const { location: delivery } = await browser.send(`${path}/test`);
    const failed = await until(
      () => browser.open(delivery!),
      ({ html }) => html.includes("answered 500"),
    );
    expect(failed.html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(failed.html).toContain("&quot;test&quot;: true");
    expect((await browser.open(`${path}?status=pending&event=opened`)).html).toContain(delivery!);
    expect((await browser.open(`${path}?status=succeeded`)).html).toContain("No deliveries match");
    expect((await browser.open(at(""))).html).toContain(`href="${path}"`);

    receiver.answer = {};
    expect(await browser.send(`${delivery}/redeliver`)).toMatchObject({ status: 303 });
    await until(
      () => browser.open(delivery!),
      ({ html }) => html.includes("your server accepted the event."),
    );
    const rotated = await browser.send(`${path}/rotate`);
    expect(/data-copy>(whsec_[^<]+)</.exec(rotated.html)![1]).not.toBe(secret);
    await browser.send(`${path}/pause`);
    expect((await browser.open(path!)).html).toContain("Paused ");
    expect(await browser.send(`${path}/test`)).toMatchObject({ status: 400 });
    await browser.send(`${path}/enable`);
    expect((await browser.open(path!)).html).not.toContain("Paused ");
    expect(await browser.send(`${path}/delete`)).toMatchObject({ status: 303 });
    expect((await browser.open(path!)).status).toBe(404);
  });
});

test.each(["viewer", "member"])("a %s sees all of it without forms, and every write is refused", async (role) => {
  const mine = await newCompany(app);
  const relay = { name: "R", host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
  const server = (await mine.api.post("/api/emails/smtp-configs/", { ...relay, sender_email: "a@acme.example" })).body
    .id;
  const hook = (await mine.api.post("/api/emails/webhook-endpoints/", { url: `${receiver.url}/`, events: ["opened"] }))
    .body.id;
  const delivery = (await mine.api.post(`/api/emails/webhook-endpoints/${hook}/test/`, {})).body.id;
  await query("update memberships set role = $2 where company_id = $1", [mine.id, role]);
  const theirs = await signIn(app, mine);
  const root = `/app/${mine.id}`;
  const pages = [
    "servers",
    `servers/${server}`,
    "domains",
    `domains/${server}`,
    "bounces",
    "recipient-domains",
    "webhooks",
    `webhooks/${hook}`,
    `webhooks/${hook}/deliveries/${delivery}`,
  ];
  const writable = role === "member" ? new RegExp(`^${root}/servers/${server}/test$`) : /^$/;
  for (const page of pages) {
    const { status, html } = await theirs.open(`${root}/${page}`);
    const forms = [...html.matchAll(/method="post" action="([^"]+)"/g)].map(([, action]) => action!);
    const others = forms.filter((action) => action !== "/app/logout" && !writable.test(action));
    expect({ page, status, others }).toEqual({ page, status: 200, others: [] });
  }
  for (const page of ["servers/new", `servers/${server}/edit`, `servers/${server}/delete`, "webhooks/new"]) {
    expect(await theirs.open(`${root}/${page}`)).toMatchObject({ status: 403, title: "You may not do this" });
  }
  const writes = [
    "servers/new",
    ...["edit", "check", "default", "delete"].map((what) => `servers/${server}/${what}`),
    "domains/tracking",
    ...["dkim", "own-key", "stop-signing"].map((what) => `domains/${server}/${what}`),
    "bounces/settings/guard",
    "bounces/settings/sources",
    `bounces/settings/sources/${newId()}/remove`,
    "webhooks/new",
    `webhooks/${hook}`,
    ...["pause", "enable", "test", "rotate", "delete"].map((what) => `webhooks/${hook}/${what}`),
    `webhooks/${hook}/deliveries/${delivery}/redeliver`,
    ...(role === "viewer" ? [`servers/${server}/test`] : []),
  ];
  for (const path of writes) {
    expect({ path, status: (await theirs.send(`${root}/${path}`, { url: "https://x.example/" })).status }).toEqual({
      path,
      status: 403,
    });
  }
  for (const page of [
    `servers/${server}`,
    `domains/${server}`,
    `webhooks/${hook}`,
    `webhooks/${hook}/deliveries/${delivery}`,
  ]) {
    expect({ page, status: (await browser.open(at(page))).status }).toEqual({ page, status: 404 });
  }
});

test("the overview compares opens and clicks with the 30 days before", async () => {
  const other = await newCompany(app);
  await query(
    `insert into company_days (company_id, day, slot, sent, returned, bounced, complained, opens, clicks)
     values ($1, current_date - 10, 0, 200, 0, 0, 0, 80, 4), ($1, current_date - 40, 0, 100, 0, 0, 0, 30, 4)`,
    [other.id],
  );
  const { html } = await (await signIn(app, other)).open(`/app/${other.id}`);
  expect(html).toMatch(/40\.0 %<\/dd>\s*<dd><strong class="better">\+10\.0 pt<\/strong> vs\. previous 30 days/);
  expect(html).toMatch(/2\.0 %<\/dd>\s*<dd><strong class="worse">−2\.0 pt<\/strong> vs\. previous 30 days/);
});
