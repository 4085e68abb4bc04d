/** What a company says of its own public pages and confirmation mails, and what can be wrong with it. */
import { contrast, isColour, TEXT_CONTRAST } from "./colours.ts";

export interface Branding {
  /** In place of the company's name. */
  name: string;
  logo_url: string;
  /** Of links and buttons, `#rrggbb`. */
  color: string;
  /** What they and all text stand on, `#rrggbb`. */
  background: string;
  /** In place of the company's footer. */
  footer_text: string;
  /** Where a reader asks for no language that there is a catalogue of. */
  language: string;
}

/** A key that is missing has its default. */
export type StoredBranding = Readonly<Partial<Branding>>;

export const DEFAULT_COLOR = "#0b6b72";
export const DEFAULT_BACKGROUND = "#ffffff";

/** Names in ASCII, or an address: anything else could say more than a host where it stands in a page's policy. */
const HOST = /^(?:[a-z0-9-]+\.)*[a-z0-9-]+\.?(?::\d+)?$/;

/** The scheme, host and port that a page may load the logo from, as its policy names them; undefined where it may not. */
export function logoSource(logoUrl: string): string | undefined {
  if (!/^https?:\/\//i.test(logoUrl) || !URL.canParse(logoUrl)) return undefined;
  const { protocol, host, username, password } = new URL(logoUrl);
  return username === "" && password === "" && HOST.test(host) ? `${protocol}//${host}` : undefined;
}

/** As sentences; none where all of it can be used. */
export function brandingErrors({ logo_url, color, background }: StoredBranding): string[] {
  const errors: string[] = [];
  if (logo_url !== undefined && !logoSource(logo_url)) {
    errors.push("logo_url: Enter an http or https address without a user name.");
  }
  const [front, back] = [color ?? DEFAULT_COLOR, background ?? DEFAULT_BACKGROUND];
  for (const colour of [front, back]) {
    if (!isColour(colour)) errors.push(`"${colour}" is no colour such as ${DEFAULT_COLOR}.`);
  }
  if (errors.length === 0 && contrast(front, back) < TEXT_CONTRAST) {
    // Rounded down: what is refused is never shown as enough.
    const ratio = Math.floor(contrast(front, back) * 100) / 100;
    errors.push(
      `color: ${front} on ${back} has a contrast of ${ratio}:1, and many people cannot read less than ${TEXT_CONTRAST}:1.`,
    );
  }
  return errors;
}
