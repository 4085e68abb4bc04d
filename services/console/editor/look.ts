/** Styles of the canvas. They are set through the style object, which the page's policy allows. */
import { type Brand, colourOf, FONTS } from "../../lib/design/brand.ts";
import { type Design, SECTION, SETTINGS, type Section } from "../../lib/design/design.ts";
import { filled, type ValuesOf } from "../../lib/design/fields.ts";

export type Settings = ValuesOf<typeof SETTINGS>;

let last: { given: Design["settings"]; settings: Settings } | undefined;

/** The same object until a setting changes, so that blocks are not drawn again. */
export function settingsOf({ settings }: Design): Settings {
  if (!last || last.given !== settings) last = { given: settings, settings: filled(SETTINGS, settings ?? {}) };
  return last.settings;
}

export const colour = (value: string, brand: Brand): string | undefined => colourOf(value, brand);
export const px = (n: number): string => `${n}px`;
export const font = (name: Brand["font"]): string => FONTS[name];

const TO_PLACE = { top: "start", middle: "center", bottom: "end" } as const;

export function sectionStyle(section: Section, settings: Settings, brand: Brand) {
  const { background, padding, vertical } = filled(SECTION, section);
  return {
    backgroundColor: colour(background, brand) ?? colour(settings.content_background, brand),
    paddingTop: px(padding),
    paddingBottom: px(padding),
    alignItems: TO_PLACE[vertical],
  };
}

export function columnWidths({ columns }: Section): string[] {
  const sum = columns.reduce((all, { share = 1 }) => all + share, 0);
  return columns.map(({ share = 1 }) => `${(100 * share) / sum}%`);
}

export const HEADING_SIZES = { 1: 28, 2: 22, 3: 18 } as const;

/** The address under which the console's policy shows an image: its own files only. */
export function shownImage(src: string, images: readonly { url: string; path: string }[]): string | undefined {
  if (src === "") return undefined;
  const known = images.find(({ url }) => url === src);
  if (known) return known.path;
  try {
    const url = new URL(src);
    return url.origin === location.origin ? url.pathname : undefined;
  } catch {
    return undefined;
  }
}
