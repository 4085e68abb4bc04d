/**
 * `npm run screenshots [word …]`: pictures of the console's pages, and one sheet of all of them, in .cache/screenshots. Words
 * keep the pages, windows and schemes whose name has one of each: `npm run screenshots overview 390 dark`. `npm run screenshots
 * for-docs` writes the pictures of the documents.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { call } from "../../../services/call.ts";
import { startApp } from "../../support/app.ts";
import { someIp, type TestCompany } from "../../support/client.ts";
import globalSetup from "../../support/global-setup.ts";
import { startSmtpServer } from "../../support/smtp-server.ts";
import { violations } from "../axe.ts";
import { launchChromium } from "../chromium.ts";
import { shootDocs } from "./docs.ts";
import { type Filled, fill } from "./fill.ts";
import { pagesOf } from "./pages.ts";

const FOLDER = process.env.SCREENSHOTS ?? join(import.meta.dirname, "../../../.cache/screenshots");
const WIDTHS = [390, 768, 1280];
const HEIGHT = 800;
const SCHEMES = ["light", "dark"] as const;
const words = process.argv.slice(2);
const sizes = words.filter((word) => /^\d+$/.test(word));
const schemes: string[] = words.filter((word) => word === "light" || word === "dark");
const names = words.filter((word) => !sizes.includes(word) && !schemes.includes(word));
const isAsked = (among: readonly string[], text: string) =>
  among.length === 0 || among.some((word) => text.includes(word));

interface Shot {
  name: string;
  file: string;
}

async function shoot(
  browser: Browser,
  url: string,
  filled: Filled,
  width: number,
  scheme: "light" | "dark",
): Promise<Shot[]> {
  const shots: Shot[] = [];
  for (const who of ["company", "empty", "full", "sample"] as const) {
    const pages = pagesOf(filled, who).filter(([name]) => isAsked(names, name));
    if (pages.length === 0) continue;
    const context = await browser.newContext({
      colorScheme: scheme,
      viewport: { width, height: HEIGHT },
      bypassCSP: true,
      extraHTTPHeaders: { "x-forwarded-for": someIp() },
    });
    const page = await context.newPage();
    const signIn = async ({ email, password }: TestCompany) => {
      await page.goto(`${url}/app/login`);
      await page.locator("#email").fill(email);
      await page.locator("#password").fill(password);
      await page.locator("main button[type=submit]").click();
      await page.waitForURL(/[0-9a-f-]{36}$/);
    };
    const openAsOperator = async () => {
      const [link] = await call(app.broker, "operator.consoleLink", { name: "Ada" });
      const { pathname, search } = new URL(link!.url);
      await page.goto(`${url}${pathname}${search}`);
      await page.locator("main button[type=submit]").click();
      await page.waitForURL(/operator$/);
    };
    let isIn = false;
    let isOperator = false;
    for (const [name, path] of pages) {
      const isOwn = !path.startsWith("/") || path.startsWith("/account") || path.startsWith("/companies");
      if (isOwn !== isIn) {
        await (isIn ? context.clearCookies() : signIn(filled[who]));
        isIn = !isIn;
      }
      if (path.startsWith("/operator") && path !== "/operator/sign-in" && !isOperator) {
        await openAsOperator();
        isOperator = true;
      }
      await page.goto(`${url}/app${path.startsWith("/") ? path : `/${filled[who].id}${path && `/${path}`}`}`);
      // Chromium does not paint frames outside of the viewport.
      if ((await page.locator("iframe:visible").count()) > 0) {
        const height = (await page.evaluate("document.documentElement.scrollHeight")) as number;
        await page.setViewportSize({ width, height });
        await page.waitForLoadState("networkidle");
      }
      const file = `${name}-${width}-${scheme}.png`;
      await page.screenshot({ path: join(FOLDER, file), fullPage: true });
      await page.setViewportSize({ width, height: HEIGHT });
      const wider = (await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")) as number;
      const wrong = process.env.AXE ? await violations(page) : [];
      if (wider > 0 || wrong.length > 0)
        process.stderr.write(`${file}: ${wider > 0 ? `${wider} px too wide ` : ""}${wrong.join("\n  ")}\n`);
      shots.push({ name: `${name} ${width} ${scheme}`, file });
    }
    await context.close();
  }
  return shots;
}

/** Writes one page with all pictures. */
async function sheet(browser: Browser, shots: Shot[]): Promise<void> {
  const cell = ({ name, file }: Shot) =>
    `<figure><img src="data:image/png;base64,${readFileSync(join(FOLDER, file)).toString("base64")}"><figcaption>${name}</figcaption></figure>`;
  const page = await browser.newPage({ viewport: { width: 2400, height: 1200 } });
  const style =
    "body{display:flex;flex-wrap:wrap;gap:16px;margin:16px;background:#888;font:14px sans-serif}figure{width:376px;margin:0}img{width:100%;max-height:520px;object-fit:cover;object-position:top}";
  writeFileSync(join(FOLDER, "sheet.html"), `<!doctype html><style>${style}</style>${shots.map(cell).join("")}`);
  await page.goto(`file://${join(FOLDER, "sheet.html")}`);
  await page.screenshot({ path: join(FOLDER, "sheet.png"), fullPage: true });
}

mkdirSync(FOLDER, { recursive: true });
await globalSetup();
const smtp = await startSmtpServer({
  answer: ({ verb, to }) => (verb === "RCPT" && to.startsWith("nobody") ? "550 5.1.1 User unknown" : undefined),
});
const app = await startApp();
const browser = await launchChromium();
/** Pictures of the pages, windows and schemes that the words keep. */
async function shootAll(filled: Filled): Promise<void> {
  const shots: Shot[] = [];
  for (const width of WIDTHS.filter((one) => isAsked(sizes, `${one}`))) {
    for (const scheme of SCHEMES.filter((one) => isAsked(schemes, one)))
      shots.push(...(await shoot(browser, app.url, filled, width, scheme)));
  }
  await sheet(browser, shots);
  process.stdout.write(`${shots.length} pictures and sheet.png in ${FOLDER}\n`);
}

try {
  const filled = await fill(app, smtp);
  if (words.includes("for-docs")) process.stdout.write(`${(await shootDocs(browser, app, filled)).join("\n")}\n`);
  else await shootAll(filled);
  if (process.env.STAY) {
    process.stdout.write(`${app.url} ${JSON.stringify(filled)}\n`);
    await new Promise(() => {});
  }
} finally {
  await browser.close();
  await app.stop();
  await smtp.stop();
  await (globalThis as { stopTestDatabase?: () => Promise<void> }).stopTestDatabase?.();
}
process.exit(0);
