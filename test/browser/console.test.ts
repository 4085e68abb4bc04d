import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { waitingCampaign } from "../support/waiting-campaign.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, signInOn } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE, shotName, ZOOMED } from "./whole-pages.ts";

// Runs axe on every page, even on a busy machine.
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
  const body = '<p><a href="https://example.com/">Books</a></p>';
  campaignId = await waitingCampaign(company, "October newsletter", body);
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

test.each([LAPTOP, PHONE, ZOOMED])(
  "every page passes axe and is no wider than the window: %s",
  async (how, options) => {
    await open(options, async (page) => {
      await signIn(page);
      const pages = PAGES().map((path) => [shotName(path), `${app.url}/app/${path}`] as const);
      await expectWholePages(page, { shots: how, pages });
    });
  },
);

test("a person signs in and stops a campaign by keyboard and without JavaScript", async () => {
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
