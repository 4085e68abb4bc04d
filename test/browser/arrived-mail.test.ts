import type { Browser, Page } from "playwright-core";
import { query, queryOne } from "../../models/database/db.ts";
import { newsletter } from "../../scripts/demo/newsletter.ts";
import { config } from "../../services/lib/config.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { read } from "../support/message.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { storedEvents } from "../support/stored-events.ts";
import { violations, WCAG } from "./axe.ts";
import { launchChromium } from "./chromium.ts";

const AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";

let app: App;
let smtp: SmtpServer;
let browser: Browser;
let company: TestCompany;
let smtpConfigId: string;
beforeAll(async () => {
  [app, smtp, browser] = [await startApp(), await startSmtpServer(), await launchChromium()];
  company = await newCompany(app, { name: "Lantern Books" });
  const made = await company.api.post("/api/emails/smtp-configs/", {
    name: "test",
    host: "127.0.0.1",
    port: smtp.port,
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@lantern.example",
  });
  smtpConfigId = made.body.id;
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
  await smtp.stop();
});

/** The HTML of one reader's mail, linked to the test's own gateway, an hour after it was sent. */
async function arrived(subject: string, body: string, receiver: Record<string, unknown>): Promise<string> {
  const before = smtp.messages.length;
  const sent = await company.api.post("/api/emails/send/custom/", {
    name: "C",
    smtp_config_id: smtpConfigId,
    subject,
    body,
    receivers: [receiver],
  });
  expect(sent.status).toBe(201);
  await smtp.received(before + 1);
  const hourAgo =
    "update sent_emails set sent_at = now() - interval '1 hour' where campaign_no = (select no from campaigns where id = $1) and status = 2";
  while ((await query(`${hourAgo} returning seq`, [sent.body.id])).length === 0) {
    await new Promise((soon) => setTimeout(soon, 20));
  }
  const { html } = await read(Buffer.from(smtp.messages.at(-1)!.raw, "latin1"));
  return html.replaceAll(config().BASE_URL, app.url);
}

async function open(html: string, javaScriptEnabled: boolean, work: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ userAgent: AGENT, javaScriptEnabled });
  try {
    const page = await context.newPage();
    await page.route("https://books.example.com/**", (route) => route.fulfill({ body: "a book" }));
    const pixel = page.waitForResponse(/\/public\/open\//);
    await page.setContent(html);
    expect((await pixel).status()).toBe(200);
    await work(page);
  } finally {
    await context.close();
  }
}

const reader = (email: string) => ({
  email,
  first_name: "Zoë",
  greeting: "Hello",
  language: "en",
  headline: "Six books",
});
const statusOf = async (email: string) =>
  (
    await queryOne<{ status: string }>("select status from subscribers where company_id = $1 and email = $2", [
      company.id,
      email,
    ])
  )?.status;

test.each([true, false])(
  "the pixel, links, web view, preferences and unsubscribe work, with JavaScript: %p",
  async (script) => {
    const email = `reader-${script}@example.com`;
    // Subscribers have preferences.
    await company.api.post("/api/emails/subscribers/", { email });
    const body = newsletter.body.replace(
      "View in browser",
      'View in browser</a> <a href="[[preferences_url]]">Preferences',
    );
    const html = await arrived(newsletter.subject, body, reader(email));
    await open(html, script, async (page) => {
      const hrefOf = (name: string) => page.getByRole("link", { name }).first().getAttribute("href");
      const [view, preferences, unsubscribe] = [
        await hrefOf("View in browser"),
        await hrefOf("Preferences"),
        await hrefOf("Unsubscribe"),
      ];
      await page.getByRole("link", { name: "The Harbour" }).click();
      await page.waitForURL("https://books.example.com/harbour?lang=en");

      await page.goto(view!);
      expect(await page.getByRole("heading").textContent()).toBe("Six books");
      expect(await page.getByRole("link", { name: "The Harbour" }).getAttribute("href")).toBe(
        "https://books.example.com/harbour?lang=en",
      );

      await page.goto(preferences!);
      await page.getByLabel("First name").fill("Zoé");
      await page.getByRole("button").click();
      await page.getByText("Your preferences are saved.").waitFor();

      await page.goto(unsubscribe!);
      expect(await statusOf(email)).toBe("active");
      await page.getByRole("button", { name: "Unsubscribe" }).click();
      await page.getByText("You are unsubscribed").first().waitFor();
      expect(await statusOf(email)).toBe("unsubscribed");
    });
    const events = (await storedEvents(company.id)).filter(({ recipient }) => recipient === email);
    expect(events.map(({ type, machine }) => ({ type, machine }))).toEqual([
      { type: "opened", machine: false },
      { type: "clicked", machine: false },
      { type: "unsubscribed", machine: false },
    ]);
  },
);

test.each(["en", "ar", "ja"])(
  "axe finds no problem in the parts added to a mail in %s: links, footer, pixel",
  async (lang) => {
    const body = `<!doctype html><html lang="${lang}"><head><title>News</title></head><body><main><h1>News</h1>
    <p><a href="https://books.example.com/">Books</a></p></main></body></html>`;
    await open(await arrived("News", body, { email: `${lang}@example.com` }), true, async (page) => {
      expect(await violations(page, WCAG)).toEqual([]);
    });
  },
);
