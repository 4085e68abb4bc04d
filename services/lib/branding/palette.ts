/** Derives the colours of a company's pages, light and dark, from the two it has chosen. */
import { DEFAULT_BACKGROUND, DEFAULT_COLOR, type StoredBranding } from "./branding.ts";
import { isColour, isDark, LINE_CONTRAST, readableOn, TEXT_CONTRAST } from "./colours.ts";

/** The custom properties of page.css. */
export interface Palette {
  ground: string;
  paper: string;
  ink: string;
  soft: string;
  line: string;
  accent: string;
  "on-accent": string;
  good: string;
  "on-good": string;
  bad: string;
  "on-bad": string;
}

/** Base colours, as in page.css; test/unit/tracking/branding.test.ts compares them. */
const TINTS = {
  light: {
    ink: "#1c2330",
    soft: "#525c6b",
    line: "#8a857b",
    good: "#e2f3e9",
    "on-good": "#17774a",
    bad: "#fbe6e4",
    "on-bad": "#b42a2a",
  },
  dark: {
    ink: "#eceff3",
    soft: "#aeb7c3",
    line: "#7d8794",
    good: "#173226",
    "on-good": "#5cc58d",
    bad: "#3a2021",
    "on-bad": "#f0827c",
  },
};
const DARK_PAPER = "#1b2029";

const validColour = (colour: string | undefined, otherwise: string): string =>
  isColour(colour) ? colour.toLowerCase() : otherwise;

/** Uses one surface colour, so that text that is legible on it is legible everywhere. */
function onto(surface: string, color: string): Palette {
  const tints = TINTS[isDark(surface) ? "dark" : "light"];
  return {
    ground: surface,
    paper: surface,
    ink: readableOn(surface, tints.ink, TEXT_CONTRAST),
    soft: readableOn(surface, tints.soft, TEXT_CONTRAST),
    line: readableOn(surface, tints.line, LINE_CONTRAST),
    accent: readableOn(surface, color, TEXT_CONTRAST),
    "on-accent": surface,
    good: tints.good,
    "on-good": tints["on-good"],
    bad: tints.bad,
    "on-bad": tints["on-bad"],
  };
}

export function paletteOf({ color, background }: StoredBranding): { light: Palette; dark: Palette } {
  const [front, back] = [validColour(color, DEFAULT_COLOR), validColour(background, DEFAULT_BACKGROUND)];
  const light = onto(back, front);
  // A dark background of the company's own also serves readers who ask for dark pages.
  return { light, dark: isDark(back) ? light : onto(DARK_PAPER, front) };
}

const properties = (palette: Palette) =>
  Object.entries(palette)
    .map(([name, colour]) => `--${name}:${colour};`)
    .join("");

const rootOf = (palette: Palette, logoGround = palette.paper) =>
  `:root{color-scheme:${isDark(palette.paper) ? "dark" : "light"};${properties(palette)}--logo-ground:${logoGround};}`;

/** CSS appended to page.css; undefined if the company has chosen no colours. It contains only colours computed here. */
export function brandCss(branding: StoredBranding): string | undefined {
  if (branding.color === undefined && branding.background === undefined) return undefined;
  const { light, dark } = paletteOf(branding);
  return `${rootOf(light)}@media (prefers-color-scheme:dark){${rootOf(dark, light.paper)}}`;
}
