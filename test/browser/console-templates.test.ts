import { join } from "node:path";
import jwt from "jsonwebtoken";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { keysFor } from "../../services/lib/secrets.ts";
import { until } from "../integration/campaigns/world.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";
import { expectWholePages, LAPTOP, PHONE, shotName } from "./whole-pages.ts";

const WAIT = { timeout: 60_000 };

/** A PNG with one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const BODY = `<!doctype html>
<html>
<head><style>
body { margin: 0; font-family: sans-serif; background: #eef1f5 }
.paper { max-width: 600px; margin: 0 auto; padding: 24px; background: #fff }
@media (prefers-color-scheme: dark) { .paper { background: #222; color: #eee } a { color: #9bf } }
</style></head>
<body>
<div class="paper">
<h1>Six books for [[first_name|default:you]]</h1>
<p>Evenings are long. These six are worth them.</p>
<p>Yours, in [[city]]. <a href="https://example.com/books">All books</a></p>
<p><a href="[[unsubscribe_url]]">Unsubscribe</a></p>
</div>
</body>
</html>`;

let app: App;
let browser: Browser;
let company: TestCompany;
let template: string;
let mediaId: string;
beforeAll(async () => {
  app = await startApp();
  browser = await launchChromium();
  company = await newCompany(app, { name: "Analytical Engines" });
  const { api } = company;
  await api.post("/api/emails/subscribers/", {
    email: "grace@example.com",
    first_name: "Grace",
    attributes: { city: "New York", favourite_colour: "blue" },
  });
  const make = async (given: object) => (await api.post("/api/emails/templates/", given)).body.id;
  template = await make({ name: "October newsletter", subject: "Six books for [[first_name]]", body: BODY });
  await make({
    name: "A receipt with a name that is a good deal longer than anybody would want to read in a list",
    subject: "Your order [[order.number]]",
    body: "<p>Thank you</p>",
    template_type: "transactional",
  });
  const changed = BODY.replace("Evenings are long", "The evenings are long").replace(
    "</p>\n</div>",
    "</p>\n<p>P.S.</p>\n</div>",
  );
  await api.patch(`/api/emails/templates/${template}/`, { body: changed, text_body: "Hello [[first_name]]" });
  const form = new FormData();
  form.append("file", new File([PNG], "autumn leaves.png", { type: "image/png" }));
  mediaId = (await api.post("/api/emails/media/", form)).body.id;
  const paper = new FormData();
  paper.append(
    "file",
    new File(["Terms"], "terms-and-conditions-of-everything-we-ever-sold.txt", { type: "text/plain" }),
  );
  await api.post("/api/emails/media/", paper);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
});

const open = (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> =>
  openPage(browser, { bypassCSP: false, ...options }, work);

const at = (path: string) => `${app.url}/app/${company.id}/${path}`;

const signIn = (page: Page, path: string): Promise<void> => signInOn(page, app, company, `/app/${company.id}/${path}`);

const inFrame = (page: Page, text: string) => page.frameLocator("iframe").getByText(text).first().waitFor(WAIT);
/** The code editor, which replaces the text field. */
const codeOf = (page: Page) => page.locator(".code-editor .cm-content");
const write = async (page: Page, text: string): Promise<void> => {
  await codeOf(page).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
};
const written = (page: Page): Promise<string> => page.locator("#body").inputValue();
/** Simulates dragging these files from a folder. */
const dragged = (names: string[]): string => `(() => {
  const transfer = new DataTransfer();
  const content = Uint8Array.from(atob("${PNG.toString("base64")}"), (mark) => mark.charCodeAt(0));
  for (const name of ${JSON.stringify(names)}) transfer.items.add(new File([content], name, { type: "image/png" }));
  return transfer;
})()`;
/** The page's policy forbids evaluating texts in it, including Playwright's own waiting. */
const holds = (page: Page, expression: string) =>
  until(
    () => page.evaluate(expression),
    (value) => value === true,
  );
const read = async () => (await company.api.get(`/api/emails/templates/${template}/`)).body;
const seen = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(WAIT);

test.each([LAPTOP, PHONE])(
  "every page of templates and media passes axe and is no wider than the window: %s",
  async (how, options) => {
    // The page's policy would block axe.
    await open({ bypassCSP: true, ...options }, async (page) => {
      await signIn(page, "templates");
      const editor = `templates/${template}`;
      const ofOne = ["", "/delete", "/versions", "/versions/1"].map((rest) => `${editor}${rest}`);
      const paths = ["templates", "templates/new", ...ofOne, "media", `media/${mediaId}/delete`];
      const arrived = async (name: string) => {
        if (name !== shotName(editor)) return;
        await page.locator(".editor-code").scrollIntoViewIfNeeded();
        await codeOf(page).waitFor(WAIT);
        await inFrame(page, "Six books for Ann");
        await seen(page, "No issues found.");
        for (const summary of await page.locator("summary").all()) await summary.click();
      };
      const pages = paths.map((path) => [shotName(path), at(path)] as const);
      await expectWholePages(page, { shots: how, pages, arrived });
    });
  },
  180_000,
);

test("placeholders of other products and broken links are listed during typing, and a button converts them", async () => {
  await open({ viewport: { width: 1280, height: 1400 } }, async (page) => {
    await signIn(page, "templates/new");
    await page.getByLabel("Name", { exact: true }).fill("From Mailchimp");
    await page.getByLabel("Subject", { exact: true }).fill("Hi *|FNAME|*");
    await write(page, '<p>Dear {{ contact.FIRSTNAME }},</p>\n<a href="www.shop.example.com">Shop</a>');
    await seen(page, /is a placeholder of Mailchimp/);
    await seen(page, /does not open from an email/);
    await page.screenshot({ path: join(SHOTS, "convert.png") });
    await page.getByRole("button", { name: "Convert placeholders and links" }).click();
    await seen(page, "Placeholders and links are converted.");
    expect(await written(page)).toContain('<a href="https://www.shop.example.com">Shop</a>');
    await page.screenshot({ path: join(SHOTS, "converted.png") });
  });
}, 120_000);

test("the preview follows the input, runs no script, shows each view and reader, and keeps its scroll position", async () => {
  await open({ viewport: { width: 1280, height: 900 } }, async (page) => {
    const refused: string[] = [];
    page.on("pageerror", (error) => refused.push(String(error)));
    await signIn(page, `templates/${template}`);
    await inFrame(page, "Six books for Ann");
    const long = `<script>document.title="ran"</script><p onclick="alert(1)">First [[city]]</p>${"<p>Line</p>".repeat(200)}`;
    await write(page, long);
    await inFrame(page, "First");
    await seen(page, /No visible unsubscribe link/);
    expect(await page.title()).not.toContain("ran");
    // Keeps the scroll position. Evaluated in the page, because the frame runs no script.
    const scrolled = "document.querySelector('iframe').contentDocument.documentElement.scrollTop";
    await page.evaluate(`${scrolled} = 400`);
    await page.getByLabel("Preview as subscriber").fill("grace@example.com");
    await inFrame(page, "First New York");
    expect(await page.evaluate(scrolled)).toBe(400);

    await write(page, BODY);
    await page.getByLabel("Dark").check();
    const paper = `document.querySelector("iframe").contentDocument.querySelector(".paper")`;
    const colour = `${paper} && getComputedStyle(${paper}).backgroundColor`;
    await holds(page, `(${colour}) === "rgb(34, 34, 34)"`);
    await page.screenshot({ path: `${SHOTS}/template-dark-view.png` });
    await page.getByLabel("Phone").check();
    await holds(page, `(${colour}) === "rgb(255, 255, 255)"`);
    expect((await page.locator("iframe").boundingBox())!.width).toBe(375);
    await page.screenshot({ path: `${SHOTS}/template-phone-view.png` });
    // Links in the preview do nothing.
    await page.frameLocator("iframe").getByText("All books").click();
    await inFrame(page, "All books");
    await page.getByLabel("Text", { exact: true }).check();
    await inFrame(page, "Hello Grace");
    expect(await page.frameLocator("iframe").locator("h1, a").count()).toBe(0);

    // An error is shown at its line, with a button that leads there.
    await page.getByLabel("Format").selectOption("mjml");
    await write(page, "<mjml>\n<mj-body>\n<mj-nonsense/>\n</mj-body>\n</mjml>");
    await page.getByRole("button", { name: "Go to line 3" }).click();
    const selected = "document.querySelector('.code-editor').shadowRoot.getSelection().toString()";
    expect(await page.evaluate(selected)).toBe("<mj-nonsense/>");
    expect(await page.locator(".cm-wrong").textContent()).toBe("3");
    await page.screenshot({ path: `${SHOTS}/template-error.png` });
    expect(refused).toEqual([]);
  });
});

test("variables and images are inserted at the cursor, undo removes them, and leaving with unsaved changes asks for confirmation", async () => {
  await open({ viewport: { width: 1280, height: 900 } }, async (page) => {
    await signIn(page, `templates/${template}`);
    const subject = page.getByLabel("Subject", { exact: true });
    await page.getByText("Insert a variable").click();
    await subject.focus();
    await page.keyboard.press("End");
    await page.getByRole("button", { name: "[[city]]", exact: true }).click();
    expect(await subject.inputValue()).toBe("Six books for [[first_name]][[city]]");
    await page.keyboard.press("Control+z");
    expect(await subject.inputValue()).toBe("Six books for [[first_name]]");

    // A file dropped onto the content is uploaded and inserted there.
    await write(page, "");
    const data = await page.evaluateHandle(dragged(["dropped.png"]));
    await codeOf(page).dispatchEvent("dragover", { dataTransfer: data });
    await codeOf(page).dispatchEvent("drop", { dataTransfer: data });
    await holds(page, "document.getElementById('body').value.includes('dropped.png')");
    expect(await written(page)).toMatch(/^<img src="http[^"]+\/dropped\.png" alt="">$/);

    const asked: string[] = [];
    page.on("dialog", async (dialog) => {
      asked.push(dialog.type());
      await dialog.dismiss();
    });
    await page.getByRole("link", { name: "All templates" }).click();
    await until(
      async () => asked.length,
      (n) => n > 0,
    );
    expect(asked).toEqual(["beforeunload"]);
    expect(page.url()).toBe(at(`templates/${template}`));
    await page.getByRole("button", { name: "Save" }).click();
    await seen(page, "Saved.");
    expect(asked).toHaveLength(1);
    expect((await read()).body).toMatch(/dropped\.png/);
    await page.getByRole("link", { name: "All templates" }).click();
    await page.waitForURL(at("templates"));
    expect(asked).toHaveLength(1);
  });
});

test("a session that ends during typing is reported, and the text stays in the editor", async () => {
  await open({ viewport: { width: 1280, height: 900 } }, async (page) => {
    await signIn(page, `templates/${template}`);
    await seen(page, /bytes of HTML/);
    await page.context().clearCookies();
    await write(page, "<p>Not lost</p>");
    await seen(page, /Your session has ended/);
    expect(await written(page)).toBe("<p>Not lost</p>");
  });
});

test("after an expired session, saving leads through the sign-in back to the text", async () => {
  await open({ viewport: { width: 1280, height: 900 } }, async (page) => {
    await signIn(page, `templates/${template}`);
    await seen(page, /bytes of HTML/);
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name === "fm_session");
    const { exp: _, ...claims } = jwt.decode(cookie!.value) as jwt.JwtPayload;
    const value = jwt.sign({ ...claims, exp: claims.iat! - 60 }, keysFor("console")[0]!);
    await page.context().addCookies([{ ...cookie!, value }]);
    await write(page, "<p>Kept through the sign-in</p>");
    await seen(page, /Save to sign in again; your text is kept/);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByLabel("Email address").fill(company.email);
    await page.getByLabel("Password").fill(company.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await seen(page, /bytes of HTML/);
    expect(await written(page)).toBe("<p>Kept through the sign-in</p>");
  });
});

test("a template is written, saved, changed, compared and restored by keyboard alone", async () => {
  await open({}, async (page) => {
    await signIn(page, "templates");
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.getByRole("link", { name: "New template" }).focus();
    await press("Enter");
    await page.getByRole("link", { name: "Write HTML" }).focus();
    await press("Enter");
    await page.waitForURL(at("templates/new?mode=html"));
    await codeOf(page).waitFor(WAIT);
    await page.getByLabel("Name", { exact: true }).focus();
    await page.keyboard.type("Written by keys");
    await press("Tab");
    await page.keyboard.type("Hello");
    await press("Tab", "Tab", "Tab", "Tab");
    // Tab indents in the content, and Escape releases the focus.
    await page.keyboard.type("<p>");
    await press("Enter", "Tab");
    await page.keyboard.type("one");
    expect(await written(page)).toBe("<p>\n    one\n</p>");
    await press("Escape", "Tab");
    expect(await page.evaluate("document.activeElement.className")).not.toBe("code-editor");
    await page.getByRole("button", { name: "Save" }).focus();
    await press("Enter");
    await page.waitForURL(/checked=1/);
    await write(page, "<p>two</p>");
    await page.getByRole("button", { name: "Save" }).focus();
    await press("Enter");
    await page.waitForURL(/checked=1/);
    await page.getByRole("link", { name: "Versions" }).focus();
    await press("Enter");
    await page.getByRole("link", { name: "Compare: Version 1" }).focus();
    await press("Enter");
    await seen(page, "From version 1 to version 2");
    expect(await page.locator("del").allTextContents()).toEqual(["<p>", "    one", "</p>"]);
    await page.getByRole("button", { name: /^Restore/ }).focus();
    await press("Enter");
    await page.waitForURL(/notice=restored/);
    expect(await written(page)).toBe("<p>\n    one\n</p>");
  });
});

test("the editor saves without JavaScript, a button updates the preview frame, and errors are shown at their line", async () => {
  await open({ javaScriptEnabled: false }, async (page) => {
    await signIn(page, `templates/${template}`);
    await page.getByLabel("Subject", { exact: true }).fill("Plainly");
    await page.getByLabel("Content", { exact: true }).fill("<p>Plain [[first_name]]</p>");
    await page.getByLabel("Preview as subscriber").fill("grace@example.com");
    await page.getByRole("button", { name: "Update preview" }).click();
    await inFrame(page, "Plain Grace");
    await page.getByRole("button", { name: "Save" }).click();
    await seen(page, /No visible unsubscribe link/);
    expect(await read()).toMatchObject({ subject: "Plainly", body: "<p>Plain [[first_name]]</p>" });
    await page.getByLabel("Content", { exact: true }).fill("<p>\n[[#if x]]</p>");
    await page.getByRole("button", { name: "Save" }).click();
    await seen(page, /at line 2/);
    await page.goto(at("media"));
    await page.getByLabel("Upload a file").setInputFiles({ name: "plain.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("button", { name: "Upload", exact: true }).click();
    await seen(page, "Uploaded.");
    await seen(page, "plain.png");
  });
});

test("Markdown is written with completed variables, searched, saved and opened again, within the page's policy", async () => {
  await open({ viewport: { width: 1280, height: 900 } }, async (page) => {
    const refused: string[] = [];
    page.on("pageerror", (error) => refused.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") refused.push(message.text());
    });
    await signIn(page, "templates/starters");
    await page.getByRole("link", { name: "Write Markdown" }).click();
    await page.getByLabel("Name", { exact: true }).fill("In Markdown");
    await page.getByLabel("Subject", { exact: true }).fill("Hello");
    await codeOf(page).focus();
    await page.keyboard.type("# Hello [[first_name]]\n\nYou live in **[[ci");
    await page.getByRole("option", { name: "city" }).waitFor(WAIT);
    await page.screenshot({ path: `${SHOTS}/template-completion.png` });
    await page.keyboard.press("Enter");
    await page.keyboard.type("** / today");
    const markdown = "# Hello [[first_name]]\n\nYou live in **[[city]]** / today";
    expect(await written(page)).toBe(markdown);
    await inFrame(page, "Hello Ann");
    await page.keyboard.press("Control+f");
    await page.keyboard.type("LIVE");
    await page.locator(".cm-searchMatch").getByText("live").waitFor(WAIT);
    await page.screenshot({ path: `${SHOTS}/template-markdown.png` });
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+z");
    expect(await written(page)).not.toBe(markdown);
    await page.keyboard.press("Control+y");
    await page.getByRole("button", { name: "Save" }).click();
    await seen(page, "Saved.");
    const { results } = (await company.api.get("/api/emails/templates/", { query: { search: "In Markdown" } })).body;
    const { body } = await company.api.get(`/api/emails/templates/${results[0].id}/`);
    expect(body).toMatchObject({ markdown, template_mode: "basic" });
    await page.goto(at(`templates/${body.id}`));
    await codeOf(page).getByText("You live in").waitFor(WAIT);
    expect(await page.getByLabel("Format").inputValue()).toBe("markdown");
    expect(refused).toEqual([]);
  });
});

test("somebody who types before the code editor is loaded goes on typing in it", async () => {
  await open({}, async (page) => {
    const loads = Promise.withResolvers<void>();
    await page.route(/\/assets\/code-/, async (route) => {
      await loads.promise;
      await route.continue();
    });
    await signIn(page, "templates/new?mode=html");
    await page.getByLabel("Content", { exact: true }).click();
    await page.keyboard.type("<p>Hello</p>");
    await page.keyboard.press("ArrowLeft");
    loads.resolve();
    await codeOf(page).waitFor(WAIT);
    await page.keyboard.type("!");
    expect(await written(page)).toBe("<p>Hello</p!>");
  });
});

/** Pixels that a finger hits. */
const FINGER = 40;

test("by touch: a tap places the caret, typed text goes there, a completion is tapped, and the code scrolls under the finger", async () => {
  const lines = Array.from({ length: 80 }, (_, n) => `<p>Line ${n + 1}</p>`).join("\n");
  const { id } = (await company.api.post("/api/emails/templates/", { name: "Touched", subject: "T", body: lines }))
    .body;
  await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (page) => {
    await signIn(page, `templates/${id}`);
    const editor = page.locator(".code-editor");
    await codeOf(page).waitFor(WAIT);
    await editor.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await page.locator(".cm-line").nth(2).boundingBox())!;
    await page.touchscreen.tap(x + width - 20, y + height / 2);
    await page.keyboard.type(" [[ci");
    const city = page.getByRole("option", { name: "city" });
    expect((await city.boundingBox())!.height).toBeGreaterThanOrEqual(FINGER);
    await city.tap();
    expect((await written(page)).split("\n").slice(1, 4)).toEqual([
      "<p>Line 2</p>",
      "<p>Line 3</p> [[city]]",
      "<p>Line 4</p>",
    ]);
    await page.screenshot({ path: `${SHOTS}/template-touch.png` });
    const session = await page.context().newCDPSession(page);
    const box = (await editor.boundingBox())!;
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", up?: number) =>
      session.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: up === undefined ? [] : [{ x: box.x + box.width / 2, y: box.y + box.height / 2 - up }],
      });
    await touch("touchStart", 0);
    for (let up = 15; up <= 210; up += 15) await touch("touchMove", up);
    await touch("touchEnd");
    await holds(
      page,
      "document.querySelector('.code-editor').shadowRoot.querySelector('.cm-scroller').scrollTop > 100",
    );
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  });
});

test("dropped files are uploaded, their address can be copied, and a deletion first shows what it breaks", async () => {
  await open({ permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await signIn(page, "media");
    const data = await page.evaluateHandle(dragged(["first.png", "second.png"]));
    await page.dispatchEvent("main", "dragover", { dataTransfer: data });
    await page.dispatchEvent("main", "drop", { dataTransfer: data });
    await seen(page, "Uploaded.");
    await page.getByRole("button", { name: "Copy: second.png" }).click();
    await page.getByRole("button", { name: "Copy: second.png" }).filter({ hasText: "Copied" }).waitFor(WAIT);
    const address = (await page.evaluate("navigator.clipboard.readText()")) as string;
    expect(address).toMatch(/\/second\.png$/);
    const body = `<img src="${address}" alt="">`;
    await company.api.post("/api/emails/templates/", { name: "Shows the second", subject: "S", body });
    await page.getByRole("link", { name: "Delete: second.png" }).click();
    await seen(page, "Shows the second");
    await page.screenshot({ path: `${SHOTS}/media-delete-used.png` });
    await page.getByRole("button", { name: "Delete" }).click();
    await seen(page, "Deleted.");
    expect(await page.getByText("second.png").count()).toBe(0);
  });
});
