/** Segments and imports in a real browser: by mouse and keyboard, with and without JavaScript. */
import { readFile } from "node:fs/promises";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { type App, startApp } from "../support/app.ts";
import { fileForm, newCompany, type TestCompany } from "../support/client.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE } from "./whole-pages.ts";

const E = "/api/emails";
const LONG = "Readers of the newsletter about difference engines, analytical engines and looms";
/** Time limit for work of another process on a busy machine. */
const PATIENCE = { timeout: 120_000 };

let app: App;
let browser: Browser;
let company: TestCompany;
let segmentId: string;
let waiting: string;
let tried: string;
beforeAll(async () => {
  app = await startApp();
  browser = await launchChromium();
  company = await newCompany(app, { name: "Analytical Engines" });
  const { api } = company;
  const list = (await api.post(`${E}/lists/`, { name: LONG })).body.id;
  await api.post(`${E}/lists/`, { name: "Fair" });
  for (const [n, city] of ["London", "Rome", "London"].entries()) {
    const person = {
      email: `person${n}@example.com`,
      first_name: "Pat",
      attributes: { city, books: n },
      lists: [list],
    };
    await api.post(`${E}/subscribers/`, person);
  }
  const conditions = [
    { field: "attributes.city", operator: "equals", value: "London" },
    { field: "list", operator: "in", value: [list] },
    { field: "email", operator: "in", value: ["person0@example.com", "person1@example.com"] },
    { field: "last_opened_at", operator: "is_empty" },
    { field: "created_at", operator: "after", value: "2020-05-01T10:00:00+02:00" },
  ];
  const made = await api.post(`${E}/segments/`, { name: LONG, description: LONG, rules: { match: "all", conditions } });
  segmentId = made.body.id;
  await api.post(`${E}/drafts/`, { name: "Autumn", kind: "to-list", body: { segment_id: segmentId } });
  const csv = `Kontakt;Ort;UNSUB_TIME;${LONG};\n${"ada@example.com;Köln;;a value that is so long that it takes more room than there is;\n".repeat(3)}nobody;;;;\n`;
  waiting = (await api.post(`${E}/imports/`, fileForm(csv, `${LONG}.csv`))).body.id;
  tried = (await api.post(`${E}/imports/`, fileForm(csv, "tried.csv"))).body.id;
  await api.post(`${E}/imports/${tried}/start/`, { mapping: { Kontakt: "email" }, dry_run: true });
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
});

const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> =>
  openPage(browser, options, work);

const at = (path: string) => `${app.url}/app/${company.id}/${path}`;

const signIn = (page: Page): Promise<void> => signInOn(page, app, company);

const PAGES = (): [string, string][] => [
  ["segments", at("segments")],
  ["segment-new", at("segments/new")],
  ["segment", at(`segments/${segmentId}`)],
  ["segment-count", at(`segments/${segmentId}/count`)],
  ["segment-delete", at(`segments/${segmentId}/delete`)],
  ["import", at("import")],
  ["import-columns", at(`import/${waiting}`)],
  ["import-tried", at(`import/${tried}`)],
];

test.each([LAPTOP, PHONE])(
  "every page passes axe and is no wider than the window: %s",
  async (how, options) => {
    await open(options, async (page) => {
      await signIn(page);
      const counted = page.getByText(/ match(es)?( now)?\./);
      const arrived = async (name: string) => {
        if (name === "segment") await counted.waitFor(PATIENCE);
        if (name === "import-tried") await page.getByText("What would happen").waitFor(PATIENCE);
      };
      await expectWholePages(page, { shots: `segments-${how}`, pages: PAGES(), arrived });
    });
  },
  300_000,
);

test("an import of 50,000 rows with errors leads from the file to the refused rows in one sequence of pages", async () => {
  const rows = Array.from({ length: 50_000 }, (_, n) =>
    n % 100 === 7 ? `broken ${n};Rome` : `row${n}@example.org;Rome`,
  );
  const csv = Buffer.from(`Kontakt;Ort\n${rows.join("\n")}\n`);
  // The page's CSP is kept, as for real users.
  await open({ acceptDownloads: true, bypassCSP: false }, async (page) => {
    await signIn(page);
    await page.getByRole("link", { name: "Audience" }).click();
    await page.getByRole("link", { name: "Import" }).first().click();
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "fair.csv", mimeType: "text/csv", buffer: csv });
    await page.getByRole("button", { name: "Upload file" }).click();
    await page.getByLabel("What Kontakt becomes").selectOption("Email address");
    await page.getByLabel("Name of the attribute for Ort").fill("city");
    await page.getByLabel("Add everyone to a list").selectOption("New list from this file");
    await page.getByLabel("Name of the new list").fill("Autumn fair");
    await page.getByRole("button", { name: "Check file" }).click();
    // The progress replaces itself at the end.
    await page.getByRole("heading", { name: "What would happen" }).waitFor(PATIENCE);
    await page.getByRole("button", { name: "Import 49,500 rows now" }).click();
    await page.getByRole("heading", { name: "Import finished" }).waitFor(PATIENCE);
    await page.screenshot({ path: `${SHOTS}/light-company-import-done.png`, fullPage: true });
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download all skipped rows (CSV)" }).click();
    const file = await readFile(await (await downloading).path(), "utf8");
    expect(file.trim().split("\r\n")).toHaveLength(501);
    expect(file).toContain("9,broken 7,email: Enter a valid email address.");
    await page.getByRole("link", { name: "Show list" }).click();
    await page.getByText("49,500 subscribers").waitFor(PATIENCE);
  });
}, 600_000);

test("an import works with the keyboard and without JavaScript", async () => {
  await open({ javaScriptEnabled: false }, async (page) => {
    await signIn(page);
    await page.goto(at("import"));
    const choosing = page.waitForEvent("filechooser");
    await page.getByLabel("File", { exact: true }).focus();
    await page.keyboard.press("Enter");
    const csv = Buffer.from("E-Mail,Ort\nkeys@example.org,Ulm\n");
    await (await choosing).setFiles({ name: "keys.csv", mimeType: "text/csv", buffer: csv });
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByLabel("What Ort becomes").focus();
    await page.keyboard.press("End");
    await page.getByRole("button", { name: "Check file" }).focus();
    await page.keyboard.press("Enter");
    const again = async (heading: string) => {
      for (const end = Date.now() + PATIENCE.timeout; Date.now() < end; await page.waitForTimeout(200)) {
        if (await page.getByRole("heading", { name: heading }).isVisible()) return;
        await page.getByRole("link", { name: "Refresh" }).press("Enter");
      }
      throw new Error(`Never: ${heading}`);
    };
    await again("What would happen");
    await page.getByRole("button", { name: "Import 1 row now" }).focus();
    await page.keyboard.press("Enter");
    await again("Import finished");
  });
  const { results } = (await company.api.get(`${E}/subscribers/`, { query: { search: "keys@" } })).body;
  expect(results).toMatchObject([{ email: "keys@example.org", attributes: {} }]);
}, 300_000);

test("a segment is built with the keyboard while its count updates, and Enter in a field removes nothing", async () => {
  await open({ bypassCSP: false }, async (page) => {
    await signIn(page);
    await page.goto(at("segments/new"));
    await page.getByRole("textbox", { name: "Name", exact: true }).focus();
    await page.keyboard.type("Of London");
    const what = page.getByLabel("What").first();
    await what.focus();
    // A single key: on a busy machine, several keys would make several choices.
    await page.keyboard.press("A");
    const name = page.getByLabel("Name of the attribute");
    await name.waitFor(PATIENCE);
    await name.focus();
    await page.keyboard.type("city");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("london");
    await page.getByText("2 subscribers match.").waitFor(PATIENCE);
    await page.getByRole("button", { name: "Add rule" }).focus();
    await page.keyboard.press("Enter");
    const second = page.getByLabel("What").nth(1);
    await second.waitFor(PATIENCE);
    await page.waitForFunction('document.activeElement.id === "r.1.field"', undefined, PATIENCE);
    await page.keyboard.press("E");
    await page.getByText("once the rules are complete").waitFor(PATIENCE);
    const value = page.getByLabel("Value").nth(1);
    await value.waitFor(PATIENCE);
    await value.focus();
    await page.keyboard.type("person2@example.com");
    await page.getByText("1 subscriber matches.").waitFor(PATIENCE);
    const loaded = page.waitForEvent("load", PATIENCE);
    await page.keyboard.press("Enter");
    await loaded;
    await expect(page.getByRole("button", { name: /^Remove rule/ }).count()).resolves.toBe(2);
    await page.getByRole("button", { name: "Save segment" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor(PATIENCE);
  });
  const { results } = (await company.api.get(`${E}/segments/`, { query: { search: "Of London" } })).body;
  expect(results[0].rules.conditions).toEqual([
    { field: "attributes.city", operator: "equals", value: "london" },
    { field: "email", operator: "equals", value: "person2@example.com" },
  ]);
}, 300_000);

test("the list of segments loads its counts one after the other", async () => {
  await open({}, async (page) => {
    await signIn(page);
    await page.goto(at("segments"));
    const row = page.getByRole("row", { name: new RegExp(LONG) });
    await row.getByRole("link", { name: "Count" }).waitFor({ state: "detached", ...PATIENCE });
    await expect(row.locator("#count").textContent()).resolves.toBe("1");
  });
}, 300_000);
