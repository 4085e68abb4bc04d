/**
 * A person at one page, who acts by mouse, by keyboard alone, or by touch. A click presses a button, a link or a block; a
 * field is typed, or a file chosen; a key is pressed on the way to them.
 */
import type { BrowserContextOptions, Locator, Page } from "playwright-core";

export const WAYS = ["mouse", "keyboard", "touch"] as const;
export type Way = (typeof WAYS)[number];

export const DESK: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };

/** More than any page has before its main button. */
const MAX_TABS = 150;

export interface PickedFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export const csv = (name: string, text: string): PickedFile => ({
  name,
  mimeType: "text/csv",
  buffer: Buffer.from(text),
});

export class Person {
  readonly counts = { clicks: 0, fields: 0, menus: 0, keys: 0 };
  readonly page: Page;
  readonly way: Way;
  constructor(page: Page, way: Way) {
    this.page = page;
    this.way = way;
  }

  /** Keys that are no text. */
  async key(...keys: string[]): Promise<void> {
    for (const key of keys) {
      this.counts.keys++;
      await this.page.keyboard.press(key);
    }
  }

  /** On a page that was just opened, the first Tab leads to the link past the menu. */
  async #skipMenu(target: Locator): Promise<void> {
    const isNew = (await this.page.locator(":focus").count()) === 0;
    if (!isNew || !(await target.evaluate((one) => one.closest("#content") !== null))) return;
    await this.key("Tab");
    if ((await this.page.locator(".skip:focus").count()) > 0) await this.key("Enter");
  }

  async #tabTo(target: Locator): Promise<void> {
    await target.waitFor();
    const focused = target.and(this.page.locator(":focus"));
    await this.#skipMenu(target);
    for (let n = 0; n < MAX_TABS; n++) {
      if ((await focused.count()) > 0) return;
      await this.key("Tab");
    }
    throw new Error(`${target} is not reached by Tab`);
  }

  async #activate(target: Locator): Promise<void> {
    if (this.way === "touch") return target.tap();
    if (this.way === "mouse") return target.click();
    await this.#tabTo(target);
    await this.key("Enter");
  }

  async activate(target: Locator): Promise<void> {
    this.counts.clicks++;
    await this.#activate(target);
  }

  press(name: string | RegExp): Promise<void> {
    const named = { name, exact: true };
    const either = this.page.getByRole("link", named).or(this.page.getByRole("button", named));
    return this.activate(either.filter({ visible: true }).first());
  }

  /** Replaces what the field contains. */
  async fill(label: string, text: string): Promise<void> {
    const field = this.page.getByLabel(label, { exact: true }).filter({ visible: true }).first();
    this.counts.fields++;
    // The code editor replaces such a field once it is seen, maybe at this moment.
    await field.evaluate((element) => (element as unknown as { scrollIntoView(): void }).scrollIntoView());
    await field.and(this.page.locator("[data-code]")).waitFor({ state: "detached" });
    if (this.way === "keyboard") await this.#tabTo(field);
    else await this.#activate(field);
    await this.page.keyboard.press("ControlOrMeta+A");
    await this.page.keyboard.type(text);
  }

  /** Chooses in a list by typing the beginning of the option. */
  async choose(label: string, option: string): Promise<void> {
    const field = this.page.getByLabel(label, { exact: true }).filter({ visible: true }).first();
    this.counts.fields++;
    if (this.way !== "keyboard") {
      await field.selectOption(await field.locator("option", { hasText: option }).first().getAttribute("value"));
      return;
    }
    await this.#tabTo(field);
    await this.page.keyboard.type(option);
  }

  async attach(label: string, file: PickedFile): Promise<void> {
    const field = this.page.getByLabel(label, { exact: true });
    this.counts.fields++;
    const [chooser] = await Promise.all([this.page.waitForEvent("filechooser"), this.#activate(field)]);
    await chooser.setFiles(file);
  }

  /** On a phone the menu is behind a button. */
  async menu(): Promise<void> {
    const button = this.page.getByRole("button", { name: "Open the menu" });
    if (this.way !== "touch" || !(await button.isVisible())) return;
    this.counts.menus++;
    await this.#activate(button);
  }

  async search(words: string): Promise<void> {
    await this.menu();
    this.counts.fields++;
    if (this.way === "keyboard") await this.page.keyboard.press("/");
    else await this.#activate(this.page.locator(".search-field input"));
    await this.page.keyboard.type(words);
    this.counts.clicks++;
    await this.page.keyboard.press("Enter");
  }

  sees(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).filter({ visible: true }).first().waitFor();
  }
}
