import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import sharp from "sharp";
import { until } from "../integration/campaigns/world.ts";
import { type App, startApp } from "../support/app.ts";
import { fileForm, newCompany, type TestCompany } from "../support/client.ts";
import { violations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";

let app: App;
let browser: Browser;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp();
  browser = await launchChromium();
  company = await newCompany(app, { name: "Lantern Books" });
  const photo = (background: string) =>
    sharp({ create: { width: 1600, height: 1200, channels: 3, background } })
      .jpeg()
      .toBuffer();
  for (let n = 0; n < 7; n++) await upload(await photo("#445566"), `shelf-${n}.jpg`, {});
  await upload(await photo("#0b6b72"), "sea.jpg", { folder: "Autumn", alt: "The sea in October" });
  for (let n = 0; n < 7; n++) await upload(await photo("#665544"), `later-${n}.jpg`, {});
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app.stop();
});

const upload = async (bytes: Buffer, name: string, fields: Record<string, string>) =>
  (await company.api.post("/api/emails/media/", fileForm(new Uint8Array(bytes), name, fields))).body;

const open = (work: (page: Page) => Promise<void>): Promise<void> =>
  openPage(browser, { viewport: { width: 1440, height: 900 } }, work);
const image = (page: Page) => page.locator(".block.is-image");
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });

async function newMail(page: Page): Promise<void> {
  await signInOn(page, app, company, `/app/${company.id}/templates/new/visual`);
  await page.getByRole("complementary", { name: "Blocks" }).getByRole("button", { name: "Image", exact: true }).click();
  await image(page).waitFor();
}

/** The media file that the block shows once it is one of this width. */
async function shownFile(page: Page, width: number) {
  const address = page.getByLabel("Image address");
  const name = new RegExp(`-${width}x\\d+\\.(?:jpg|png)$`);
  const url = await until(
    () => address.inputValue(),
    (value) => name.test(value),
  );
  return (await company.api.get(`/api/emails/media/${url.split("/").at(-2)}/`)).body;
}

const focusIs = (locator: Locator) =>
  until(
    () => locator.evaluate((element) => element === element.ownerDocument.activeElement),
    (is) => is,
  );

test("by mouse: an image is found by folder, shown in twice its width, described, and cropped", async () => {
  await open(async (page) => {
    await newMail(page);
    await page.getByRole("button", { name: "Choose image" }).click();
    const library = dialog(page, "Images");
    await library.getByRole("button", { name: "shelf-0.jpg" }).waitFor();
    await page.screenshot({ path: join(SHOTS, "images-library.png") });
    expect(await violations(page)).toEqual([]);
    await library.getByLabel("Folder").selectOption("Autumn");
    await library.getByRole("status").getByText("1 image", { exact: true }).waitFor();
    await library.getByRole("button", { name: "sea.jpg" }).click();
    // 600 pixels without the space beside images.
    const whole = await shownFile(page, 1104);
    expect(whole).toMatchObject({ crop: null, folder: "Autumn", alt: "The sea in October" });
    const alt = page.getByLabel("Description (alt text)");
    expect(await alt.inputValue()).toBe("The sea in October");
    await alt.fill("");
    await page.getByText(/^Add a description/).waitFor();
    await alt.fill("The sea");
    expect(await page.getByText(/^Add a description/).count()).toBe(0);

    // Another width offers another copy.
    const width = page.getByLabel("Width (0: full width)");
    await width.fill("200");
    await width.press("Tab");
    await page.getByRole("button", { name: "Resize", exact: true }).click();
    await shownFile(page, 400);
    await width.fill("0");
    await width.press("Tab");
    await page.getByText(/so that it looks sharp/).waitFor();
    await page.getByRole("button", { name: "Resize", exact: true }).click();
    await shownFile(page, 1104);

    await page.getByRole("button", { name: "Crop", exact: true }).click();
    const crop = dialog(page, "Crop image");
    await crop.getByRole("button", { name: "3:1" }).click();
    await crop.getByText("1600 × 533 pixels").waitFor();
    const part = await crop.locator(".crop-part").boundingBox();
    await page.mouse.move(part!.x + 100, part!.y + 20);
    await page.mouse.down();
    await page.mouse.move(part!.x + 100, part!.y - 500, { steps: 5 });
    await page.mouse.up();
    await page.screenshot({ path: join(SHOTS, "images-crop.png") });
    expect(await violations(page)).toEqual([]);
    await crop.getByRole("button", { name: "Crop", exact: true }).click();
    const cut = await shownFile(page, 1104);
    await until(
      () => page.getByLabel("Image address").inputValue(),
      (value) => value.includes("1104x368"),
    );
    expect(cut.copy_of).toBe(whole.copy_of);
    await page.screenshot({ path: join(SHOTS, "images-settings.png") });
  });
}, 120_000);

test("by keyboard alone: the same, and Escape returns to the button", async () => {
  await open(async (page) => {
    await newMail(page);
    const choose = page.getByRole("button", { name: "Choose image" });
    await choose.focus();
    await page.keyboard.press("Enter");
    await dialog(page, "Images").waitFor();
    await page.keyboard.press("Escape");
    await dialog(page, "Images").waitFor({ state: "detached" });
    await focusIs(choose);
    await page.keyboard.press("Enter");
    const search = dialog(page, "Images").getByRole("searchbox");
    await search.focus();
    await page.keyboard.type("october");
    const sea = dialog(page, "Images").getByRole("button", { name: "sea.jpg" });
    await dialog(page, "Images").getByRole("status").getByText("1 image", { exact: true }).waitFor();
    for (let n = 0; n < 10 && !(await sea.evaluate((one) => one === one.ownerDocument.activeElement)); n++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await shownFile(page, 1104);
    await page.getByRole("button", { name: "Crop", exact: true }).focus();
    await page.keyboard.press("Enter");
    const crop = dialog(page, "Crop image");
    await crop.getByRole("button", { name: "1:1" }).focus();
    await page.keyboard.press("Enter");
    await crop.getByText("1200 × 1200 pixels").waitFor();
    await crop.getByLabel("Left or right").focus();
    await page.keyboard.press("Home");
    await crop.getByRole("button", { name: "Crop", exact: true }).focus();
    await page.keyboard.press("Enter");
    await until(
      () => page.getByLabel("Image address").inputValue(),
      (value) => value.includes("1104x1104"),
    );
    expect((await shownFile(page, 1104)).crop).toEqual({ left: 0, top: 0, width: 1200, height: 1200 });
    // A cropped image opens with its own part.
    await page.getByRole("button", { name: "Crop", exact: true }).focus();
    await page.keyboard.press("Enter");
    await crop.getByText("1200 × 1200 pixels").waitFor();
    expect(await crop.getByRole("button", { name: "1:1" }).getAttribute("aria-pressed")).toBe("true");
  });
}, 120_000);

test("files dropped on the mail become images: in the image under the pointer, else below the block; texts are refused", async () => {
  await open(async (page) => {
    await newMail(page);
    const bytes = (
      await sharp({ create: { width: 300, height: 200, channels: 3, background: "#aa3322" } })
        .png()
        .toBuffer()
    ).toString("base64");
    const drop = (selector: string, name: string, type: string) =>
      page.evaluate(`(() => {
        const data = new DataTransfer();
        const bytes = Uint8Array.from(atob("${bytes}"), (c) => c.charCodeAt(0));
        data.items.add(new File([bytes], "${name}", { type: "${type}" }));
        const event = (kind) => new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data });
        const target = document.querySelector("${selector}");
        target.dispatchEvent(event("dragover"));
        target.dispatchEvent(event("drop"));
      })()`);
    const address = page.getByLabel("Image address");
    await drop(".block.is-image", "dropped.png", "image/png");
    await until(
      () => address.inputValue(),
      (value) => value.endsWith("/dropped.png"),
    );
    expect(await image(page).count()).toBe(1);
    await drop(".block.is-heading", "second.png", "image/png");
    await until(
      () => image(page).count(),
      (n) => n === 2,
    );
    await until(
      () => address.inputValue(),
      (value) => value.endsWith("/second.png"),
    );
    expect(await image(page).first().getAttribute("data-path")).toBe("blocks/1/columns/0/blocks/1");
    await drop(".block.is-heading", "words.txt", "text/plain");
    await page
      .getByRole("alert")
      .getByText(/^Drop an image/)
      .waitFor();
  });
}, 120_000);

test("a copied picture is pasted: into the selected image, below a text that is being written; with a copied text its picture is left out", async () => {
  await openPage(
    browser,
    { viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] },
    async (page) => {
      await newMail(page);
      const bytes = (
        await sharp({ create: { width: 300, height: 200, channels: 3, background: "#aa3322" } })
          .png()
          .toBuffer()
      ).toString("base64");
      const copy = (texts: Record<string, string> = {}) =>
        page.evaluate(`(() => {
          const bytes = Uint8Array.from(atob("${bytes}"), (c) => c.charCodeAt(0));
          const items = { "image/png": new Blob([bytes], { type: "image/png" }) };
          for (const [type, text] of Object.entries(${JSON.stringify(texts)})) items[type] = new Blob([text], { type });
          return navigator.clipboard.write([new ClipboardItem(items)]);
        })()`);
      const address = page.getByLabel("Image address");
      await copy();
      await image(page).focus();
      await page.keyboard.press("Control+v");
      await until(
        () => address.inputValue(),
        (value) => value.endsWith(".png"),
      );
      expect(await image(page).count()).toBe(1);
      const text = page.locator(".block.is-text .ProseMirror");
      await text.click();
      await page.keyboard.type("Before");
      await page.keyboard.press("Control+v");
      await until(
        () => image(page).count(),
        (n) => n === 2,
      );
      await until(
        () => address.inputValue(),
        (value) => value.endsWith(".png"),
      );
      expect(await text.textContent()).toBe("Before");
      await copy({ "text/plain": " and after", "text/html": "<p> and after</p>" });
      await text.click();
      await page.keyboard.press("End");
      await page.keyboard.press("Control+v");
      await text.getByText("and after").waitFor();
      expect(await image(page).count()).toBe(2);
    },
  );
}, 120_000);
