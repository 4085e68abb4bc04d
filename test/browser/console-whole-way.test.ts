/**
 * The whole way of a person who writes no HTML, by mouse, by keyboard alone and by touch: a new company, its brand, a
 * template in the visual editor, a campaign, and the mail in the mailbox. With the clicks, fields and keys that it may
 * take, and its time.
 */
import { simpleParser } from "mailparser";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import sharp from "sharp";
import { notices } from "../../services/console/messages/notices.ts";
import { config } from "../../services/lib/config.ts";
import { until } from "../integration/campaigns/world.ts";
import { type App, startApp } from "../support/app.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { violations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS } from "./open-page.ts";
import { csv, DESK, Person, type PickedFile, WAYS, type Way } from "./person.ts";

jest.setTimeout(300_000);

const LOGIN = { user: "lantern", pass: "a key of the relay" };
const BRAND = { typed: "#8a1c3c", shown: "rgb(138, 28, 60)" };
const HEADING = "Six books for a long evening";

let app: App;
let server: SmtpServer;
let browser: Browser;
beforeAll(async () => {
  server = await startSmtpServer({ auth: LOGIN });
  [app, browser] = [await startApp(), await launchChromium()];
}, 240_000);
afterAll(async () => {
  process.stdout.write(`${COUNTED.join("\n")}\n`);
  await browser?.close();
  await app?.stop();
  await server.stop();
});

const COUNTED: string[] = [];
/** At most. Keys: Tab, Enter, arrows and others that are no text. */
const MOST: Record<Way, { clicks: number; fields: number; keys: number }> = {
  mouse: { clicks: 20, fields: 16, keys: 0 },
  keyboard: { clicks: 18, fields: 16, keys: 230 },
  touch: { clicks: 20, fields: 16, keys: 0 },
};
const WINDOWS: Record<Way, BrowserContextOptions> = {
  mouse: DESK,
  keyboard: DESK,
  touch: { viewport: { width: 1024, height: 768 }, hasTouch: true },
};

async function picture(name: string, width: number, height: number, background: string): Promise<PickedFile> {
  const image = sharp({ create: { width, height, channels: 3, background } });
  const [mimeType, made] = name.endsWith(".png") ? ["image/png", image.png()] : ["image/jpeg", image.jpeg()];
  return { name, mimeType: mimeType as string, buffer: await (made as typeof image).toBuffer() };
}

const block = (page: Page, kind: string) => page.locator(`.block.is-${kind}`);
const textOf = (one: Locator) => one.locator(".ProseMirror").first();
const selectedKind = (page: Page, kind: string) =>
  until(
    () => page.evaluate("document.activeElement.className"),
    (name) => `${name}`.includes(`is-${kind}`),
  );

/** Replaces the first heading's text. */
async function changeHeading(person: Person): Promise<void> {
  const { page, way } = person;
  await block(page, "heading").first().waitFor();
  if (way === "keyboard") {
    const heading = block(page, "heading").first().and(page.locator(":focus"));
    for (let n = 0; n < 20 && (await heading.count()) === 0; n++) await person.key("ArrowDown");
    await person.key("Enter");
  } else await person.activate(textOf(block(page, "heading").first()));
  person.counts.fields++;
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(HEADING);
  if (way === "keyboard") await person.key("Escape");
}

const middle = async (locator: Locator) => {
  const { x, y, width, height } = (await locator.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2, bottom: y + height };
};

/** Below the heading: dragged, by its key, or tapped. */
async function addImage(person: Person): Promise<void> {
  const { page, way } = person;
  const blocks = page.getByRole("complementary", { name: "Blocks" });
  const offer = blocks.getByRole("button", { name: "Image", exact: true });
  if (way === "touch") await person.activate(offer);
  else if (way === "keyboard") {
    await person.key("a");
    await person.activate(offer);
  } else {
    const [from, to] = [await middle(offer), await middle(block(page, "heading").first())];
    person.counts.clicks++;
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 12, from.y + 12, { steps: 4 });
    await page.mouse.move(to.x, to.bottom - 3, { steps: 10 });
    await page.mouse.move(to.x + 2, to.bottom - 3);
    await until(
      () => page.locator(".drop-here").count(),
      (n) => n > 0,
    );
    await page.mouse.up();
  }
  await selectedKind(page, "image");
  // Into its settings.
  if (way === "keyboard") await person.key("Enter");
}

async function wholeWay(person: Person, passes: (name: string, url: RegExp) => Promise<void>): Promise<string> {
  const { page, way } = person;
  const [mailbox, owner] = [`reader-${way}@example.com`, `maria-${way}-${process.pid}@example.com`];
  await page.goto(`${app.url}/app/sign-up`);
  await passes("sign-up", /\/sign-up$/);
  await person.fill("Your name", "Maria Almeida");
  await person.fill("Email address", owner);
  await person.fill("Password", "quite another staple");
  await person.press("Create the account");
  await person.sees("6 more steps to your first campaign.");
  await passes("first-steps", /\/[0-9a-f-]{36}/);
  await person.fill("Name of your company", "Lantern Books");
  await person.press("Save");
  await person.press(/^Connect\b.*mail server$/);
  await passes("server", /\/servers\/new/);
  await person.fill("Sender address", "news@lantern.example");
  await person.fill("Host", `127.0.0.1:${server.port}`);
  await person.fill("Username", LOGIN.user);
  await person.fill("Password", LOGIN.pass);
  await person.press("Connect and send me a test email");
  await person.sees(`The server accepted the email to ${owner}.`);

  await person.menu();
  await person.press("Audience");
  await person.press("Import");
  await person.attach("File", csv("readers.csv", `email,first_name\n${mailbox},Zoë\n`));
  await person.press("Upload file");
  await person.press("Check file");
  await person.press("Import 1 row now");
  await person.sees("Import finished");

  await person.menu();
  await person.press("Settings");
  await person.press("Branding");
  await passes("brand-before", /\/settings\/branding/);
  await person.attach("Upload a logo", await picture("logo.png", 1200, 300, "#8a1c3c"));
  await person.sees("Uploaded. Save to use it.");
  await person.fill("Link and button color", BRAND.typed);
  await person.fill("Footer", "Harbour Street 9, Lisbon");
  await page.frameLocator("iframe.brand-preview").getByText("Harbour Street 9, Lisbon").waitFor();
  await passes("brand", /\/settings\/branding/);
  await person.press("Save");
  await person.sees("Saved.");

  await person.press("Design an email");
  await passes("starters", /\/templates\/starters$/);
  await person.press(/^Newsletter: one story/);
  await changeHeading(person);
  await addImage(person);
  await person.attach("Upload an image", await picture("shelf.jpg", 2400, 1600, "#2f6f4f"));
  await until(
    () => page.getByLabel("Image address").inputValue(),
    (url) => /-1104x736\.\w+$/.test(url),
  );
  await person.fill("Description (alt text)", "A shelf of books");
  await passes("editor", /\/visual/);
  if (way === "keyboard") await person.key("ControlOrMeta+s");
  else await person.press("Save");
  await person.sees("Saved just now");
  await passes("saved", /\/visual/);
  await person.press("New campaign");
  await passes("whom", /\/whom$/);
  await person.choose("Recipients", "readers");
  await person.press("Save and continue");
  await person.sees("1 person in “readers” gets this now.");
  await passes("review", /\/drafts\/[0-9a-f-]{36}$/);
  await person.press("Send now");
  await person.sees(notices.campaignSent);
  await passes("sent", /\/campaigns\/[0-9a-f-]{36}/);
  return mailbox;
}

/** What the reader sees, with the images that the mail links to. */
async function expectArrived(mailbox: string): Promise<void> {
  const [raw] = await until(
    async () => server.messages.filter(({ to }) => to.includes(mailbox)).map((one) => one.raw),
    ({ length }) => length > 0,
  );
  const { html, subject } = await simpleParser(Buffer.from(raw!, "latin1"));
  expect(subject).toBe("What we learned this month");
  await openPage(browser, {}, async (page) => {
    await page.setContent(`${html}`.replaceAll(config().BASE_URL, app.url), { waitUntil: "networkidle" });
    await page.getByRole("heading", { level: 1, name: HEADING }).waitFor();
    const colourOf = (one: Locator) =>
      one.evaluate((element) => element.ownerDocument.defaultView!.getComputedStyle(element).backgroundColor);
    expect(await colourOf(page.getByRole("link", { name: "Read the whole story" }))).toBe(BRAND.shown);
    for (const name of ["Lantern Books", "A shelf of books"]) {
      const image = page.getByRole("img", { name });
      await until(
        () => image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth),
        (width) => width > 0,
      );
    }
    await page.getByText("Harbour Street 9, Lisbon").waitFor();
    await page.screenshot({ path: `${SHOTS}/whole-way-mail.png`, fullPage: true });
    const unsubscribe = page.getByRole("link", { name: "Unsubscribe" });
    await page.goto((await unsubscribe.getAttribute("href"))!);
    await page.getByRole("button", { name: "Unsubscribe" }).waitFor();
  });
}

test.each(WAYS)("by %s: a new company, its brand, a template, a campaign, and the mail in the mailbox", async (way) => {
  // The page's policy would block axe.
  await openPage(browser, WINDOWS[way], async (page) => {
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    let apartMs = 0;
    const passes = async (name: string, url: RegExp) => {
      await page.waitForURL(url);
      const start = performance.now();
      await page.screenshot({ path: `${SHOTS}/whole-way-${way}-${name}.png` });
      expect([name, await violations(page)]).toEqual([name, []]);
      apartMs += performance.now() - start;
    };
    const person = new Person(page, way);
    const start = performance.now();
    const mailbox = await wholeWay(person, passes).catch(async (error) => {
      await page.screenshot({ path: `${SHOTS}/whole-way-${way}.png`, fullPage: true });
      throw error;
    });
    const seconds = Math.round((performance.now() - start - apartMs) / 100) / 10;
    const { clicks, fields, keys } = person.counts;
    COUNTED.push(`The whole way by ${way}: ${clicks} clicks, ${fields} fields, ${keys} keys, ${seconds} s`);
    await expectArrived(mailbox);
    expect(clicks).toBeLessThanOrEqual(MOST[way].clicks);
    expect(fields).toBeLessThanOrEqual(MOST[way].fields);
    expect(keys).toBeLessThanOrEqual(MOST[way].keys);
    expect(faults).toEqual([]);
  });
});
