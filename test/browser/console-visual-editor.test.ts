import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { until } from "../integration/campaigns/world.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { violations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";

/** A PNG with one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

let app: App;
let browser: Browser;
let company: TestCompany;
let image: string;
beforeAll(async () => {
  app = await startApp();
  browser = await launchChromium();
  company = await newCompany(app, { name: "Lantern Books" });
  const { api } = company;
  await api.post("/api/emails/subscribers/", {
    email: "ann@example.com",
    first_name: "Ann",
    attributes: { city: "Lisbon" },
  });
  const form = new FormData();
  form.append("file", new File([PNG], "books.png", { type: "image/png" }));
  image = (await api.post("/api/emails/media/", form)).body.url;
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
});

const LARGE = { viewport: { width: 1440, height: 900 } };
const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> =>
  openPage(browser, { bypassCSP: false, ...options }, work);
const signIn = (page: Page, path: string) => signInOn(page, app, company, `/app/${company.id}/${path}`);
const block = (page: Page, kind: string) => page.locator(`.block.is-${kind}`);
const text = (page: Page, kind: string) => block(page, kind).locator(".ProseMirror").first();
const offer = (page: Page, name: string) =>
  page.getByRole("complementary", { name: "Blocks" }).getByRole("button", { name, exact: true });

/** Paths and names of all blocks. */
const outline = async (page: Page): Promise<string[]> =>
  (await page.evaluate(
    "[...document.querySelectorAll('.block')].map((one) => `${one.dataset.path} ${one.getAttribute('aria-label')}`)",
  )) as string[];
const saved = (page: Page) => page.getByText(/^Saved just now$/).waitFor();
const idOf = (page: Page) => /templates\/([0-9a-f-]{36})\/visual/.exec(page.url())![1]!;
const read = async (id: string) => (await company.api.get(`/api/emails/templates/${id}/`)).body;

const inOneColumn = (...blocks: object[]) => ({ version: 1, blocks: [{ type: "section", columns: [{ blocks }] }] });

/** A mail with a heading, a text with a field, an image beside a text, and a button. */
const wanted = (columns: object[]) => ({
  version: 1,
  blocks: [
    { type: "section", columns: [{ blocks: [{ type: "header" }] }] },
    {
      type: "section",
      columns: [
        {
          blocks: [
            { type: "heading", text: "Our gift guide is here" },
            {
              type: "text",
              content: {
                type: "doc",
                content: [{ type: "paragraph", content: [{ type: "text", text: "Hello [[first_name]], read on." }] }],
              },
            },
            { type: "button", text: "See all twelve", href: "https://example.com/books" },
          ],
        },
      ],
    },
    { type: "section", columns },
    { type: "section", columns: [{ blocks: [{ type: "footer" }] }] },
  ],
});
const COLUMNS = [
  { blocks: [{ type: "image", src: "", alt: "Two books" }] },
  { blocks: [{ type: "heading", text: "Salt and paper" }] },
];
const withImage = () => wanted([{ blocks: [{ ...COLUMNS[0]!.blocks[0], src: image }] }, COLUMNS[1]!]);

async function typeMailFields(page: Page, name: string): Promise<void> {
  await page.getByRole("tab", { name: "Email" }).click();
  await page.getByLabel("Template name").fill(name);
  await page.getByLabel("Subject", { exact: true }).fill("Gifts for [[first_name]]");
}

async function save(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await saved(page);
  return idOf(page);
}

async function expectSame(page: Page, id: string): Promise<void> {
  expect((await read(id)).design).toEqual(withImage());
  const before = await outline(page);
  await page.reload();
  await block(page, "footer").waitFor();
  expect(await outline(page)).toEqual(before);
  expect(await page.getByText("Your unsaved changes are back.").count()).toBe(0);
}

const centre = async (locator: Locator) => {
  const { x, y, width, height } = (await locator.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2, top: y, bottom: y + height };
};

/** Waits until the line that shows the place is in this list. */
const isOver = (page: Page, list: string) =>
  until(
    () => page.locator(`[data-list="${list}"] > .drop-here`).count(),
    (n) => n === 1,
  );

test("by mouse: a mail is dragged together, saved, and the same when it is opened again", async () => {
  await open(LARGE, async (page) => {
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await signIn(page, "templates/new/visual");
    const drag = async (from: Locator, to: Locator, list: string, edge: "top" | "bottom" = "bottom") => {
      const [start, end] = [await centre(from), await centre(to)];
      await page.mouse.move(start.x, start.y);
      await page.mouse.down();
      await page.mouse.move(start.x + 12, start.y + 12, { steps: 4 });
      await page.mouse.move(end.x, edge === "top" ? end.top + 2 : end.bottom - 3, { steps: 10 });
      await page.mouse.move(end.x + 2, edge === "top" ? end.top + 2 : end.bottom - 3);
      await isOver(page, list);
      await page.mouse.up();
    };
    await text(page, "heading").click();
    await page.keyboard.type("Our gift guide is here");
    await text(page, "text").click();
    await page.keyboard.type("Hello ");
    await page.getByRole("button", { name: "Insert field" }).click();
    await page.getByRole("button", { name: /^First name/ }).click();
    await page.keyboard.type(", read on.");
    await drag(offer(page, "Button"), block(page, "text"), "blocks/1/columns/0/blocks");
    await text(page, "button").click();
    await page.keyboard.type("See all twelve");
    await page.getByLabel("Link", { exact: true }).fill("not a link");
    await page.keyboard.press("Tab");
    await page.getByText("Enter a full link").waitFor();
    await page.getByLabel("Link", { exact: true }).fill("example.com/books");
    await page.keyboard.press("Tab");
    expect(await page.getByLabel("Link", { exact: true }).inputValue()).toBe("https://example.com/books");
    await drag(offer(page, "2 columns"), block(page, "section").nth(1), "blocks");
    const empty = page.locator(".empty-list");
    await drag(offer(page, "Image"), empty.first(), "blocks/2/columns/0/blocks");
    await block(page, "image").getByText("Choose an image").click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "books.png" }).click();
    await page.getByLabel("Description (alt text)").fill("Two books");
    await drag(offer(page, "Heading"), empty.first(), "blocks/2/columns/1/blocks");
    await block(page, "heading").nth(1).locator(".ProseMirror").click();
    await page.keyboard.type("Salt and paper");
    await typeMailFields(page, "By mouse");
    await page.screenshot({ path: join(SHOTS, "visual-1440.png") });
    const id = await save(page);
    await expectSame(page, id);

    // A dragged block leaves its column; undo brings it back.
    await block(page, "image").hover();
    await drag(block(page, "image").locator(".block-handle"), block(page, "button"), "blocks/1/columns/0/blocks");
    expect(await outline(page)).toContain("blocks/1/columns/0/blocks/3 Image: Two books");
    await page.keyboard.press("Control+z");
    expect(await outline(page)).toContain("blocks/2/columns/0/blocks/0 Image: Two books");
    expect(faults).toEqual([]);
  });
}, 180_000);

test("by keyboard alone: the same mail", async () => {
  await open(LARGE, async (page) => {
    await signIn(page, "templates/new/visual");
    await block(page, "footer").waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const labelled = (owner: string, expected: RegExp) =>
      until(
        () =>
          page.evaluate(
            `document.activeElement?.matches("${owner}") ? document.activeElement.ariaLabel ?? document.activeElement.textContent : ""`,
          ),
        (label) => expected.test(`${label}`),
      );
    const focused = (expected: RegExp) => labelled(".block", expected);
    const choosing = () => labelled(".palette button", /^Heading$/);
    /** From the focused block: "a" leads to the blocks, Tab to the one to add. */
    const add = async (name: string, after: RegExp) => {
      await press("a");
      await choosing();
      for (let n = 0; n < 40; n++) {
        if ((await page.evaluate("document.activeElement.textContent")) === name) break;
        await press("Tab");
      }
      await press("Enter");
      await focused(after);
    };
    await press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown");
    await focused(/^Heading$/);
    await press("Enter");
    await page.keyboard.type("Our gift guide is here");
    await press("Escape", "ArrowDown");
    await focused(/^Text$/);
    await press("Enter");
    await page.keyboard.type("Hello [[first_name]], read on.");
    await press("Escape");
    await focused(/^Text: Hello/);
    await add("Button", /^Button$/);
    await press("Enter");
    await page.keyboard.type("See all twelve");
    await press("Escape");
    await page.getByLabel("Link", { exact: true }).focus();
    await page.keyboard.type("https://example.com/books");
    await block(page, "section").nth(1).focus();
    await add("2 columns", /^Section: 2 columns$/);
    const columns = page.locator(".empty-list");
    await columns.first().focus();
    await press("Enter");
    await choosing();
    for (let n = 0; n < 2; n++) await press("Tab");
    await press("Enter");
    await focused(/^Image$/);
    await page.getByRole("button", { name: "books.png" }).focus();
    await press("Enter");
    await page.getByLabel("Description (alt text)").focus();
    await page.keyboard.type("Two books");
    await columns.first().focus();
    await press("Enter");
    await choosing();
    await press("Enter");
    await until(
      () => outline(page),
      (all) => all.includes("blocks/2/columns/1/blocks/0 Heading"),
    );
    await focused(/^Heading$/);
    await press("Enter");
    await page.keyboard.type("Salt and paper");
    await press("Escape");
    await focused(/^Heading: Salt and paper$/);

    // Moves, copies and deletes, all taken back again.
    await press("Alt+ArrowLeft");
    expect(await outline(page)).toContain("blocks/2/columns/0/blocks/1 Heading: Salt and paper");
    await press("Alt+ArrowRight", "Control+d", "Delete");
    await page.getByText("Heading deleted. Press Ctrl Z to undo.").waitFor({ state: "attached" });

    await page.getByRole("tab", { name: "Email" }).focus();
    await typeMailFields(page, "By keyboard");
    await press("Control+s");
    await saved(page);
    await expectSame(page, idOf(page));
  });
}, 180_000);

test("by touch: blocks are tapped and dragged in, on a screen of 1024 pixels", async () => {
  await open({ viewport: { width: 1024, height: 900 }, hasTouch: true }, async (page) => {
    await signIn(page, "templates/new/visual");
    await text(page, "heading").tap();
    await page.keyboard.type("Our gift guide is here");
    await text(page, "text").tap();
    await page.keyboard.type("Hello [[first_name]], read on.");
    await offer(page, "Button").tap();
    await text(page, "button").tap();
    await page.keyboard.type("See all twelve");
    await page.getByLabel("Link", { exact: true }).fill("https://example.com/books");
    await offer(page, "2 columns").tap();
    const session = await page.context().newCDPSession(page);
    const touch = (type: string, point?: { x: number; y: number }) =>
      session.send("Input.dispatchTouchEvent", { type: type as "touchMove", touchPoints: point ? [point] : [] });
    const drag = async (from: Locator, to: Locator, list: string) => {
      const [start, end] = [await centre(from), await centre(to)];
      await touch("touchStart", start);
      for (let n = 1; n <= 12; n++) {
        await touch("touchMove", {
          x: start.x + ((end.x - start.x) * n) / 12,
          y: start.y + ((end.y - start.y) * n) / 12,
        });
      }
      await isOver(page, list);
      await touch("touchEnd");
    };
    const empty = page.locator(".empty-list");
    await drag(offer(page, "Image"), empty.first(), "blocks/2/columns/0/blocks");
    await page.getByRole("button", { name: "books.png" }).tap();
    await page.getByLabel("Description (alt text)").fill("Two books");
    await empty.first().tap();
    await offer(page, "Heading").tap();
    await block(page, "heading").nth(1).locator(".ProseMirror").tap();
    await page.keyboard.type("Salt and paper");
    await page.screenshot({ path: join(SHOTS, "visual-1024.png") });
    await typeMailFields(page, "By touch");
    await expectSame(page, await save(page));
  });
}, 180_000);

test("a save over somebody else's is refused, says who it was, and can be repeated; errors lead to their block", async () => {
  const content = { name: "Shared", subject: "News", design: withImage() };
  const { id } = (await company.api.post("/api/emails/templates/", content)).body;
  await open(LARGE, async (page) => {
    await signIn(page, "templates");
    await page.getByRole("link", { name: "Shared", exact: true }).click();
    await page.waitForURL(/\/visual$/);
    await text(page, "button").click();
    await page.keyboard.type("Now: ");
    await company.api.patch(`/api/emails/templates/${id}/`, { subject: "Theirs" });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/saved this template at .*Your changes are not saved/).waitFor();
    expect((await read(id)).subject).toBe("Theirs");
    await page.getByRole("button", { name: "Save mine anyway" }).click();
    await saved(page);
    expect((await read(id)).subject).toBe("News");

    await page.getByLabel("Link", { exact: true }).fill("javascript:alert(1)");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").getByText("This can't be saved yet").waitFor();
    await block(page, "heading").first().click();
    await page.getByRole("button", { name: "Show block" }).click();
    expect(await block(page, "button").getAttribute("class")).toContain("is-selected");
  });
}, 120_000);

test("a draft survives closing the page, text from Word is pasted clean, and a block is pasted into another template", async () => {
  await open({ ...LARGE, permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await signIn(page, "templates/new/visual");
    const word = `<html><head><style>p{color:red}</style></head><body><!--[if gte mso 9]><xml></xml><![endif]-->
<p class="MsoNormal" style="margin:0"><b style="mso-bidi-font-weight:normal"><span style="color:#1F497D">Dear</span></b> readers,<o:p></o:p></p>
<p class="MsoNormal"><span style="font-weight:700">bold</span> <span style="font-style:italic">slanted</span> <a href="https://example.com/a" style="color:blue">a link</a></p>
<b style="font-weight:normal" id="docs-internal-guid-1"><p>From Docs</p></b><script>alert(1)</script></body></html>`;
    await page.evaluate(
      `navigator.clipboard.write([new ClipboardItem({ "text/html": new Blob([${JSON.stringify(word).replaceAll("</", "<\\/")}], { type: "text/html" }) })])`,
    );
    await text(page, "text").click();
    await page.keyboard.press("Control+v");
    await page.getByText("Draft kept in this browser").waitFor();
    await until(
      () => page.evaluate("Object.keys(localStorage).filter((key) => key.includes('draft')).length"),
      (n) => n === 1,
    );
    const texts = await text(page, "text").innerHTML();
    expect(texts).toBe(
      '<p><strong>Dear</strong> readers,</p><p><strong>bold</strong> <em>slanted</em> <a href="https://example.com/a" title="https://example.com/a">a link</a></p><p>From Docs</p>',
    );
    await page.reload();
    await page.getByText("Your unsaved changes are back.").waitFor();
    expect(await text(page, "text").innerHTML()).toBe(texts);

    await block(page, "text").focus();
    await page.keyboard.press("Control+c");
    await page.getByRole("button", { name: "Discard them" }).click();
    expect(await text(page, "text").textContent()).toBe("");
    const { id } = (
      await company.api.post("/api/emails/templates/", { name: "Other", subject: "Other", design: withImage() })
    ).body;
    await page.goto(`${app.url}/app/${company.id}/templates/${id}/visual`);
    await block(page, "heading").first().focus();
    await page.keyboard.press("Control+v");
    await until(
      () => outline(page),
      (all) => all.includes("blocks/1/columns/0/blocks/1 Text: Dear readers, bold slanted a link From D…"),
    );
  });
}, 120_000);

test("a session that ends is named by a save, an upload, the checks and the preview, and the draft is there after signing in", async () => {
  await open(LARGE, async (page) => {
    await signIn(page, "templates/new/visual");
    await text(page, "heading").click();
    await page.keyboard.type("Not lost");
    await page.getByText("Draft kept in this browser").waitFor();
    await page.context().clearCookies();
    const ended = page.getByText("Your session has ended. Load this page again to sign in;");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").filter({ has: ended }).waitFor();
    await offer(page, "Image").click();
    await page.getByLabel("Upload an image").setInputFiles({ name: "a.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("complementary", { name: "Settings" }).filter({ has: ended }).waitFor();
    await page.getByRole("tab", { name: /^Checks/ }).click();
    await page.getByRole("tabpanel").filter({ has: ended }).waitFor();
    await page.getByRole("button", { name: "Preview on a phone" }).click();
    await page.getByRole("region", { name: "Preview of the email" }).filter({ has: ended }).waitFor();

    await page.reload();
    await page.getByLabel("Email address").fill(company.email);
    await page.getByLabel("Password").fill(company.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Your unsaved changes are back.").waitFor();
    expect(await text(page, "heading").first().textContent()).toBe("Not lost");
  });
}, 120_000);

test("previews show the mail as a phone, in dark mode and for a person, and run no script", async () => {
  const { id } = (
    await company.api.post("/api/emails/templates/", { name: "Shown", subject: "Shown", design: withImage() })
  ).body;
  await open(LARGE, async (page) => {
    await signIn(page, `templates/${id}/visual`);
    await page.getByRole("button", { name: "Preview on a phone" }).click();
    await page.frameLocator("iframe").getByText("Hello Ann, read on.").waitFor();
    await page.getByLabel("Preview as").selectOption("ann@example.com");
    await page.getByRole("button", { name: "Preview in dark mode" }).click();
    await page.frameLocator("iframe").getByText("See all twelve").waitFor();
    expect(await page.locator("iframe").getAttribute("sandbox")).toBe("allow-same-origin");
  });
}, 120_000);

test("checks lead to their blocks, and a test of the draft is sent", async () => {
  const design = inOneColumn({ type: "heading", text: "Pale", color: "#eeeeee" }, { type: "text" });
  await company.api.post("/api/emails/saved-blocks/", { name: "Shop button", blocks: [{ type: "divider" }] });
  const { id } = (await company.api.post("/api/emails/templates/", { name: "Pale", subject: "Pale", design })).body;
  await open(LARGE, async (page) => {
    await signIn(page, `templates/${id}/visual`);
    const checks = page.getByRole("tab", { name: /^Checks \([1-9]/ });
    await checks.click();
    const finding = page.getByRole("button", { name: /^Error: The text “Pale” is hard to read/ });
    await finding.waitFor();
    await page.screenshot({ path: join(SHOTS, "visual-checks.png") });
    await finding.click();
    await page.getByRole("tab", { name: "Heading", selected: true }).waitFor();
    await until(
      () => page.evaluate("document.activeElement.dataset.path"),
      (path) => path === "blocks/0/columns/0/blocks/0",
    );
    await page.keyboard.press("Delete");
    await checks.click();
    await finding.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Check links and spam" }).click();
    await page.getByText("All checks done, including links and spam.").waitFor();

    await page.getByRole("button", { name: "Shop button" }).click();
    await page.getByLabel("Insert as").selectOption("Separate copy");
    await page.getByRole("button", { name: "Shop button" }).click();
    expect((await outline(page)).filter((one) => /Saved block|Divider/.test(one))).toHaveLength(2);

    await page.getByRole("button", { name: "Send test" }).click();
    const dialog = page.getByRole("dialog", { name: "Send a test" });
    expect(await dialog.getByLabel("Send to").inputValue()).toBe(company.email);
    await page.screenshot({ path: join(SHOTS, "visual-test.png") });
    await dialog.getByRole("button", { name: "Send", exact: true }).click();
    await dialog.getByText("Connect a mail server, or choose the default one").waitFor();
  });
}, 120_000);

test("a block is saved for other emails by its menu, changed in one of them, and replaced wherever it is used", async () => {
  const made = async (name: string, ...blocks: object[]) =>
    (await company.api.post("/api/emails/templates/", { name, subject: name, design: inOneColumn(...blocks) })).body.id;
  const shop = { type: "button", text: "To the shop", href: "https://example.com/shop" };
  const [first, second] = [await made("First", shop), await made("Second", { type: "heading", text: "Second" })];
  const savedBlock = async () => {
    const { results } = (await company.api.get("/api/emails/saved-blocks/", { query: { search: "Shop link" } })).body;
    return (await company.api.get(`/api/emails/saved-blocks/${results[0].id}/`)).body;
  };
  await open(LARGE, async (page) => {
    const chooseInMenu = async (kind: string, name: string) => {
      await block(page, kind).first().focus();
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("button", { name, exact: true }).click();
    };
    const savedByName = page.getByRole("list", { name: "Saved blocks" }).getByRole("button", { name: "Shop link" });
    await signIn(page, `templates/${first}/visual`);
    await chooseInMenu("button", "Save for other emails");
    const name = page.getByLabel("Name of the saved block");
    expect(await name.inputValue()).toBe("To the shop");
    await name.fill("Shop link");
    await page.screenshot({ path: join(SHOTS, "visual-save-block.png") });
    await page.keyboard.press("Enter");
    await savedByName.waitFor();
    expect((await savedBlock()).blocks).toEqual([shop]);

    await page.goto(`${app.url}/app/${company.id}/templates/${second}/visual`);
    await block(page, "heading").focus();
    await savedByName.click();
    await block(page, "saved").getByText("To the shop").waitFor();
    await save(page);
    await page.goto(`${app.url}/app/${company.id}/templates/${first}/visual`);
    await block(page, "button").focus();
    await savedByName.click();
    await save(page);
    await page.reload();
    await chooseInMenu("saved", "Unlink in this email");
    await block(page, "button").nth(1).locator(".ProseMirror").click();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("Visit us");
    await block(page, "button").nth(1).focus();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("button", { name: "Save for other emails" }).click();
    await name.fill("Shop link");
    await page.getByText("A saved block has this name.").waitFor();
    await page.getByRole("button", { name: "Replace saved block" }).click();
    await name.waitFor({ state: "detached" });
    expect((await savedBlock()).blocks).toEqual([{ ...shop, text: "Visit us" }]);
    expect((await read(second)).body).toContain("Visit us");
    // The new version of this template is no other person's.
    await save(page);
    expect((await read(first)).design).toEqual(inOneColumn(shop, { ...shop, text: "Visit us" }));

    await chooseInMenu("section", "Save for other emails");
    await name.fill("Shop link");
    await page.getByRole("button", { name: "Replace saved block" }).click();
    await page.locator(".menu-form").getByRole("alert").getByText("a section can't replace it").waitFor();

    await chooseInMenu("button", "Save for other emails");
    await page.getByLabel("Link", { exact: true }).fill("javascript:alert(1)");
    await page.getByRole("button", { name: "Save block" }).click();
    await page.locator(".menu-form").getByRole("alert").waitFor();
  });
}, 120_000);

test.each([
  ["1440", 1440],
  ["1024", 1024],
  ["390", 390],
])(
  "axe finds nothing at %s pixels, and nothing is wider than the window",
  async (name, width) => {
    const { id } = (
      await company.api.post("/api/emails/templates/", { name: "Axe", subject: "Axe", design: withImage() })
    ).body;
    await open({ bypassCSP: true, viewport: { width, height: 900 } }, async (page) => {
      await signIn(page, `templates/${id}/visual`);
      for (const kind of ["text", "image", "section"]) {
        await block(page, kind).first().focus();
        expect(await violations(page)).toEqual([]);
      }
      await page.getByRole("tab", { name: "Email" }).click();
      await page.getByRole("tab", { name: "Outline" }).click();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      await page.screenshot({ path: join(SHOTS, `visual-axe-${name}.png`), fullPage: true });
    });
  },
  120_000,
);

test("without script the page says so and offers HTML", async () => {
  await open({ javaScriptEnabled: false }, async (page) => {
    await signIn(page, "templates/new/visual");
    await page.getByText("The visual editor needs JavaScript.").waitFor();
    await page.getByRole("link", { name: "Write HTML instead" }).click();
    await page.getByLabel("Content", { exact: true }).waitFor();
  });
}, 60_000);
