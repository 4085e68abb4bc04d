/** Shared helpers of the console's browser tests: a page in its own browser, signing in, the folder for screenshots. */
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { App } from "../support/app.ts";
import { someIp, type TestCompany } from "../support/client.ts";

/** For viewing only; nothing compares them. */
export const SHOTS = join(import.meta.dirname, "../../.cache/screenshots");

/** Allows for a busy machine. */
const PATIENCE_MS = 60_000;

/** Bypasses the console's policy, which would block axe; tests of the policy set `bypassCSP: false`. */
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

/** Signs in on the sign-in page or on one that redirects there. Ends on `target`, by default the company's overview. */
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
