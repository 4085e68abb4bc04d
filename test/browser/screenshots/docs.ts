/** Pictures of the console for README.md and docs/, in docs/images. */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { query } from "../../../models/database/db.ts";
import type { App } from "../../support/app.ts";
import { openPage, signInOn } from "../open-page.ts";
import type { Filled } from "./fill.ts";

const FOLDER = join(import.meta.dirname, "../../../docs/images");
const API = "/api/emails";
/** Readable at the width of a page of the guides, and a fifth of the size of a PNG. */
const WEBP = { quality: 80, effort: 6 };

interface Picture {
  name: string;
  who: "company" | "sample";
  path: string;
  height: number;
  /** Part of the page; by default what the window shows. */
  of?: string;
  /** Waits for what is drawn last. */
  arrived?: (page: Page) => Promise<void>;
}

/** Chromium loads and paints only frames within the window, which is made as high as the page. */
async function showFrames(page: Page): Promise<void> {
  const height = (await page.evaluate("document.documentElement.scrollHeight")) as number;
  await page.setViewportSize({ ...page.viewportSize()!, height });
  for (const frame of await page.locator("iframe").all()) await frame.contentFrame().locator("body").waitFor();
  await page.waitForLoadState("networkidle");
}

async function pictures({ company, sample, ids }: Filled): Promise<Picture[]> {
  await query("update users set first_name = 'Maria', last_name = 'Almeida' where id = any($1)", [
    [company.userId, sample.userId],
  ]);
  await company.api.delete(`${API}/webhook-endpoints/${ids.webhook}/`);
  const full = { email: "grace@example.com", kind: "bounced", reason: "452 4.2.2 The mailbox is full" };
  await company.api.post(`${API}/suppressions/`, full);
  const body = { list_id: ids.list, template_id: ids.template, smtp_config_id: ids.server };
  const draft = { name: "November letter", kind: "to-list", body };
  const { id } = (await company.api.post(`${API}/drafts/`, draft)).body;
  return [
    { name: "report", who: "sample", path: `campaigns/${ids.sample}`, height: 900 },
    { name: "overview", who: "company", path: "", height: 800 },
    { name: "review", who: "company", path: `campaigns/drafts/${id}`, height: 900 },
    { name: "subscriber", who: "company", path: `subscribers/${ids.person}`, height: 700 },
    {
      name: "editor",
      who: "company",
      path: "templates/new/visual?from=newsletter-shop",
      height: 860,
      arrived: (page) => page.locator(".block.is-footer").waitFor(),
    },
    {
      name: "branding",
      who: "company",
      path: "settings/branding",
      height: 860,
      arrived: (page) => page.frameLocator("iframe").getByText("What we learned").waitFor(),
    },
    { name: "starters", who: "company", path: "templates/starters", height: 800, of: "main", arrived: showFrames },
  ];
}

export async function shootDocs(browser: Browser, app: App, filled: Filled): Promise<string[]> {
  const files: string[] = [];
  for (const { name, who, path, height, of, arrived } of await pictures(filled)) {
    await openPage(browser, { viewport: { width: 1_280, height }, colorScheme: "light" }, async (page) => {
      await signInOn(page, app, filled[who]);
      await page.goto(`${app.url}/app/${filled[who].id}/${path}`);
      await page.waitForLoadState("networkidle");
      await arrived?.(page);
      const picture = await (of ? page.locator(of) : page).screenshot();
      const file = join(FOLDER, `${name}.webp`);
      await sharp(picture).webp(WEBP).toFile(file);
      files.push(file);
    });
  }
  return files;
}
