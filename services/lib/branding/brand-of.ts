/** The look of a company's designs, from its branding. */
import type { Brand } from "../design/brand.ts";
import { DEFAULT_BACKGROUND, DEFAULT_COLOR, type StoredBranding } from "./branding.ts";
import { readableOn, TEXT_CONTRAST } from "./colours.ts";

const TEXT = "#1f2933";
const ON_PRIMARY = "#ffffff";
const BUTTON_RADIUS = 6;

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
      on_primary: readableOn(primary, ON_PRIMARY, TEXT_CONTRAST),
      background,
      text: readableOn(background, TEXT, TEXT_CONTRAST),
    },
    headingFont: "arial",
    font: "arial",
    buttonRadius: BUTTON_RADIUS,
  };
}
