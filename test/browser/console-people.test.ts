import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { query } from "../../models/database/db.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE, ZOOMED } from "./whole-pages.ts";

let app: App;
let browser: Browser;
let company: TestCompany;
let personId: string;
let listId: string;
beforeAll(async () => {
  app = await startApp();
  browser = await launchChromium();
  company = await newCompany(app, { name: "Analytical Engines" });
  const { api } = company;
  listId = (await api.post("/api/emails/lists/", { name: "Readers", description: "Who wants the letter" })).body.id;
  const long = "Friends of a society whose name is so long that no column of any table was ever made for it";
  const other = (await api.post("/api/emails/lists/", { name: long })).body.id;
  const attributes = { city: "New York", orders: 12, vip: true, born: "1906-12-09", ships: ["Mark I", "UNIVAC"] };
  const grace = { email: "grace@example.com", first_name: "Grace", attributes, lists: [listId, other] };
  personId = (await api.post("/api/emails/subscribers/", grace)).body.id;
  for (let n = 1; n <= 30; n++) {
    const email =
      n === 30 ? `${"a-very-long-name.".repeat(3)}somebody@a-long-domain.example.com` : `reader${n}@example.com`;
    await api.post("/api/emails/subscribers/", { email, first_name: `Reader ${n}`, lists: [listId] });
  }
  await query(
    `insert into email_events (id, company_id, type, recipient, metadata, created_at)
     select (lpad(to_hex(1700000000000 - n), 12, '0') || '70008000000000000000')::uuid, $1, case when n % 3 = 0 then 'clicked' when n = 4 then 'bounced' else 'opened' end, 'grace@example.com',
       case when n % 3 = 0 then jsonb_build_object('url', 'https://example.com/a/rather/long/link/' || n || '?utm_source=newsletter')
         when n = 4 then '{"bounce_type":"soft","diagnostic":"452 4.2.2 The mailbox is full"}' else '{}' end,
       now() - interval '1 hour' * n from generate_series(30, 1, -1) n`,
    [company.id],
  );
  await api.post("/api/emails/suppressions/", {
    email: "gone@example.com",
    reason: "Asked us to stop",
    kind: "unsubscribed",
  });
  await api.post("/api/emails/suppressions/", { domain: "spam.example", reason: "" });
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
  ["subscribers", at("subscribers")],
  ["subscribers-none", at("subscribers?search=nobody")],
  ["person", at(`subscribers/${personId}`)],
  ["person-older", at(`subscribers/${personId}?events=25`)],
  ["lists", at("lists")],
  ["list", at(`lists/${listId}`)],
  ["list-settings", at(`lists/${listId}/settings`)],
  ["list-form", at(`lists/${listId}/form`)],
  ["suppressions", at("suppressions")],
];

test.each([LAPTOP, PHONE, ZOOMED])(
  "every page passes axe and is no wider than the window: %s",
  async (how, options) => {
    await open(options, async (page) => {
      await signIn(page);
      await expectWholePages(page, { shots: `people-${how}`, pages: PAGES() });
    });
  },
);

test.each([true, false])(
  "several people are selected, removed from a list and put back; JavaScript: %s",
  async (javaScriptEnabled) => {
    await open({ javaScriptEnabled }, async (page) => {
      await signIn(page);
      await page.goto(at(`subscribers?list=${listId}&search=reader1`));
      await page.getByRole("link", { name: "Select this page" }).click();
      await page.getByLabel("Select reader1@example.com").uncheck();
      await page.getByRole("button", { name: javaScriptEnabled ? "Remove 10 from list" : "Remove from list" }).click();
      await page.getByText("10 subscribers removed from Readers.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("10 subscribers added to Readers.").waitFor();
      await page.getByLabel("Select reader1@example.com").waitFor();
    });
  },
);

test("a person is found, changed and erased with the keyboard alone", async () => {
  await company.api.post("/api/emails/subscribers/", { email: "erase-me@example.com", attributes: { orders: 1 } });
  await open({}, async (page) => {
    await signIn(page);
    await page.goto(at("subscribers"));
    await page.getByLabel("Search by email or name").focus();
    await page.keyboard.type("erase-me");
    await page.keyboard.press("Enter");
    await page.waitForURL(/search=erase-me/);
    const link = page.getByRole("link", { name: "erase-me@example.com" });
    await link.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "erase-me@example.com" }).waitFor();
    await page.getByLabel("Orders", { exact: true }).focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    await page.getByText("Erase all data").focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Type the address to confirm").focus();
    await page.keyboard.type("somebody@example.com");
    await page.keyboard.press("Enter");
    await page.getByText("This is another address.").waitFor();
    await page.getByLabel("Type the address to confirm").focus();
    await page.keyboard.type("erase-me@example.com");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Erased: 0 emails, 0 events.").waitFor();
  });
});

test("a file of suppressions is imported; one suppression is lifted and restored", async () => {
  await open({}, async (page) => {
    await signIn(page);
    await page.goto(at("suppressions"));
    await page.getByRole("button", { name: "Import a file…" }).click();
    const buffer = Buffer.from("email,reason\nby-file@example.com,Asked\nnonsense,\n");
    await page.getByLabel("File", { exact: true }).setInputFiles({ name: "stop.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("2 rows read: 1 suppressed, 0 suppressed before.").waitFor();
    await page.screenshot({ path: `${SHOTS}/people-suppressions-imported.png`, fullPage: true });
    await page.getByRole("button", { name: "Remove suppression: by-file@example.com" }).click();
    await page.getByText("by-file@example.com can get email again.").waitFor();
    await page.screenshot({ path: `${SHOTS}/people-suppressions-lifted.png` });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("by-file@example.com gets no more email.").waitFor();
  });
});
