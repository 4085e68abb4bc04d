import { blockMail } from "../../block.ts";
import { colourOf } from "../../brand.ts";
import { attributes, richHtml, richText } from "../../markup.ts";
import { fields } from "./fields.ts";

export const mail = blockMail(fields, {
  mjml({ content, size, align, color }, brand) {
    const look = attributes({ align, color: colourOf(color, brand), "font-size": `${size}px` });
    return `<mj-text${look}>${richHtml(content, brand)}</mj-text>`;
  },
  text: ({ content }) => richText(content),
});
