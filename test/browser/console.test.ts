import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { violations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";

// axe over every page, on a machine that has other work.
jest.setTimeout(300_000);

let app: App;
let browser: Browser;
let company: TestCompany;
let campaignId: string;
let personId: string;
beforeAll(async () => {
  app = await startApp();
  browser = await launchChromium();
  company = await newCompany(app, { name: "Analytical Engines" });
  const smtp = await company.api.post("/api/emails/smtp-configs/", {
    name: "S",
    host: "127.0.0.1",
    port: 9,
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@acme.example",
  });
  const sent = await company.api.post("/api/emails/send/custom/", {
    name: "October newsletter",
    smtp_config_id: smtp.body.id,
    subject: "Six books",
    body: '<p><a href="https://example.com/">Books</a></p>',
    receivers: [{ email: "ada@example.com" }, { email: "bob@example.com" }],
  });
  campaignId = sent.body.id;
  const list = (await company.api.post("/api/emails/lists/", { name: "Readers" })).body.id;
  const grace = { email: "grace@example.com", first_name: "Grace", attributes: { city: "New York" }, lists: [list] };
  personId = (await company.api.post("/api/emails/subscribers/", grace)).body.id;
  await company.api.post("/api/emails/suppressions/", { email: "gone@example.com", reason: "Asked us to stop" });
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
});

const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>) => openPage(browser, options, work);

const signIn = (page: Page): Promise<void> => signInOn(page, app, company);

const PAGES = () => [
  "login",
  `${company.id}`,
  `${company.id}/campaigns`,
  `${company.id}/campaigns/${campaignId}`,
  "account/sessions",
  `${company.id}/subscribers`,
  `${company.id}/subscribers/${personId}`,
  `${company.id}/lists`,
  `${company.id}/suppressions`,
  `${company.id}/settings/keys`,
  `${company.id}/settings/members`,
  `${company.id}/settings/plan`,
  `${company.id}/none`,
];

test.each([
  ["light", "a laptop", { colorScheme: "light", viewport: { width: 1280, height: 800 } }],
  ["dark", "a phone", { colorScheme: "dark", viewport: { width: 360, height: 640 } }],
  [
    "zoomed",
    "a laptop at 200 %",
    { colorScheme: "light", viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  ],
] as [string, string, BrowserContextOptions][])(
  "every page passes axe and is no wider than the window: %s, %s",
  async (how, _where, options) => {
    await open(options, async (page) => {
      await signIn(page);
      for (const path of PAGES()) {
        await page.goto(`${app.url}/app/${path}`);
        const width = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
        // To look at; nothing compares them.
        await page.screenshot({
          path: `${SHOTS}/${how}-${path
            .replaceAll(company.id, "company")
            .replace(/[0-9a-f-]{36}/, "id")
            .replaceAll("/", "-")}.png`,
        });
        expect({ path, wider: Math.max(0, width as number), wrong: await violations(page) }).toEqual({
          path,
          wider: 0,
          wrong: [],
        });
      }
    });
  },
);

test("from sign-in to a stopped campaign, with the keyboard and without JavaScript", async () => {
  await open({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${app.url}/app/${company.id}/campaigns`);
    await page.getByLabel("Email address").focus();
    await page.keyboard.type(company.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type(company.password);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${app.url}/app/${company.id}/campaigns`);
    const link = page.getByRole("link", { name: "October newsletter" });
    await link.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "October newsletter" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`${campaignId}$`));
    await expect(page.getByText(`Stopped by ${company.email}.`).waitFor()).resolves.toBeUndefined();
  });
});
