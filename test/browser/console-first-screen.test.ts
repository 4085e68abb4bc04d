/** The first quarter of an hour: sign-up, the first screen, sample data and its report, at a desk and on a phone. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { type App, startApp } from "../support/app.ts";
import { client, someIp } from "../support/client.ts";
import { violations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS } from "./open-page.ts";

jest.setTimeout(180_000);

let app: App;
let browser: Browser;
beforeAll(async () => {
  [app, browser] = [await startApp(), await launchChromium()];
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const PASSWORD = "quite another staple";
let people = 0;

/** A person who has just signed up, on the first screen. */
const signUp = (work: (page: Page, email: string) => Promise<void>, options: BrowserContextOptions = {}) =>
  openPage(browser, { bypassCSP: false, ...options }, async (page) => {
    const email = `first-${process.pid}-${++people}@example.com`;
    await page.goto(`${app.url}/app/sign-up`);
    await page.getByLabel("Your name").fill("Maria Almeida");
    await page.getByLabel("Email address").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("heading", { level: 1, name: "Welcome to Flockmail, Maria" }).waitFor();
    await work(page, email);
  });

test("a new company has the time zone of the browser it was made in, and is called after its owner until it has a name", async () => {
  await signUp(
    async (page, email) => {
      const login = await client(app, { ip: someIp() }).post("/api/auth/login/", { email, password: PASSWORD });
      const owner = client(app, { token: login.body.access });
      const [{ id }] = (await owner.get("/api/auth/me/")).body.companies;
      const companyNow = async () => (await owner.get(`/api/companies/${id}/`)).body;
      expect(await companyNow()).toMatchObject({ name: "Maria’s company", timezone: "Asia/Tokyo" });
      await page.getByText("6 more steps to your first campaign.").waitFor();
      await page.getByLabel("Name of your company").fill("Lantern Books");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("5 more steps to your first campaign.").waitFor();
      expect(await companyNow()).toMatchObject({ name: "Lantern Books", timezone: "Asia/Tokyo" });
      expect((await owner.get("/api/auth/me/")).body.user).toMatchObject({ first_name: "Maria", last_name: "Almeida" });
    },
    { timezoneId: "Asia/Tokyo" },
  );
});

test("sample data comes and goes by one click each, leaves the first steps as they are, and shows a report", async () => {
  await signUp(
    async (page) => {
      expect(await page.locator("main .primary:visible").count()).toBe(2);
      expect(await page.locator("figure").count()).toBe(0);
      await page.screenshot({ path: `${SHOTS}/first-screen.png`, fullPage: true });
      await page.getByRole("button", { name: "Add sample data" }).first().click();
      await page.getByText("Sample data added.").waitFor();
      await page.getByText("6 more steps to your first campaign.").waitFor();
      expect(await violations(page)).toEqual([]);
      const overview = page.url().split("?")[0]!;
      await page.getByRole("link", { name: "Open the sample report" }).click();
      await page.getByText("46 delivered, 2 bounced").waitFor();
      await page.getByRole("heading", { name: "Opens and clicks per hour" }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.goto(overview);
      await page.getByRole("button", { name: "Remove sample data" }).click();
      await page.getByText("Sample data removed.").waitFor();
      await page.goto(`${overview}/subscribers`);
      expect(await page.getByText("sample.flockmail.test").count()).toBe(0);
    },
    { viewport: { width: 1280, height: 860 }, bypassCSP: true },
  );
});

test("clicks are shown on the email, within the report", async () => {
  await signUp(async (page) => {
    await page.getByRole("button", { name: "Add sample data" }).first().click();
    await page.getByRole("link", { name: "Open the sample report" }).click();
    await page.getByText("Show on the email").click();
    const frame = page.frameLocator("iframe.mail");
    await frame.getByText("See the spring list").waitFor();
    expect(await frame.getByText(/^\d+ · \d+\.\d %$/).allTextContents()).toEqual([
      "3 · 6.5 %",
      "3 · 6.5 %",
      "2 · 4.3 %",
    ]);
    await page.getByText("to Sample readers").waitFor();
  });
});

test("a report fits three screens of a phone", async () => {
  await signUp(
    async (page) => {
      await page.getByRole("button", { name: "Add sample data" }).first().click();
      await page.getByRole("link", { name: "Open the sample report" }).click();
      await page.getByText("46 delivered, 2 bounced").waitFor();
      await page.getByRole("columnheader", { name: "What to do" }).waitFor({ state: "attached" });
      await page.getByRole("rowheader", { name: "harbour.sample.flockmail.test" }).waitFor();
      await page.screenshot({ path: `${SHOTS}/report-phone.png`, fullPage: true });
      expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThanOrEqual(3 * 844);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    },
    { viewport: { width: 390, height: 844 } },
  );
});
