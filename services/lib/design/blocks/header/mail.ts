import { blockMail } from "../../block.ts";
import { FONTS } from "../../brand.ts";
import { attributes, escaped, linkText } from "../../markup.ts";
import { fields } from "./fields.ts";

/** Escapes template tags, because company names are plain text. */
const literal = (text: string) => text.replaceAll("[[", "\\[[");

export const mail = blockMail(fields, {
  mjml({ href, width, align }, brand) {
    const name = literal(brand.companyName);
    if (brand.logoUrl !== "") {
      return `<mj-image${attributes({ src: literal(brand.logoUrl), alt: name, href, align, width: `${width}px` })} />`;
    }
    const look = attributes({ align, "font-family": FONTS[brand.headingFont], color: brand.colours.primary });
    const words = href === "" ? escaped(name) : `<a${attributes({ href })} style="color:inherit">${escaped(name)}</a>`;
    return `<mj-text${look} font-size="20px" font-weight="bold">${words}</mj-text>`;
  },
  text: ({ href }, brand) => linkText(literal(brand.companyName), href),
});
