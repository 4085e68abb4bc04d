import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { query } from "../../models/database/db.ts";
import { call } from "../../services/call.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { waitingCampaign } from "../support/waiting-campaign.ts";
import { launchChromium } from "./chromium.ts";
import { openPage } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE, shotName, ZOOMED } from "./whole-pages.ts";

const PATIENCE = { timeout: 60_000 };
jest.setTimeout(300_000);

let app: App;
let browser: Browser;
let company: TestCompany;
let campaignId: string;
let endpointId: string;
beforeAll(async () => {
  app = await startApp();
  browser = await launchChromium();
  company = await newCompany(app, { name: "Analytical Engines and Difference Machines of Marylebone" });
  await newCompany(app, { name: "Łódź & Sons" });
  // The campaign is paused so that it stays while the tests view it.
  await call(app.broker, "accounts.pauseCompany", { company_id: company.id });
  campaignId = await waitingCampaign(company, "October newsletter for readers of books about engines");
  const url = "https://hooks.example.com/flockmail/events/of/a/long/address";
  const hook = await company.api.post("/api/emails/webhook-endpoints/", { url, events: ["bounced"] });
  endpointId = hook.body.id;
  await query(
    `insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload, status, attempts, last_error, next_attempt_at)
     values ($1, $2, gen_random_uuid(), 'bounced', '{}', 'dead', 8, 'Answered 500.', null)`,
    [company.id, endpointId],
  );
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
});

const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>) => openPage(browser, options, work);

async function link(name: string): Promise<string> {
  const [made] = await call(app.broker, "operator.consoleLink", { name });
  const { pathname, search } = new URL(made!.url);
  return `${app.url}${pathname}${search}`;
}

async function signIn(page: Page, name = "Ada"): Promise<void> {
  await page.goto(await link(name));
  await page.getByRole("button", { name: "Open the operators' pages" }).click();
  await page.waitForURL(`${app.url}/app/operator`, PATIENCE);
}

const PAGES = () => [
  "",
  "/senders",
  "/campaigns",
  `/campaigns/${campaignId}`,
  "/companies",
  `/companies/${company.id}`,
  "/plans",
  "/webhooks",
  `/webhooks/${endpointId}`,
  "/why?recipient=ada@example.com",
  "/sessions",
  "/none",
  "/sign-in?token=x",
  "/sign-in",
];

test.each([LAPTOP, PHONE, ZOOMED])(
  "every operators' page passes axe and is no wider than the window: %s",
  async (how, options) => {
    await open(options, async (page) => {
      await signIn(page);
      const pages = PAGES().map((path) => [shotName(path), `${app.url}/app/operator${path}`] as const);
      await expectWholePages(page, { shots: `operator-${how}`, pages });
    });
  },
);

test("a table refreshes without losing scroll position or focus, and shows when the session has ended", async () => {
  await open({ viewport: { width: 660, height: 640 } }, async (page) => {
    await signIn(page, "Grace");
    await page.goto(`${app.url}/app/operator/campaigns`);
    const row = page.getByRole("link", { name: /October newsletter/ });
    await row.focus();
    const scrolled = "document.getElementById('region-campaigns').scrollLeft";
    await page.evaluate(`${scrolled} = 60`);
    await query("update campaigns set name = 'November' where id = $1", [campaignId]);
    await page.getByRole("link", { name: "November" }).waitFor(PATIENCE);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("November");
    expect(await page.evaluate(scrolled)).toBe(60);
    await query("update campaigns set name = 'October newsletter' where id = $1", [campaignId]);
    await query("update operator_sessions set ended_at = now() where name = 'Grace'");
    await page.getByText("You are not signed in, or your session has ended.").waitFor(PATIENCE);
  });
});

test("an operator follows the sign-in link, pauses a company with a reason and unpauses it, by keyboard and without JavaScript", async () => {
  const mine = await newCompany(app, { name: "Keyboard" });
  await open({ javaScriptEnabled: false }, async (page) => {
    const press = async (role: "link" | "button", name: string | RegExp) => {
      await page.getByRole(role, { name, exact: true }).first().focus();
      await page.keyboard.press("Enter");
    };
    await page.goto(await link("Ada"));
    await press("button", "Open the operators' pages");
    await page.waitForURL(`${app.url}/app/operator`, PATIENCE);
    await press("link", "Companies");
    await page.getByRole("searchbox", { name: "Search by name or ID" }).fill("keyboard");
    await page.keyboard.press("Enter");
    await press("link", "Keyboard");
    await page.waitForURL(`${app.url}/app/operator/companies/${mine.id}`, PATIENCE);
    for (const [button, state] of [
      ["Pause sending", "Sending paused since"],
      ["Resume sending", "Sending allowed"],
    ] as const) {
      const form = page.getByRole("region", { name: button });
      await form.getByLabel("Reason").focus();
      await page.keyboard.type("Complaints");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("status").waitFor(PATIENCE);
      await expect(page.getByText(state).first().waitFor(PATIENCE)).resolves.toBeUndefined();
    }
  });
});

test("a person who follows a link from another site stays signed in", async () => {
  await open({}, async (page) => {
    await signIn(page);
    await page.goto("about:blank");
    await page.setContent(`<a href="${app.url}/app/operator/plans">plans</a>`);
    await page.getByRole("link", { name: "plans" }).click();
    await page.getByRole("heading", { name: "Plans" }).waitFor(PATIENCE);
    await page.getByRole("link", { name: "Senders" }).click();
    await page.getByRole("heading", { name: "Sender nodes" }).waitFor(PATIENCE);
    expect(page.url()).toBe(`${app.url}/app/operator/senders`);
  });
});
