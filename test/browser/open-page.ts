/** A page in a browser of its own, that nobody else has used. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { someIp } from "../support/client.ts";

export async function openPage(
  browser: Browser,
  options: BrowserContextOptions,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  // The policy would keep axe out, too.
  const context = await browser.newContext({
    bypassCSP: true,
    extraHTTPHeaders: { "x-forwarded-for": someIp() },
    ...options,
  });
  try {
    await work(await context.newPage());
  } finally {
    await context.close();
  }
}
