/** Styles of the canvas. They are set through the style object, which the page's policy allows. */
import { type Brand, colourOf, FONTS } from "../../lib/design/brand.ts";
import { type Design, SETTINGS } from "../../lib/design/design.ts";
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
