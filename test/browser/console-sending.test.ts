import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { query } from "../../models/database/db.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { startWebServer, type WebServer } from "../support/web-server.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, signInOn } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE } from "./whole-pages.ts";

let app: App;
let browser: Browser;
let dns: DnsServer;
let smtp: SmtpServer;
let receiver: WebServer;
let company: TestCompany;
let server: string;
let hook: string;
let delivery: string;
beforeAll(async () => {
  dns = await startDnsServer({ "acme.example": { txt: ["v=spf1 ?all"], mx: [[10, "mx.acme.example"]] } });
  smtp = await startSmtpServer();
  receiver = await startWebServer();
  receiver.answer = { status: 500, body: "database is away" };
  app = await startApp({ env: { DNS_SERVERS: dns.address } });
  browser = await launchChromium();
  company = await newCompany(app, { name: "Analytical Engines" });
  const { api } = company;
  const relay = { host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
  const full = {
    name: "Main relay",
    sender_name: "Analytical Engines",
    sender_email: "news@acme.example",
    bounce_address: "bounce@acme.example",
    max_per_second: 20,
    warmup: { start_per_day: 50, factor: 1.5, until_per_day: 5_000 },
    domain_limits: [{ domain: "mail.example", max_per_minute: 100 }],
  };
  server = (await api.post("/api/emails/smtp-configs/", { ...relay, ...full })).body.id;
  await api.post(`/api/emails/smtp-configs/${server}/dkim/`, {
    domain: "acme.example",
    selector: "fm1",
    algorithm: "rsa",
  });
  const broken = { ...relay, name: "Second relay of the newsletter", sender_email: "letters@other.example" };
  const second = (await api.post("/api/emails/smtp-configs/", broken)).body.id;
  await query(
    `update smtp_configs set failing_since = now(), last_error = '535 5.7.8 Authentication credentials invalid',
       last_error_at = now(), backoff_until = now() + interval '20 minutes' where id = $1`,
    [second],
  );
  for (const n of [1, 2, 3]) {
    const diagnostic =
      "550 5.1.1 <gone@example.com>: Recipient address rejected: User unknown in virtual mailbox table";
    await api.post("/api/emails/bounces/", { email: `gone${n}@example.com`, type: "hard", diagnostic });
  }
  await api.post("/api/emails/inbound-sources/", { provider: "postmark", secret: "a long password" });
  const url = `${receiver.url}/hooks/mail`;
  hook = (await api.post("/api/emails/webhook-endpoints/", { url, events: ["opened", "clicked"] })).body.id;
  delivery = (await api.post(`/api/emails/webhook-endpoints/${hook}/test/`, {})).body.id;
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
  await receiver.stop();
  await smtp.stop();
  await dns.stop();
});

const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> =>
  openPage(browser, options, work);

const at = (path: string) => `${app.url}/app/${company.id}${path && `/${path}`}`;

const signIn = (page: Page): Promise<void> => signInOn(page, app, company);

const PAGES = () => ({
  overview: "",
  servers: "servers",
  server: `servers/${server}`,
  "server-new": "servers/new",
  "server-edit": `servers/${server}/edit`,
  "server-delete": `servers/${server}/delete`,
  domains: "domains",
  domain: `domains/${server}?look=now`,
  bounces: "bounces",
  "bounces-settings": "bounces/settings",
  "recipient-domains": "recipient-domains",
  webhooks: "webhooks",
  "webhook-new": "webhooks/new",
  webhook: `webhooks/${hook}`,
  delivery: `webhooks/${hook}/deliveries/${delivery}`,
});

test.each([LAPTOP, PHONE])(
  "every page passes axe and is no wider than the window: %s",
  async (how, options) => {
    await open(options, async (page) => {
      await signIn(page);
      const pages = Object.entries(PAGES()).map(([name, path]) => [name, at(path)] as const);
      await expectWholePages(page, { shots: `sending-${how}`, pages });
    });
  },
  300_000,
);

test("a mail server is added, tested and saved by keyboard, without JavaScript", async () => {
  await open({ javaScriptEnabled: false }, async (page) => {
    await signIn(page);
    await page.goto(at("servers"));
    await page.getByRole("link", { name: "Connect mail server" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Connect a mail server" }).waitFor();
    const type = async (label: string, text: string) => {
      await page.getByLabel(label, { exact: true }).focus();
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(text);
    };
    await type("Host", "127.0.0.1");
    await page.getByText("More settings").focus();
    await page.keyboard.press("Enter");
    await type("Name", "By keyboard");
    await type("Port", "9");
    await page.getByLabel("Encryption", { exact: true }).selectOption("none");
    await type("Sender address", "letters@acme.example");
    await page.getByRole("button", { name: "Test connection" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("No mail server answers at this host and port").waitFor();
    await type("Port", `${smtp.port}`);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "By keyboard" }).waitFor();
    await page.getByRole("button", { name: "Check connection" }).focus();
    await page.keyboard.press("Enter");
    await expect(page.getByText("The connection works.").waitFor()).resolves.toBeUndefined();
  });
}, 120_000);

test("a check updates only its own part of the page, DNS checks run without a click, and records have a copy button", async () => {
  await open({}, async (page) => {
    await signIn(page);
    await page.goto(at(`servers/${server}`));
    await page.getByRole("button", { name: "Check connection" }).click();
    await page.getByText("The connection works.").waitFor();
    expect(page.url()).toBe(at(`servers/${server}`));
    await page.goto(at(`domains/${server}`));
    await page.getByText("There is no DMARC record.").waitFor();
    const record = page.getByRole("button", { name: /^Copy _dmarc/ });
    await record.focus();
    await page.keyboard.press("Enter");
    await expect(page.getByText(/^(Copied|Selected)$/).waitFor()).resolves.toBeUndefined();
  });
}, 120_000);

test("a webhook is added and tested by mouse; its delivery and the receiver's response appear without a reload", async () => {
  await open({}, async (page) => {
    await signIn(page);
    await page.goto(at("webhooks/new"));
    await page.getByLabel("Endpoint URL").fill(`${receiver.url}/other`);
    await page.getByRole("checkbox", { name: /^Bounced/ }).check();
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Send test event" }).click();
    await page.getByText("The endpoint answered 500: database is away").waitFor();
    await expect(page.getByText('"test": true').waitFor()).resolves.toBeUndefined();
  });
}, 120_000);
