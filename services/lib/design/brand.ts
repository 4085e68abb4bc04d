/** Brand of a company, shared by its designs: colours, fonts, buttons, logo and footer. */
export interface Brand {
  companyName: string;
  footerText: string;
  /** Empty: no logo. */
  logoUrl: string;
  colours: BrandColours;
  headingFont: Font;
  font: Font;
  /** Corner radius of buttons in pixels. */
  buttonRadius: number;
}

export const BRAND_COLOURS = ["primary", "on_primary", "background", "text"] as const;
export type BrandColours = Record<(typeof BRAND_COLOURS)[number], string>;

/** Fonts that all email clients have; no web fonts are loaded. */
export const FONTS = {
  arial: "Arial, Helvetica, sans-serif",
  verdana: "Verdana, Geneva, sans-serif",
  tahoma: "Tahoma, Geneva, sans-serif",
  trebuchet: "Trebuchet MS, Tahoma, sans-serif",
  georgia: "Georgia, Times New Roman, serif",
  times: "Times New Roman, Times, serif",
  courier: "Courier New, Courier, monospace",
} as const;
export type Font = keyof typeof FONTS;

const BY_NAME = /^brand\.(\w+)$/;

/** `#rrggbb` for a colour of a document; undefined for the empty one. */
export function colourOf(value: string, { colours }: Brand): string | undefined {
  if (value === "") return undefined;
  const name = BY_NAME.exec(value)?.[1];
  return name ? colours[name as keyof BrandColours] : value;
}
