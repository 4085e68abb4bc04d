/** What every page of the console is held to, in every window: axe finds nothing, and nothing is wider than the window. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { violations } from "./axe.ts";
import { SHOTS } from "./open-page.ts";

type Window = [how: string, options: BrowserContextOptions];

export const LAPTOP: Window = ["light", { colorScheme: "light", viewport: { width: 1280, height: 800 } }];
export const PHONE: Window = ["dark", { colorScheme: "dark", viewport: { width: 360, height: 640 } }];
/** What 1280 pixels are at 200 %. */
export const ZOOMED: Window = [
  "zoomed",
  { colorScheme: "light", viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
];

/** A path as the name of a file. */
export const shotName = (path: string): string => path.replaceAll(/[0-9a-f-]{36}/g, "id").replaceAll(/[/?&=@%]+/g, "-");

/** `name`: of the failure, and of a screenshot to look at, which nothing compares. Axe needs `bypassCSP`. */
async function expectWhole(page: Page, name: string): Promise<void> {
  const wider = (await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")) as number;
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
  expect({ name, wider: Math.max(0, wider), wrong: await violations(page) }).toEqual({ name, wider: 0, wrong: [] });
}

interface Pages {
  /** Before the names. */
  shots: string;
  /** Addresses by name. */
  pages: Iterable<readonly [name: string, url: string]>;
  /** Waits for what the page with this name fills in by itself. */
  arrived?: (name: string) => Promise<void>;
}

export async function expectWholePages(page: Page, { shots, pages, arrived }: Pages): Promise<void> {
  for (const [name, url] of pages) {
    await page.goto(url);
    await arrived?.(name);
    await expectWhole(page, `${shots}-${name}`);
  }
}
