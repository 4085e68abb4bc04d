import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { query, queryOne } from "../../models/database/db.ts";
import { newId } from "../../services/lib/ids.ts";
import { personToken } from "../../services/lib/tokens/person-token.ts";
import { newWorld, token, type World } from "../integration/tracking/world.ts";
import { type App, startApp } from "../support/app.ts";
import { someIp } from "../support/client.ts";
import { storedEvents } from "../support/stored-events.ts";
import { violations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";

const PHONE = { width: 360, height: 640 };
const DESKTOP = { width: 1280, height: 800 };

describe("recipients' pages in Chromium", () => {
  let app: App;
  let browser: Browser;
  let world: World;
  let listId: string;
  beforeAll(async () => {
    app = await startApp({
      services: ["gateway", "accounts", "subscribers", "campaigns", "renderer", "tracking"],
      env: { TRUST_PROXY: "1" },
    });
    browser = await launchChromium();
  }, 240_000);
  beforeEach(async () => {
    world = await newWorld();
    listId = newId();
    const list =
      "insert into lists (id, company_id, name, visibility, archive) values ($1, $2, 'Offers', 'public', true)";
    await query(list, [listId, world.companyId]);
    await query("update campaigns set list_id = $2 where id = $1", [world.campaignId, listId]);
    await query("insert into list_members (company_id, list_id, subscriber_id) values ($1, $2, $3)", [
      world.companyId,
      listId,
      mail().subscriberId,
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await app.stop();
  });

  const mail = () => world.mails[0]!;
  const at = (path: string) => `${app.url}/api/emails/public/${path}`;
  const paths = () => ({
    unsubscribe: at(`unsubscribe/${mail().id}/`),
    preferences: at(`preferences/${personToken("preferences", world.companyId, mail().subscriberId)}/`),
    confirm: at(
      `confirm/${personToken("confirm", world.companyId, mail().subscriberId, new Date(Date.now() + 60_000))}/`,
    ),
    archive: at(`archive/${listId}/`),
    subscribe: at(`subscribe/${world.companyId}/?list=${listId}`),
    missing: at(`unsubscribe/${newId()}/`),
  });
  const statusOf = async () =>
    (await queryOne<{ status: string }>("select status from subscribers where id = $1", [mail().subscriberId]))!.status;

  async function open(options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext(options);
    try {
      await work(await context.newPage());
    } finally {
      await context.close();
    }
  }

  const looks = [PHONE, DESKTOP].flatMap((viewport) =>
    (["light", "dark"] as const).flatMap((colorScheme) =>
      ["en", "ar"].map((locale) => ({ viewport, colorScheme, locale, name: `${viewport.width}` })),
    ),
  );
  test.each(looks)("axe finds nothing: $name px, $colorScheme, $locale", async ({ viewport, colorScheme, locale }) => {
    await open({ viewport, colorScheme, locale, bypassCSP: true }, async (page) => {
      for (const path of Object.values(paths())) {
        await page.goto(path);
        expect(await violations(page)).toEqual([]);
        // Nothing is cut off or needs horizontal scrolling.
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      }
    });
  });

  test.each(looks)(
    "axe finds nothing on a sign-up form with an error: $name px, $colorScheme, $locale",
    async ({ viewport, colorScheme, locale }) => {
      await query("update companies set form_attributes = '{Stadt}' where id = $1", [world.companyId]);
      await open(
        { viewport, colorScheme, locale, bypassCSP: true, extraHTTPHeaders: { "x-forwarded-for": someIp() } },
        async (page) => {
          await page.goto(paths().subscribe);
          await page.fill("[name=email]", "anna@");
          await page.fill("[name=first_name]", "Anna");
          await page.click("button");
          expect(await page.inputValue("[name=first_name]")).toBe("Anna");
          expect(await page.evaluate("document.activeElement.name")).toBe("email");
          expect(await page.locator("[aria-invalid=true]").count()).toBe(1);
          expect(await violations(page)).toEqual([]);
          expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
          await page.fill("[name=email]", `anna-${newId()}@example.com`);
          await page.click("button");
          expect(await page.locator("[role=status]").count()).toBe(1);
        },
      );
    },
  );

  describe("a company's branding", () => {
    const LOGO = "https://cdn.example/logo.png";
    const PNG = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
      "base64",
    );
    const brand = (branding: object) =>
      query("update companies set branding = $2 where id = $1", [world.companyId, JSON.stringify(branding)]);
    const colourOf = (page: Page, selector: string, property: string) =>
      page.evaluate(`getComputedStyle(document.querySelector("${selector}")).getPropertyValue("${property}")`);

    const brands = [
      { color: "#7a1f3d", background: "#fffaf0" },
      { color: "#767676" },
      { color: "#ffd400", background: "#101820" },
      { color: "#000000", background: "#7f9f7f" },
    ].flatMap((colours) => (["light", "dark"] as const).map((colorScheme) => ({ ...colours, colorScheme })));
    test.each(brands)("axe finds nothing: $color on $background, $colorScheme", async ({ colorScheme, ...colours }) => {
      await brand({ name: "Lantern", logo_url: LOGO, footer_text: "Harbour Street 1", ...colours });
      await open({ viewport: PHONE, colorScheme, bypassCSP: true }, async (page) => {
        await page.route(`${new URL(LOGO).origin}/**`, (route) =>
          route.fulfill({ body: PNG, contentType: "image/png" }),
        );
        for (const path of Object.values(paths())) {
          await page.goto(path);
          expect(await violations(page)).toEqual([]);
          expect(await fits(page)).toBe(true);
        }
        await page.goto(paths().unsubscribe);
        await page.getByRole("button", { name: "Only from this list" }).click();
        await page.getByText("You are unsubscribed from this list").first().waitFor();
        expect(await violations(page)).toEqual([]);
      });
    });

    test("the page's CSP allows its colours and logo, and no logo of another host", async () => {
      await brand({ logo_url: LOGO, color: "#ffd400", background: "#101820" });
      await open({ colorScheme: "light" }, async (page) => {
        const asked: string[] = [];
        await page.route("https://**/*", (route) => {
          asked.push(route.request().url());
          return route.fulfill({ body: PNG, contentType: "image/png" });
        });
        await page.goto(paths().unsubscribe);
        expect(await colourOf(page, "body", "background-color")).toBe("rgb(16, 24, 32)");
        expect(await colourOf(page, "button", "background-color")).toBe("rgb(255, 212, 0)");
        await page.waitForFunction("document.querySelector('header img').naturalWidth === 1");
        await page.evaluate("document.querySelector('header img').src = 'https://elsewhere.example/x.png'");
        await page.waitForFunction("document.querySelector('header img').naturalWidth === 0");
        expect(asked).toEqual([LOGO]);
      });
    });

    test("readers who prefer dark get a dark page with the company's hue", async () => {
      await brand({ color: "#7a1f3d", background: "#fffaf0" });
      await open({ colorScheme: "dark" }, async (page) => {
        await page.goto(paths().unsubscribe);
        expect(await colourOf(page, "body", "background-color")).toBe("rgb(27, 32, 41)");
        expect(await colourOf(page, "button", "background-color")).not.toMatch(/rgb\((?:122, 31, 61|79, 189, 194)\)/);
      });
    });
  });

  test("the archive links to sent campaigns, and its feed is well-formed XML", async () => {
    await query("update campaign_contents set subject = $2 where company_id = $1", [
      world.companyId,
      "Offers & \u0007more ]]> <b> \ud83d\ude80",
    ]);
    await open({}, async (page) => {
      await page.goto(paths().archive);
      const feed = (await page.locator('link[rel="alternate"]').getAttribute("href"))!;
      const read = await page.request.get(new URL(feed, paths().archive).href);
      const parse = `(text) => {
        const xml = new DOMParser().parseFromString(text, "application/xml");
        return [xml.querySelectorAll("parsererror").length, xml.querySelector("item title")?.textContent, xml.querySelector("item link")?.textContent];
      }`;
      const [errors, title, link] = (await page.evaluate(
        `(${parse})(${JSON.stringify(await read.text())})`,
      )) as unknown[];
      expect([errors, title]).toEqual([0, "Offers & more ]]> <b> \ud83d\ude80"]);
      expect(new URL(String(link)).pathname).toBe(new URL(at(`archive/${listId}/${world.campaignId}/`)).pathname);
      await page.getByRole("link", { name: "Offers & " }).click();
      await page.getByText("Hi").waitFor();
      expect(new URL(page.url()).pathname).toBe(new URL(String(link)).pathname);
    });
  });

  /** A third of a desktop's window, or 400 % zoom (WCAG 1.4.10). */
  const NARROW = { width: 320, height: 640 };
  const fits = (page: Page) => page.evaluate("document.documentElement.scrollWidth <= innerWidth");

  test.each(["en", "de", "fr", "es", "ar"])(
    "all pages and responses fit a narrow window with large text and unbreakable names, in %s",
    async (locale) => {
      const long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen".repeat(3);
      await query("update companies set name = $2, footer_text = $2 where id = $1", [world.companyId, long]);
      await query("update lists set name = $2 where company_id = $1", [world.companyId, long]);
      await query("update subscribers set status = 'unconfirmed', email = $2, first_name = $3 where company_id = $1", [
        world.companyId,
        `${"x".repeat(64)}@${"y".repeat(60)}.example`,
        long,
      ]);
      await open({ viewport: NARROW, locale, bypassCSP: true }, async (page) => {
        const { confirm, preferences, unsubscribe, archive, missing } = paths();
        for (const path of [archive, confirm, preferences, unsubscribe, missing]) {
          await page.goto(path);
          for (const answered of path === missing || path === archive ? [false] : [false, true]) {
            if (answered) await page.getByRole("button").first().click();
            await page.addStyleTag({ content: "html { font-size: 200% }" });
            expect(await fits(page)).toBe(true);
            expect(await violations(page)).toEqual([]);
          }
        }
      });
    },
  );

  test.each([true, false])("all actions work, with JavaScript: %p", async (javaScriptEnabled) => {
    await open({ javaScriptEnabled }, async (page) => {
      await page.goto(paths().preferences);
      await page.getByLabel("First name").fill("Zoë");
      await page.getByLabel("Offers").uncheck();
      await page.getByRole("button").click();
      await page.getByText("Your preferences are saved.").waitFor();
      expect(await page.getByLabel("First name").inputValue()).toBe("Zoë");
      expect(await page.getByLabel("Offers").isChecked()).toBe(false);

      await page.goto(paths().unsubscribe);
      expect(await statusOf()).toBe("active");
      await page.getByRole("button", { name: "Unsubscribe" }).click();
      await page.getByText("You are unsubscribed").first().waitFor();
      expect(await statusOf()).toBe("unsubscribed");

      // Unsubscribing voids earlier confirmation links, so this person must not have unsubscribed.
      await query("delete from suppressions where company_id = $1", [world.companyId]);
      await query("update subscribers set status = 'unconfirmed' where company_id = $1", [world.companyId]);
      await page.goto(paths().confirm);
      await page.getByRole("button").click();
      await page.getByText("Your subscription is confirmed").first().waitFor();
      expect(await statusOf()).toBe("active");
    });
  });

  test("Tab reaches the button and Enter presses it", async () => {
    await open({}, async (page) => {
      await page.goto(paths().unsubscribe);
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.tagName")).toBe("BUTTON");
      await page.keyboard.press("Enter");
      await page.getByText("You are unsubscribed").first().waitFor();
    });
  });

  test("a mail opened as a page records an open by its pixel and a click by its link", async () => {
    const agent =
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";
    await open({ userAgent: agent }, async (page) => {
      await page.route("https://example.com/**", (route) => route.fulfill({ body: "arrived" }));
      const pixel = page.waitForResponse(/\/public\/open\//);
      await page.setContent(
        `<p><a href="${at(`click/${token(mail().id, 1)}/`)}">Read</a></p><img alt="" src="${at(`open/${token(mail().id, 0)}.gif`)}">`,
      );
      expect((await pixel).status()).toBe(200);
      await page.getByText("Read").click();
      await page.waitForURL("https://example.com/one");
    });
    const events = await storedEvents(world.companyId);
    expect(events.map(({ type, machine }) => ({ type, machine }))).toEqual([
      { type: "opened", machine: false },
      { type: "clicked", machine: false },
    ]);
  });

  test("view in browser runs no script of the mail", async () => {
    await query("update campaign_contents set body = $2 where company_id = $1", [
      world.companyId,
      "<p id=x>before</p><script>document.getElementById('x').textContent = 'ran'</script><img src=x onerror=\"document.title='ran'\">",
    ]);
    await open({}, async (page) => {
      await page.goto(at(`view/${mail().id}/`));
      expect(await page.getByText("before").count()).toBe(1);
      expect(await page.title()).not.toBe("ran");
    });
  });
});
