/** What browser tests of the console share: a page in a browser of its own, signing in, where screenshots go. */
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { App } from "../support/app.ts";
import { someIp, type TestCompany } from "../support/client.ts";

/** To look at; nothing compares them. */
export const SHOTS = join(import.meta.dirname, "../../.cache/screenshots");

/** A busy machine is slow. */
const PATIENCE_MS = 60_000;

/** The console's own policy would keep axe out: tests of what it allows say `bypassCSP: false`. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    bypassCSP: true,
    extraHTTPHeaders: { "x-forwarded-for": someIp() },
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    await work(await context.newPage());
  } finally {
    await context.close();
  }
}

/** By the sign-in page, or a page that leads there; ends on `target`, the company's overview unless said. */
export async function signInOn(
  page: Page,
  app: App,
  { id, email, password }: TestCompany,
  target = `/app/${id}`,
): Promise<void> {
  await page.goto(`${app.url}${target === `/app/${id}` ? "/app/login" : target}`);
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${app.url}${target}`);
}
