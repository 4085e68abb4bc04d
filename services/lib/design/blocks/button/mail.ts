import { blockMail } from "../../block.ts";
import { colourOf } from "../../brand.ts";
import { attributes, escaped, linkText } from "../../markup.ts";
import { fields } from "./fields.ts";

export const mail = blockMail(fields, {
  mjml({ text, href, color, background, align, wide }, brand) {
    const look = attributes({
      href,
      align,
      color: colourOf(color, brand),
      "background-color": colourOf(background, brand),
      "border-radius": `${brand.buttonRadius}px`,
      width: wide ? "100%" : undefined,
    });
    return `<mj-button${look} font-size="16px" inner-padding="12px 24px">${escaped(text)}</mj-button>`;
  },
  text: ({ text, href }) => linkText(text, href),
});
