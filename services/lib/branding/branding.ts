/** Defines and validates the branding of a company's public pages and confirmation emails. */
import type { Font } from "../design/brand.ts";
import { contrast, isColour, TEXT_CONTRAST } from "./colours.ts";

export interface Branding {
  /** Replaces the company's name. */
  name: string;
  logo_url: string;
  /** Colour of links and buttons, `#rrggbb`. */
  color: string;
  /** Background of all text, `#rrggbb`. */
  background: string;
  /** Colour of text in designs. Missing: a dark or light one that is readable on the background. */
  text: string;
  /** Colour of text on buttons. Missing: white, or what is readable on `color`. */
  on_primary: string;
  heading_font: Font;
  font: Font;
  /** Corner radius of buttons in pixels. */
  button_radius: number;
  /** Replaces the company's footer. */
  footer_text: string;
  /** Used if the reader asks for no language that has a catalogue. */
  language: string;
}

/** Missing keys have their defaults. */
export type StoredBranding = Readonly<Partial<Branding>>;

export const BRANDING_KEYS = [
  "name",
  "logo_url",
  "color",
  "background",
  "text",
  "on_primary",
  "heading_font",
  "font",
  "button_radius",
  "footer_text",
  "language",
] as const satisfies (keyof Branding)[];

export const DEFAULT_COLOR = "#0b6b72";
export const DEFAULT_BACKGROUND = "#ffffff";
/** In designs, as far as they are readable. */
export const DEFAULT_TEXT = "#1f2933";
export const DEFAULT_ON_PRIMARY = "#ffffff";
export const DEFAULT_FONT: Font = "arial";
export const DEFAULT_BUTTON_RADIUS = 6;
export const MAX_BUTTON_RADIUS = 30;

/** ASCII names or addresses only: anything else could inject into a page's content security policy. */
const HOST = /^(?:[a-z0-9-]+\.)*[a-z0-9-]+\.?(?::\d+)?$/;

/** Origin of the logo for a page's content security policy; undefined if it is not permitted. */
export function logoSource(logoUrl: string): string | undefined {
  if (!/^https?:\/\//i.test(logoUrl) || !URL.canParse(logoUrl)) return undefined;
  const { protocol, host, username, password } = new URL(logoUrl);
  return username === "" && password === "" && HOST.test(host) ? `${protocol}//${host}` : undefined;
}

function contrastError(key: string, front: string, back: string): string[] {
  if (contrast(front, back) >= TEXT_CONTRAST) return [];
  // Rounded down, so that a refused contrast is never shown as sufficient.
  const ratio = Math.floor(contrast(front, back) * 100) / 100;
  return [
    `${key}: ${front} on ${back} has a contrast of ${ratio}:1, and many people cannot read less than ${TEXT_CONTRAST}:1.`,
  ];
}

/** Error sentences; empty if the branding is valid. */
export function brandingErrors({ logo_url, text, on_primary, ...colours }: StoredBranding): string[] {
  const errors: string[] = [];
  if (logo_url !== undefined && !logoSource(logo_url)) {
    errors.push("logo_url: Enter an http or https address without a user name.");
  }
  const { color = DEFAULT_COLOR, background = DEFAULT_BACKGROUND } = colours;
  for (const colour of [color, background, text, on_primary]) {
    if (colour !== undefined && !isColour(colour)) errors.push(`"${colour}" is not a colour such as ${DEFAULT_COLOR}.`);
  }
  if (errors.length > 0) return errors;
  return [
    ...contrastError("color", color, background),
    ...(text === undefined ? [] : contrastError("text", text, background)),
    ...(on_primary === undefined ? [] : contrastError("on_primary", on_primary, color)),
  ];
}
