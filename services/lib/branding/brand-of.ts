/** The look of a company's designs, from its branding. */
import type { Brand } from "../design/brand.ts";
import {
  DEFAULT_BACKGROUND,
  DEFAULT_BUTTON_RADIUS,
  DEFAULT_COLOR,
  DEFAULT_FONT,
  DEFAULT_ON_PRIMARY,
  DEFAULT_TEXT,
  type StoredBranding,
} from "./branding.ts";
import { readableOn, TEXT_CONTRAST } from "./colours.ts";

export interface BrandedCompany {
  name: string;
  footer_text: string;
  branding: StoredBranding;
}

export function brandOf({ name, footer_text, branding }: BrandedCompany): Brand {
  const { color: primary = DEFAULT_COLOR, background = DEFAULT_BACKGROUND } = branding;
  return {
    companyName: branding.name ?? name,
    footerText: branding.footer_text ?? footer_text,
    logoUrl: branding.logo_url ?? "",
    colours: {
      primary,
      on_primary: branding.on_primary ?? readableOn(primary, DEFAULT_ON_PRIMARY, TEXT_CONTRAST),
      background,
      text: branding.text ?? readableOn(background, DEFAULT_TEXT, TEXT_CONTRAST),
    },
    headingFont: branding.heading_font ?? DEFAULT_FONT,
    font: branding.font ?? DEFAULT_FONT,
    buttonRadius: branding.button_radius ?? DEFAULT_BUTTON_RADIUS,
  };
}
