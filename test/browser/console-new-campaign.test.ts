import { simpleParser } from "mailparser";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { newsletter } from "../../scripts/demo/newsletter.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE, shotName } from "./whole-pages.ts";

const E = "/api/emails";
/** Allows for a loaded machine. */
const WAIT_MS = 60_000;
/** Time limit of tests that visit many pages. */
jest.setTimeout(5 * WAIT_MS);

let app: App;
let server: SmtpServer;
let browser: Browser;
beforeAll(async () => {
  [server, app, browser] = [await startSmtpServer(), await startApp(), await launchChromium()];
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  await server.stop();
});

interface World {
  company: TestCompany;
  list: string;
  smtp: string;
  template: string;
}

/** A company with a list of three (one suppressed), a mail server and a template. */
async function world(): Promise<World> {
  const company = await newCompany(app, { name: "Lantern Books" });
  const made = async (path: string, body: object): Promise<string> =>
    (await company.api.post(`${E}/${path}/`, body)).body.id;
  const list = await made("lists", { name: "Readers" });
  for (const [email, first_name] of [
    ["ada@example.com", "Ada"],
    ["grace@example.com", "Grace"],
    ["gone@example.com", "Gone"],
  ]) {
    await made("subscribers", { email, first_name, lists: [list] });
  }
  await made("suppressions", { email: "gone@example.com", reason: "Asked us to stop" });
  const config = { host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
  const smtp = await made("smtp-configs", {
    ...config,
    name: "Main relay",
    sender_name: "Lantern Books",
    sender_email: "news@lantern.example",
  });
  const template = await made("templates", { ...newsletter, name: "Monthly letter" });
  return { company, list, smtp, template };
}

const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> =>
  openPage(browser, { bypassCSP: false, ...options }, work);

const signIn = (page: Page, who: TestCompany): Promise<void> => signInOn(page, app, who);

const subjects = async (from: number) =>
  (await Promise.all(server.messages.slice(from).map(({ raw }) => simpleParser(Buffer.from(raw, "latin1")))))
    .map(({ subject }) => subject)
    .toSorted();

test.each([LAPTOP, PHONE])("every step passes axe and is no wider than the window: %s", async (how, options) => {
  const { company, list, smtp, template } = await world();
  const variants = [{ percent: 30 }, { percent: 30, subject: "Six books for a long evening by the fire" }];
  const body = {
    list_id: list,
    template_id: template,
    smtp_config_id: smtp,
    variants,
    winner: { metric: "opens", after_minutes: 240 },
  };
  const drafts = {
    empty: (await company.api.post(`${E}/drafts/`, { name: "Not much yet", kind: "to-list" })).body.id,
    whole: (await company.api.post(`${E}/drafts/`, { name: "October newsletter", kind: "to-list", body })).body.id,
  };
  const steps = ["", "/whom", "/what", "/from", "/when", "/checks"];
  const paths = [
    "campaigns",
    "campaigns/new",
    "campaigns/drafts",
    `campaigns/drafts/${drafts.empty}`,
    `campaigns/drafts/${drafts.empty}/what`,
    ...steps.map((step) => `campaigns/drafts/${drafts.whole}${step}`),
    `campaigns/drafts/${drafts.whole}?look=dark&person=ada@example.com`,
    `campaigns/drafts/${drafts.whole}?look=phone`,
    `campaigns/drafts/${drafts.whole}?look=text`,
    "campaigns/drafts/none",
  ];
  // The page's policy would block axe.
  await open({ bypassCSP: true, ...options }, async (page) => {
    await signIn(page, company);
    const arrived = async () => {
      await page.waitForLoadState("networkidle");
      // Chromium does not paint frames outside of the viewport.
      if ((await page.locator("iframe").count()) > 0) await page.locator("iframe").scrollIntoViewIfNeeded();
    };
    const nameOf = (path: string) => shotName(path.replace(drafts.whole, "whole").replace(drafts.empty, "empty"));
    const pages = paths.map((path) => [nameOf(path), `${app.url}/app/${company.id}/${path}`] as const);
    await expectWholePages(page, { shots: `new-campaign-${how}`, pages, arrived });
  });
});

test("the dark preview shows a mail's dark colours and the light preview its light ones; the mail's scripts do not run", async () => {
  const { company } = await world();
  const html = `<style>p { color: #111111 } @media (prefers-color-scheme: dark) { p { color: #eeeeee } }</style>
    <p>Dear reader</p><script>document.querySelector("p").textContent = "Run"</script>`;
  const body = { subject: "S", body: html, receivers: [{ email: "ada@example.com" }] };
  const draft = (await company.api.post(`${E}/drafts/`, { name: "Dark", kind: "custom", body })).body.id;
  await open({ colorScheme: "light" }, async (page) => {
    await signIn(page, company);
    for (const [look, color] of [
      ["dark", "rgb(238, 238, 238)"],
      ["desktop", "rgb(17, 17, 17)"],
    ]) {
      await page.goto(`${app.url}/app/${company.id}/campaigns/drafts/${draft}?look=${look}`);
      const text = page.frameLocator("iframe").getByText("Dear reader");
      await text.waitFor();
      const shown = await page
        .frame({ url: /preview/ })!
        .evaluate('getComputedStyle(document.querySelector("p")).color');
      expect([look, shown]).toEqual([look, color]);
    }
  });
});

test("a campaign is created by mouse from sign-in to delivery: the audience is counted, each step saved, previewed, checked, tested, and sent once", async () => {
  const { company } = await world();
  const before = server.messages.length;
  await open({}, async (page) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await signIn(page, company);
    await page.getByRole("link", { name: "Campaigns", exact: true }).click();
    await page.getByRole("link", { name: "New campaign" }).click();
    await page.getByLabel("Campaign name").fill("October");
    await page.getByLabel("Recipients", { exact: true }).selectOption({ label: "Readers (3)" });
    await page.getByText("2 people would get it now.").waitFor();
    await page.getByText("1 suppressed address").waitFor();
    await page.getByRole("button", { name: "Save and continue" }).click();

    await page.getByRole("heading", { name: "Content" }).waitFor();
    await page.getByLabel("Write it here").check();
    await page.getByRole("textbox", { name: "Subject", exact: true }).fill("News for [[first_name]]");
    await page
      .getByRole("textbox", { name: "Text", exact: true })
      .fill("Dear [[first_name]],\n\nsix books are waiting.");
    await page.getByText("Saved.", { exact: true }).waitFor();
    // Closing and reopening the window loses nothing.
    await page.goto(`${app.url}/app/${company.id}/campaigns`);
    await page.getByRole("link", { name: "Drafts" }).click();
    await page.getByRole("link", { name: "October", exact: true }).click();
    await page.getByRole("link", { name: "Change: Content" }).click();
    expect(await page.getByRole("textbox", { name: "Subject", exact: true }).inputValue()).toBe(
      "News for [[first_name]]",
    );
    // Two versions are shown, side by side, and more are added by a button.
    await page.getByText("A/B test", { exact: true }).click();
    const versions = page.locator(".version:visible");
    expect(await versions.count()).toBe(2);
    const tops = await versions.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    expect(tops[0]).toBe(tops[1]);
    await page.getByLabel("Test several versions").check();
    await page.getByRole("button", { name: "Add another version" }).click();
    await page.getByText("Version C").waitFor();
    expect(await page.getByLabel("Test several versions").isChecked()).toBe(true);
    await versions.nth(1).getByLabel("What is sent").selectOption({ label: "Write it here" });
    await versions.nth(1).getByRole("textbox", { name: "Text", exact: true }).fill("Another letter");
    await page.getByLabel("Test several versions").uncheck();
    await page.getByRole("button", { name: "Save and continue" }).click();

    await page.getByText("2 people in “Readers” get this now.").waitFor();
    // An address typed for a test sends none when the page is left.
    await page.getByRole("textbox", { name: "Address" }).fill("colleague@example.com");
    await page.getByRole("link", { name: "Change: Schedule" }).click();
    await page.getByRole("link", { name: "Review" }).click();
    await page.getByText("2 people in “Readers” get this now.").waitFor();
    await page.getByLabel("Shown as").selectOption("ada@example.com");
    await page.getByText("News for Ada", { exact: true }).waitFor();
    const frame = page.frameLocator("iframe");
    await frame.getByText("Dear Ada,").waitFor();
    await page.getByLabel("View", { exact: true }).selectOption("text");
    await page.frameLocator('iframe[src*="look=text"]').getByText("six books are waiting.").waitFor();
    await page.getByRole("link", { name: "Run checks" }).click();
    await page
      .getByText("The email has no links or images to check.")
      .or(page.getByText("link or image works"))
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText(`The test went to ${company.email}.`).waitFor();
    // The person shown in the preview.
    expect(await subjects(before)).toEqual(["[Test] News for Ada"]);
    await page.screenshot({ path: `${SHOTS}/new-campaign-way-before-send.png`, fullPage: true });
    await page.getByRole("button", { name: "Send now" }).dblclick();
    await page.getByText("The campaign has started.").waitFor();
    await server.received(before + 3);
    expect(await subjects(before + 1)).toEqual(["News for Ada", "News for Grace"]);
    await page.goBack();
    await page.getByRole("heading", { name: "This draft is gone" }).waitFor();
    expect((await company.api.get(`${E}/campaigns/`)).body.count).toBe(1);
    expect((await company.api.get(`${E}/templates/`)).body.count).toBe(1);
    // Expected: the page of the deleted draft.
    expect(errors.filter((text) => !text.includes("404"))).toEqual([]);
  });
});

test("a campaign is created by keyboard and without JavaScript, from sign-in to delivery", async () => {
  const { company } = await world();
  const before = server.messages.length;
  await open({ javaScriptEnabled: false, viewport: { width: 360, height: 640 } }, async (page) => {
    const { keyboard } = page;
    await page.goto(`${app.url}/app/${company.id}/campaigns/new`);
    await page.getByLabel("Email address").focus();
    await keyboard.type(company.email);
    await keyboard.press("Tab");
    await keyboard.type(company.password);
    await keyboard.press("Enter");
    await page.getByLabel("Campaign name").focus();
    await keyboard.type("November");
    await keyboard.press("Tab");
    await keyboard.type("Readers");
    await page.getByRole("button", { name: "Count who gets it now" }).focus();
    await keyboard.press("Enter");
    await page.getByText("2 people would get it now.").waitFor();
    await page.getByRole("button", { name: "Save and continue" }).focus();
    await keyboard.press("Enter");

    await page.getByRole("heading", { name: "Content" }).waitFor();
    await page.getByRole("combobox", { name: "Template", exact: true }).focus();
    await keyboard.type("Monthly");
    await page.getByRole("button", { name: "Save and continue" }).focus();
    await keyboard.press("Enter");
    await page.getByText("2 people in “Readers” get this now.").waitFor();
    await page.getByRole("button", { name: "Send now" }).focus();
    await keyboard.press("Enter");
    await page.getByText("The campaign has started.").waitFor();
  });
  await server.received(before + 2);
  expect(
    server.messages
      .slice(before)
      .map(({ to }) => to[0])
      .toSorted(),
  ).toEqual(["ada@example.com", "grace@example.com"]);
});

test("a campaign's content is designed: a starter is opened in the visual editor, kept after each change, and sent", async () => {
  const { company, list, smtp } = await world();
  const body = { list_id: list, smtp_config_id: smtp };
  const { id } = (await company.api.post(`${E}/drafts/`, { name: "Designed", kind: "to-list", body })).body;
  const contentOf = async () => (await company.api.get(`${E}/drafts/${id}/`)).body.body.content;
  const before = server.messages.length;
  await open({ viewport: { width: 1440, height: 900 } }, async (page) => {
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await signIn(page, company);
    await page.goto(`${app.url}/app/${company.id}/campaigns/drafts/${id}/what`);
    await page.getByLabel("Write it here").check();
    await page.getByRole("textbox", { name: "Subject", exact: true }).fill("Books for [[first_name]]");
    await page.getByRole("button", { name: "Open visual editor" }).click();
    await page.getByRole("heading", { name: "Choose a design" }).waitFor();
    await page.getByRole("link", { name: "Start empty" }).click();
    const heading = page.locator(".block.is-heading .ProseMirror").first();
    await heading.click();
    await page.keyboard.type("Six books");
    await page.getByText("Saved just now").waitFor();
    expect(await contentOf()).toMatchObject({ subject: "Books for [[first_name]]", design: { version: 1 } });
    await page.reload();
    await heading.getByText("Six books").waitFor();
    await heading.click();
    await page.keyboard.press("End");
    await page.keyboard.type(" for winter");
    await page.getByRole("tab", { name: "Email" }).click();
    expect(await page.getByLabel("Template name").count()).toBe(0);
    await page.getByLabel("Subject", { exact: true }).fill("");
    await page.getByRole("button", { name: "Save and continue" }).click();
    await page.getByRole("alert").getByText("This field is required.").waitFor();
    await page.getByLabel("Subject", { exact: true }).fill("Winter");
    await page.getByRole("button", { name: "Save and continue" }).click();
    await page.getByRole("link", { name: "Change: Content" }).click();
    await page.getByRole("link", { name: "Edit design" }).click();
    await heading.getByText("Six books for winter").waitFor();
    // Another window changes the subject.
    await company.api.patch(`${E}/drafts/${id}/`, {
      body: { ...body, content: { ...(await contentOf()), subject: "Elsewhere" } },
    });
    await heading.click();
    await page.keyboard.press("End");
    await page.keyboard.type(" nights");
    await page.getByRole("alert").getByText("This content was changed elsewhere").waitFor();
    expect(await contentOf()).toMatchObject({ subject: "Elsewhere" });
    await page.getByRole("button", { name: "Save mine anyway" }).click();
    await page.frameLocator("iframe").getByText("Six books for winter nights").waitFor();
    await page.getByRole("button", { name: "Send now" }).click();
    await server.received(before + 2);
    const { html, subject } = await simpleParser(Buffer.from(server.messages[before]!.raw, "latin1"));
    expect([subject, html]).toEqual(["Winter", expect.stringMatching(/<h1[^>]*>Six books for winter nights<\/h1>/)]);
    expect(faults).toEqual([]);
  });
});

test("both versions of an A/B test are designed, the second as a copy of the first, and each arrives with its own content", async () => {
  const { company, list, smtp } = await world();
  const body = { list_id: list, smtp_config_id: smtp };
  const { id } = (await company.api.post(`${E}/drafts/`, { name: "Two", kind: "to-list", body })).body;
  const before = server.messages.length;
  await open({ viewport: { width: 1440, height: 900 } }, async (page) => {
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await signIn(page, company);
    await page.goto(`${app.url}/app/${company.id}/campaigns/drafts/${id}/what`);
    await page.getByLabel("Write it here").first().check();
    await page.getByText("A/B test", { exact: true }).click();
    await page.getByLabel("Test several versions").check();
    const version = (letter: string) => page.getByRole("group", { name: `Version ${letter}` });
    const heading = page.locator(".block.is-heading .ProseMirror").first();
    const begin = async (letter: string, subject: string, link: string) => {
      await version(letter).getByLabel("What is sent").selectOption({ label: "Write it here" });
      await version(letter).getByLabel("Subject").fill(subject);
      await version(letter).getByRole("button", { name: "Open visual editor" }).click();
      await page.getByRole("heading", { name: `Choose a design: Version ${letter}` }).waitFor();
      await page.getByRole("link", { name: link, exact: true }).click();
      await heading.click();
      await page.keyboard.press("End");
    };
    await begin("A", "Books for [[first_name]]", "Start empty");
    await page.keyboard.type("Six books");
    await page.getByText("Saved just now").waitFor();
    await page.getByRole("button", { name: "Save and continue" }).click();

    await version("A").getByRole("link", { name: "Edit design" }).waitFor();
    await begin("B", "Evenings for [[first_name]]", "Copy version A");
    await page.keyboard.type(" for winter");
    await page.getByRole("button", { name: "Save and continue" }).click();
    // Edited again.
    await version("B").getByRole("link", { name: "Edit design" }).click();
    await heading.click();
    await page.keyboard.press("End");
    await page.keyboard.type(" evenings");
    await page.getByText("Saved just now").waitFor();
    await page.getByRole("link", { name: "Close" }).click();
    await page.getByRole("button", { name: "Save and continue" }).click();

    await page.getByText("A/B test with 2 versions").waitFor();
    await page.frameLocator("iframe").getByText("Six books", { exact: true }).waitFor();
    await page.getByLabel("A/B test").selectOption("Version B");
    await page.frameLocator('iframe[src*="variant=1"]').getByText("Six books for winter evenings").waitFor();
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText(`The test went to ${company.email}.`).waitFor();
    await page.getByRole("button", { name: "Send now" }).click();
    await server.received(before + 3);
    const mails = await Promise.all(
      server.messages.slice(before).map(({ raw }) => simpleParser(Buffer.from(raw, "latin1"))),
    );
    const told = mails.map(({ subject, html }) => [
      `${subject}`.replace(/ (Ada|Grace)$/, ""),
      />(Six books[^<]*)<\/h1>/.exec(`${html}`)?.[1],
    ]);
    expect(told[0]![1]).toBe("Six books for winter evenings");
    expect(told.slice(1).toSorted()).toEqual([
      ["Books for", "Six books"],
      ["Evenings for", "Six books for winter evenings"],
    ]);
    expect(faults).toEqual([]);
  });
});
