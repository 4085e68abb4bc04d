/** The guides and the reference in Chromium: no external resources, working links, no axe violations, search. */
import type { Browser, Page } from "playwright-core";
import { GUIDES } from "../../services/gateway/guides/guides.ts";
import { type App, startApp } from "../support/app.ts";
import { violations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";

const SIZES = [
  { width: 360, height: 640 },
  { width: 1280, height: 800 },
];
const PATHS = ["", ...GUIDES.map(({ slug }) => `${slug}/`), "search/?q=webhook"];

describe("the documentation in Chromium", () => {
  let app: App;
  let browser: Browser;
  beforeAll(async () => {
    app = await startApp({ services: ["gateway", "accounts"] });
    browser = await launchChromium();
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await app.stop();
  });

  const guides = () => `${app.url}/docs/guides/`;

  async function open(work: (page: Page) => Promise<void>, options = {}): Promise<void> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const elsewhere: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(app.url) && !request.url().startsWith("data:")) elsewhere.push(request.url());
    });
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    try {
      await work(page);
      expect({ elsewhere, complaints }).toEqual({ elsewhere: [], complaints: [] });
    } finally {
      await context.close();
    }
  }

  test.each(PATHS)(
    "guides/%s passes axe on a phone and a desktop, light and dark",
    async (path) => {
      for (const viewport of SIZES) {
        for (const colorScheme of ["light", "dark"] as const) {
          await open(
            async (page) => {
              await page.goto(guides() + path);
              expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
              expect(await violations(page)).toEqual([]);
            },
            { viewport, colorScheme, bypassCSP: true },
          );
        }
      }
    },
    120_000,
  );

  test("the search finds a section of a guide without JavaScript and links to it", async () => {
    await open(
      async (page) => {
        await page.goto(guides());
        await page.getByRole("searchbox").fill("rotate the secret");
        await page.getByRole("button", { name: "Find" }).click();
        await page.getByRole("link", { name: "Webhooks: Rotate the secret" }).click();
        expect(page.url()).toBe(`${guides()}webhooks/#rotate-the-secret`);
      },
      { javaScriptEnabled: false },
    );
  });

  test("the reference shows every chapter, and a search result opens its operation", async () => {
    await open(async (page) => {
      await page.goto(`${guides()}search/?q=create+template`);
      await page.getByRole("link", { name: "API: Create a template" }).click();
      await page.getByText("/api/emails/templates/").first().waitFor();
      await page.locator("#operations-Templates-createTemplate.is-open").waitFor();
    });
  }, 120_000);
});
