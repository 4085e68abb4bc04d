/** Input and output shapes of a company's branding. */
import {
  DEFAULT_BACKGROUND,
  DEFAULT_BUTTON_RADIUS,
  DEFAULT_COLOR,
  DEFAULT_FONT,
  MAX_BUTTON_RADIUS,
} from "../lib/branding/branding.ts";
import { FONTS, type Font } from "../lib/design/brand.ts";
import { catalogues } from "../lib/i18n/languages.ts";
import { Name, Nullable, OneOf, Text, Type } from "../lib/shapes.ts";

const Colour = (description: string) => Type.String({ pattern: "^#[0-9a-fA-F]{6}$", description });

const FontName = (description: string) =>
  Type.Unsafe<Font>({
    ...OneOf(...Object.keys(FONTS)),
    description: `${description} Null: \`${DEFAULT_FONT}\`.`,
  });

const Language = {
  ...OneOf(...Object.keys(catalogues)),
  description: "Language for readers who ask for an unsupported one. Null: English.",
};

const fields = {
  name: Nullable(Type.String({ ...Name, description: "Shown instead of the company's name. Null: that name." })),
  logo_url: Nullable(
    Type.String({
      format: "uri",
      maxLength: 2048,
      description: "http or https URL, loaded by readers' browsers. Null: no logo.",
    }),
  ),
  color: Nullable(
    Colour(
      `Colour of links and buttons. Requires a contrast of 4.5:1 with \`background\` (WCAG AA). Null: \`${DEFAULT_COLOR}\`.`,
    ),
  ),
  background: Nullable(Colour(`Background colour. Null: \`${DEFAULT_BACKGROUND}\`.`)),
  text: Nullable(
    Colour(
      "Colour of text in designs. Requires a contrast of 4.5:1 with `background`. Null: one that is readable there.",
    ),
  ),
  on_primary: Nullable(
    Colour("Colour of text on buttons of designs. Requires a contrast of 4.5:1 with `color`. Null: white if readable."),
  ),
  heading_font: Nullable(FontName("Font of headings in designs.")),
  font: Nullable(FontName("Font of other text in designs.")),
  button_radius: Nullable(
    Type.Integer({
      minimum: 0,
      maximum: MAX_BUTTON_RADIUS,
      description: `Corner radius of buttons in designs, in pixels. Null: ${DEFAULT_BUTTON_RADIUS}.`,
    }),
  ),
  footer_text: Nullable(
    Type.String({ ...Text(2_000), description: "Replaces the company's `footer_text`. Null: that text." }),
  ),
  language: Nullable(Language),
};

const about =
  "Look and language of public pages, confirmation mails and designs. Merged key by key; null resets. Dark mode colours are derived from these.";

const example = {
  name: "Lantern Books",
  logo_url: "https://cdn.lantern.example/logo.png",
  color: "#7a1f3d",
  background: "#fffaf0",
  text: "#222222",
  on_primary: "#ffffff",
  heading_font: "georgia",
  font: "arial",
  button_radius: 6,
  footer_text: "Harbour Street 1, Springfield",
  language: "en",
};

/** Output: all keys, null for defaults. */
export const Branding = Type.Object(fields, { description: about, examples: [example] });

/** Input. */
export const BrandingSettings = Nullable(
  Type.Partial(Type.Object(fields), { description: about, examples: [example] }),
);
