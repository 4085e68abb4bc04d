/**
 * Checks that every console page must pass in every window: no axe violations, nothing wider than the window, and no
 * time as programs write it.
 */
import type { BrowserContextOptions, Page } from "playwright-core";
import { violations } from "./axe.ts";
import { SHOTS } from "./open-page.ts";

type Window = [how: string, options: BrowserContextOptions];

export const LAPTOP: Window = ["light", { colorScheme: "light", viewport: { width: 1280, height: 800 } }];
export const PHONE: Window = ["dark", { colorScheme: "dark", viewport: { width: 360, height: 640 } }];
/** 1280 pixels at 200 % zoom. */
export const ZOOMED: Window = [
  "zoomed",
  { colorScheme: "light", viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
];

/** Turns a path into a file name. */
export const shotName = (path: string): string => path.replaceAll(/[0-9a-f-]{36}/g, "id").replaceAll(/[/?&=@%]+/g, "-");

/** Text of the page without what programs sent or people typed. */
const TIMES = `(() => {
  const all = document.body.cloneNode(true);
  for (const one of all.querySelectorAll("pre, code, textarea, script")) one.remove();
  return all.textContent.match(/\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d/g) ?? [];
})()`;

/** `name` appears in failures and names a screenshot for viewing. Axe needs `bypassCSP`. */
async function expectWhole(page: Page, name: string): Promise<void> {
  const wider = (await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")) as number;
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
  const found = { wider: Math.max(0, wider), wrong: await violations(page), times: await page.evaluate(TIMES) };
  expect({ name, ...found }).toEqual({ name, wider: 0, wrong: [], times: [] });
}

interface Pages {
  /** Prefix of screenshot names. */
  shots: string;
  /** Addresses by name. */
  pages: Iterable<readonly [name: string, url: string]>;
  /** Waits for dynamic content of the page with this name. */
  arrived?: (name: string) => Promise<void>;
}

export async function expectWholePages(page: Page, { shots, pages, arrived }: Pages): Promise<void> {
  for (const [name, url] of pages) {
    await page.goto(url);
    await arrived?.(name);
    await expectWhole(page, `${shots}-${name}`);
  }
}
