import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { query } from "../../models/database/db.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE } from "./whole-pages.ts";

const API = "/api/emails";
const WAIT_MS = 60_000;
jest.setTimeout(300_000);
const LONG_NAME =
  "A very long name of a campaign that nobody would choose and somebody has chosen all the same, in October 2026";

let app: App;
let browser: Browser;
let server: SmtpServer;
let answerMs = 0;
let company: TestCompany;
let smtp: string;
let done: string;
let tested: string;
let scheduled: string;
let waiting: string;

const made = async (path: string, body: object): Promise<string> => {
  const answer = await company.api.post(`${API}${path}`, body);
  expect({ path, status: answer.status, text: answer.status < 300 || answer.text }).toMatchObject({ status: 201 });
  return answer.body.id;
};
const BODY =
  '<h1>Six books</h1><p>Hello [[first_name|default:there]]!</p><p><a href="https://example.com/books">All books</a></p><p><a style="padding:8px;background:#234;color:#fff" href="https://example.com/shop">To the shop</a></p><p><a href="[[unsubscribe_url]]">Unsubscribe</a></p>';
const custom = (name: string, receivers: object[]) =>
  made("/send/custom/", { name, smtp_config_id: smtp, subject: "Six books for long evenings", body: BODY, receivers });

/** Hits of one day of readers. */
async function readers(campaign: string): Promise<void> {
  await query(
    `insert into campaign_counts (company_id, campaign_id, metric, bucket, slot, n)
     select $1, $2, metric, bucket, 0, n from (
       select 'opened_by_hour' as metric, h as bucket, 40 - abs(h - $3::int - 8) as n from generate_series($3::int, $3::int + 30) h
       union all select 'clicked_by_hour', h, 12 - abs(h - $3::int - 9) / 2 from generate_series($3::int, $3::int + 20) h
       union all values ('opened', 0, 31), ('opened_unique', 0, 18), ('clicked', 0, 12), ('clicked_unique', 0, 9),
         ('opened_machine', 0, 4), ('link', 1, 8), ('link_unique', 1, 6), ('link', 2, 4), ('link_unique', 2, 3)) k
     on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = excluded.n`,
    [company.id, campaign, Math.floor(Date.now() / 3_600_000) - 32],
  );
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + WAIT_MS; !(await holds()); await sleep(100)) {
    if (Date.now() > deadline) throw new Error("It did not happen in time");
  }
}

const untilOver = (id: string) =>
  until(async () => {
    const { status } = (await company.api.get(`${API}/campaigns/${id}/`)).body;
    return status !== "pending" && status !== "sending";
  });

beforeAll(async () => {
  server = await startSmtpServer({
    answer({ verb, to }) {
      if (verb === "RCPT" && to.startsWith("nobody"))
        return "550 5.1.1 <nobody>: Recipient address rejected: User unknown";
      return verb === "DOT" && answerMs > 0 ? { reply: "250 2.0.0 Ok", delayMs: answerMs } : undefined;
    },
  });
  app = await startApp();
  browser = await launchChromium();
  company = await newCompany(app, { name: "Analytical Engines" });
  const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
  smtp = await made("/smtp-configs/", { ...config, max_connections: 2, sender_email: "news@acme.example" });
  const dead = await made("/smtp-configs/", { ...config, port: 9, sender_email: "news@acme.example" });
  const list = await made("/lists/", { name: "Readers" });
  for (let n = 0; n < 12; n++) await made("/subscribers/", { email: `reader${n}@example.com`, lists: [list] });
  const template = await made("/templates/", { name: "Letter", subject: "Hello", body: BODY });
  done = await custom(LONG_NAME, [
    { email: "ann@one.example", cc: ["copy@one.example"] },
    ...Array.from({ length: 40 }, (_, n) => ({ email: `u${n}@two.example` })),
    { email: "nobody-with-a-rather-long-address@two.example" },
  ]);
  await untilOver(done);
  await readers(done);
  const toList = { list_id: list, template_id: template, smtp_config_id: smtp };
  const variants = [
    { subject: "Six books for long evenings", percent: 50 },
    { subject: "What we read in October", percent: 50 },
  ];
  tested = await made("/send/to-list/", { ...toList, name: "A/B", variants });
  await untilOver(tested);
  const at = new Date(Date.now() + 86_400_000).toISOString();
  scheduled = await made("/send/to-list/", { ...toList, name: "Tomorrow", scheduled_for: at });
  waiting = await made("/send/custom/", {
    ...{ name: "Waiting for its server", smtp_config_id: dead, subject: "Hello", body: BODY },
    receivers: [{ email: "ann@one.example" }],
  });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
  await server.stop();
});

const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> =>
  openPage(browser, { bypassCSP: false, ...options }, work);

const at = (rest = "") => `${app.url}/app/${company.id}${rest && `/${rest}`}`;

const signIn = (page: Page): Promise<void> => signInOn(page, app, company);

const PAGES = (): Record<string, string> => ({
  overview: "",
  list: "campaigns",
  "list-empty": "campaigns?search=nothing",
  "sending-now": "campaigns/sending-now",
  done: `campaigns/${done}`,
  recipients: `campaigns/${done}/recipients`,
  recipient: `campaigns/${done}/recipient?email=ann%40one.example`,
  mail: `campaigns/${done}/mail`,
  failures: `campaigns/${done}/failures`,
  domains: `campaigns/${done}/domains`,
  variants: `campaigns/${tested}`,
  "variants-mail": `campaigns/${tested}/mail?variant=1`,
  scheduled: `campaigns/${scheduled}`,
  edit: `campaigns/${scheduled}/edit`,
  waiting: `campaigns/${waiting}`,
});

test.each([LAPTOP, PHONE])(
  "every page of campaigns passes axe and is no wider than the window: %s",
  async (how, options) => {
    await open({ bypassCSP: true, ...options }, async (page) => {
      await signIn(page);
      const arrived = async (name: string) => {
        if (name === "done") await page.getByRole("columnheader", { name: "What to do" }).waitFor();
        for (const details of await page.locator("details > summary").all()) await details.click();
      };
      const pages = Object.entries(PAGES()).map(([name, path]) => [name, at(path)] as const);
      await expectWholePages(page, { shots: `campaign-${how}`, pages, arrived });
    });
  },
);

test("the page of a running campaign follows it to its end without a reload and is then complete", async () => {
  answerMs = 300;
  await open({}, async (page) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await signIn(page);
    const receivers = Array.from({ length: 80 }, (_, n) => ({ email: `w${n}@three.example` }));
    const id = await custom("Watched", [...receivers, { email: "nobody@three.example" }]);
    await page.goto(at(`campaigns/${id}`));
    await page.evaluate("document.mark = 'the same document'");
    await page.getByText("These numbers are live.").waitFor({ state: "visible" });
    await page.getByText("The live numbers were interrupted").waitFor({ state: "hidden" });
    // Plots begin with the first minute.
    await page.getByRole("img", { name: /^Opens and clicks per hour/ }).waitFor();
    await page.locator('[data-now="per_second"]:not(:text("–"))').waitFor();
    await page.screenshot({ path: `${SHOTS}/campaign-live.png`, fullPage: true });
    await expect(page.getByRole("status").textContent()).resolves.toMatch(/of 81 emails done/);
    answerMs = 0;
    await page.getByText("Sent: 80 delivered, 1 bounced").waitFor();
    await page.getByRole("columnheader", { name: "What to do" }).waitFor();
    await page.getByText("80 of 81 emails").waitFor();
    await page.getByRole("rowheader", { name: "three.example" }).waitFor();
    await page.getByText("Show on the email").click();
    await page.frameLocator("iframe.mail").getByText("0 · 0.0 %").first().waitFor();
    expect([await page.evaluate("document.mark"), errors]).toEqual(["the same document", []]);
  });
});

test("the overview follows running campaigns without a reload and keeps the keyboard focus", async () => {
  answerMs = 300;
  await open({}, async (page) => {
    await signIn(page);
    const id = await custom(
      "Followed",
      Array.from({ length: 80 }, (_, n) => ({ email: `f${n}@four.example` })),
    );
    await page.goto(at());
    const link = page.getByRole("link", { name: "Followed" });
    await link.focus();
    const bar = `document.querySelector("li:has(#air-${id}) progress").value`;
    const first = Number(await page.evaluate(bar));
    await until(async () => Number(await page.evaluate(bar)) > first);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Followed");
    answerMs = 0;
    await link.waitFor({ state: "detached" });
  });
});

test("a scheduled campaign is edited and cancelled by keyboard and without JavaScript", async () => {
  await open({ javaScriptEnabled: false }, async (page) => {
    await signIn(page);
    const press = async (role: "link" | "button", name: string) => {
      await page.getByRole(role, { name, exact: true }).focus();
      await page.keyboard.press("Enter");
    };
    await page.goto(at("campaigns"));
    await press("link", "Tomorrow");
    await press("link", "Edit");
    await page.getByLabel("Name").focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("The day after");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "The day after" }).waitFor();
    await page.getByText("Saved.").waitFor();
    await page.locator("#open-cancel").focus();
    await page.keyboard.press("Enter");
    await press("button", "Cancel the campaign");
    await page.getByText("It was cancelled before the first email").waitFor();
    // Without a script, a link replaces the automatic update.
    await page.goto(at(`campaigns/${done}`));
    await press("link", "Show the reasons");
    await page.getByRole("columnheader", { name: "What to do" }).waitFor();
  });
});
