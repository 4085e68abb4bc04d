import { blockMail } from "../../block.ts";
import { attributes, escaped, linkText } from "../../markup.ts";
import { fields } from "./fields.ts";

export const mail = blockMail(fields, {
  mjml({ src, alt, href, width, radius, align }) {
    if (src === "") return "";
    const look = attributes({ src, href, align, width: width > 0 ? `${width}px` : undefined });
    return `<mj-image${look} alt="${escaped(alt)}" border-radius="${radius}px" />`;
  },
  text: ({ alt, href }) => linkText(alt, href),
});
