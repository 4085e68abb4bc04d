/** The starter templates as mails in Chromium: narrow and wide, light, dark and inverted. */
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { brandOf } from "../../services/lib/branding/brand-of.ts";
import { contrast, LINE_CONTRAST, TEXT_CONTRAST } from "../../services/lib/branding/colours.ts";
import { mjmlOf } from "../../services/lib/design/compile.ts";
import { STARTERS } from "../../services/lib/design/starters/starters.ts";
import { htmlOfMjml } from "../../services/lib/made-html/mjml.ts";
import { launchChromium } from "./chromium.ts";
import { SHOTS } from "./open-page.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
}, 120_000);
afterAll(() => browser?.close());

const brand = brandOf({ name: "Lantern Books", footer_text: "Harbour Street 1", branding: {} });

/** With both branches of conditions, and a word for each variable. */
const shown = (html: string) =>
  html
    .replaceAll(/\[\[(?:#|\/).*?\]\]/g, "")
    .replaceAll(/\[\[.*?\|default:(.*?)\]\]/g, "$1")
    .replaceAll(/\[\[.*?\]\]/g, "Ann Example");

interface Painted {
  text: string;
  color: string;
  background: string;
  isLarge: boolean;
}

/** Colours of each text as computed by the browser. */
const PAINTED = `[...document.querySelectorAll("body *")].flatMap((element) => {
  const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join("");
  if (text === "" || element.checkVisibility?.() === false) return [];
  const hex = (value) => {
    const [red, green, blue, alpha = 1] = value.match(/[\\d.]+/g).map(Number);
    return alpha === 0 ? undefined : "#" + [red, green, blue].map((one) => one.toString(16).padStart(2, "0")).join("");
  };
  let background;
  for (let at = element; at && !background; at = at.parentElement) background = hex(getComputedStyle(at).backgroundColor);
  const { color, fontSize, fontWeight } = getComputedStyle(element);
  const size = Number.parseFloat(fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
  return size < 2 ? [] : [{ text, color: hex(color), background: background ?? "#ffffff", isLarge }];
})`;

/** Inverts the lightness and keeps the hue, as apps do that darken mails. */
function inverted(colour: string): string {
  const channels = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const sum = Math.min(...channels) + Math.max(...channels);
  return `#${channels.map((one) => (one + 255 - sum).toString(16).padStart(2, "0")).join("")}`;
}

const pale = (painted: readonly Painted[], change: (colour: string) => string, least = TEXT_CONTRAST) =>
  painted.filter(({ color, background, isLarge }) => {
    return contrast(change(color), change(background)) < (isLarge ? LINE_CONTRAST : least);
  });

test.each(STARTERS.map((starter) => [starter.id, starter] as const))(
  "%s fits narrow and wide windows and is readable in light and dark",
  async (id, { design }) => {
    const { html } = htmlOfMjml(mjmlOf(design, { brand, saved: new Map() }));
    for (const [width, colorScheme] of [
      [320, "light"],
      [640, "dark"],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
      const requests: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      await page.setContent(shown(html!));
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      const painted = (await page.evaluate(PAINTED)) as Painted[];
      expect(painted.length).toBeGreaterThan(2);
      expect(pale(painted, (colour) => colour)).toEqual([]);
      // Apps that invert mails themselves change single colours further, so less is asked for.
      expect(pale(painted, inverted, LINE_CONTRAST)).toEqual([]);
      expect(requests).toEqual([]);
      await page.screenshot({ path: join(SHOTS, "starters", `${id}-${width}.png`), fullPage: true });
      await page.close();
    }
  },
  60_000,
);
