/** Sign-in, own account and company settings in Chromium: axe, widths, and navigation. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { until } from "../integration/campaigns/world.ts";
import { type App, startApp } from "../support/app.ts";
import { client, newCompany, type TestCompany } from "../support/client.ts";
import { totpCode } from "../support/totp.ts";
import { violations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE, shotName, ZOOMED } from "./whole-pages.ts";

/** Allows for a machine that is busy with other tests. */
const PATIENCE_MS = 60_000;
jest.setTimeout(5 * PATIENCE_MS);

let app: App;
let browser: Browser;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp({ env: { REGISTRATION: "open", SYSTEM_SMTP_URL: "smtp://127.0.0.1:9" } });
  browser = await launchChromium();
  company = await newCompany(app, { name: "Analytical Engines" });
  const owner = client(app, { token: company.token });
  await owner.patch(`/api/companies/${company.id}/`, {
    footer_text: "Harbour Street 1, Springfield",
    timezone: "Europe/Berlin",
  });
  await owner.post(`/api/companies/${company.id}/members/`, {
    email: "a-rather-long-address.of-somebody@subdomain.example.com",
    role: "viewer",
  });
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
});

const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> =>
  openPage(browser, { bypassCSP: false, ...options }, work);

const signIn = (page: Page, who: TestCompany = company): Promise<void> => signInOn(page, app, who);

const ENTRANCES = ["login", "sign-up", "forgotten", "verify?token=x", "reset?token=x", "invitation?token=x"];
const OWN = ["companies/new", "account", "account/password", "account/two-factor", "account/sessions"];
const SETTINGS = ["company", "branding", "members", "keys", "plan", "audit-log", "company/delete"];

test.each([LAPTOP, PHONE, ZOOMED])(
  "every page passes axe and is no wider than the window: %s",
  async (how, options) => {
    // The page's policy would block axe.
    await open({ ...options, bypassCSP: true }, async (page) => {
      const look = (paths: string[], root = "") => {
        const pages = paths.map((path) => [shotName(path), `${app.url}/app/${root}${path}`] as const);
        return expectWholePages(page, { shots: `settings-${how}`, pages });
      };
      await look(ENTRANCES);
      await signIn(page);
      await look(OWN);
      await look(SETTINGS, `${company.id}/settings/`);
    });
  },
);

test("a person creates an account and sees the first steps, by keyboard and without JavaScript", async () => {
  await open({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${app.url}/app/login`);
    await page.getByRole("link", { name: "Create an account" }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Your name").focus();
    await page.keyboard.type("Maria Almeida");
    await page.keyboard.press("Tab");
    await page.keyboard.type(`lantern-${Date.now()}@example.com`);
    await page.keyboard.press("Tab");
    await page.keyboard.type("quite another staple");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Set up your account" }).waitFor();
    expect(await page.getByRole("link", { name: "Maria’s company" }).count()).toBeGreaterThan(0);
    await page.getByLabel("Name of your company").focus();
    await page.keyboard.type("Lantern Books");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    expect(await page.getByRole("link", { name: "Lantern Books" }).count()).toBeGreaterThan(0);
  });
});

test("a second factor is set up from its page, asked for at sign-in, and switched off with a recovery code", async () => {
  const mine = await newCompany(app);
  await open({ bypassCSP: true }, async (page) => {
    await signIn(page, mine);
    await page.goto(`${app.url}/app/account/two-factor`);
    await page.getByRole("button", { name: "Set up" }).click();
    const secret = (await page.locator("code.totp-secret").textContent())!.replaceAll(" ", "");
    expect(await violations(page)).toEqual([]);
    await page.screenshot({ path: `${SHOTS}/settings-two-factor-secret.png`, fullPage: true });
    await page.getByLabel("Code from the app").fill(totpCode(secret));
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.screenshot({ path: `${SHOTS}/settings-recovery-codes.png`, fullPage: true });
    const [first, second] = await page.locator(".recovery-codes code").allTextContents();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Email address").fill(mine.email);
    await page.getByLabel("Password").fill(mine.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Password").fill(mine.password);
    await page.getByLabel("Code of your authenticator").fill(first!);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${app.url}/app/${mine.id}`);
    await page.goto(`${app.url}/app/account/two-factor`);
    await page.getByLabel("Current password").fill(mine.password);
    await page.getByLabel("Code from the app").fill(second!);
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByText("Two-factor authentication is off.").waitFor();
  });
});

test("the branding preview follows the input under the console's own CSP, and colours with too little contrast are reported at once", async () => {
  await open({ viewport: { width: 1280, height: 900 } }, async (page) => {
    const refused: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") refused.push(message.text());
    });
    await signIn(page);
    await page.goto(`${app.url}/app/${company.id}/settings/branding`);
    const frame = page.frameLocator("iframe.brand-preview");
    await frame.getByRole("heading", { name: "What we learned this month" }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Lantern Books");
    await frame.getByText("Lantern Books").first().waitFor();
    await page.getByText("They are not saved yet.").waitFor();
    await page.getByLabel("Link and button color", { exact: true }).fill("#eeeeee");
    await page.locator("#preview").getByText("Hard to read on this background").waitFor();
    await page.getByLabel("Link and button color", { exact: true }).fill("#7a1f3d");
    const button = frame.getByRole("link", { name: "Read the whole story" });
    await until(
      () =>
        button
          .evaluate((one) => one.ownerDocument.defaultView!.getComputedStyle(one).backgroundColor)
          // The frame of the values before.
          .catch(() => ""),
      (colour) => colour === "rgb(122, 31, 61)",
    );
    await page.getByLabel("Show in preview").selectOption("Unsubscribe");
    await frame.getByRole("button", { name: "Unsubscribe" }).first().waitFor();
    await page.screenshot({ path: `${SHOTS}/settings-branding-typed.png`, fullPage: true });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Lantern Books");
    expect(refused).toEqual([]);
  });
});

describe("a page of another site", () => {
  let elsewhere: Server;
  beforeAll(async () => {
    // A browser treats "localhost" as another site than the app's address.
    elsewhere = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<a href="${app.url}/app/account">Account</a><iframe src="${app.url}/app/account"></iframe>`);
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => new Promise((resolve) => elsewhere.close(resolve)));

  test("links to the console find the person signed in, but its frame shows nothing of the console", async () => {
    await open({}, async (page) => {
      await signIn(page);
      await page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
      for (const frame of page.frames()) expect(await frame.locator("main").count()).toBe(0);
      await page.getByRole("link", { name: "Account" }).click();
      await page.getByRole("heading", { name: "Your account" }).waitFor();
      expect(page.url()).toBe(`${app.url}/app/account`);
    });
  });
});
