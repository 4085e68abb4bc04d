/** Defines and validates the branding of a company's public pages and confirmation emails. */
import { contrast, isColour, TEXT_CONTRAST } from "./colours.ts";

export interface Branding {
  /** Replaces the company's name. */
  name: string;
  logo_url: string;
  /** Colour of links and buttons, `#rrggbb`. */
  color: string;
  /** Background of all text, `#rrggbb`. */
  background: string;
  /** Replaces the company's footer. */
  footer_text: string;
  /** Used if the reader asks for no language that has a catalogue. */
  language: string;
}

/** Missing keys have their defaults. */
export type StoredBranding = Readonly<Partial<Branding>>;

export const DEFAULT_COLOR = "#0b6b72";
export const DEFAULT_BACKGROUND = "#ffffff";

/** ASCII names or addresses only: anything else could inject into a page's content security policy. */
const HOST = /^(?:[a-z0-9-]+\.)*[a-z0-9-]+\.?(?::\d+)?$/;

/** Origin of the logo for a page's content security policy; undefined if it is not permitted. */
export function logoSource(logoUrl: string): string | undefined {
  if (!/^https?:\/\//i.test(logoUrl) || !URL.canParse(logoUrl)) return undefined;
  const { protocol, host, username, password } = new URL(logoUrl);
  return username === "" && password === "" && HOST.test(host) ? `${protocol}//${host}` : undefined;
}

/** Error sentences; empty if the branding is valid. */
export function brandingErrors({ logo_url, color, background }: StoredBranding): string[] {
  const errors: string[] = [];
  if (logo_url !== undefined && !logoSource(logo_url)) {
    errors.push("logo_url: Enter an http or https address without a user name.");
  }
  const [front, back] = [color ?? DEFAULT_COLOR, background ?? DEFAULT_BACKGROUND];
  for (const colour of [front, back]) {
    if (!isColour(colour)) errors.push(`"${colour}" is not a colour such as ${DEFAULT_COLOR}.`);
  }
  if (errors.length === 0 && contrast(front, back) < TEXT_CONTRAST) {
    // Rounded down, so that a refused contrast is never shown as sufficient.
    const ratio = Math.floor(contrast(front, back) * 100) / 100;
    errors.push(
      `color: ${front} on ${back} has a contrast of ${ratio}:1, and many people cannot read less than ${TEXT_CONTRAST}:1.`,
    );
  }
  return errors;
}
