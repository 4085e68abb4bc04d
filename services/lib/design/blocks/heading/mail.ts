import { blockMail } from "../../block.ts";
import { colourOf, FONTS } from "../../brand.ts";
import { attributes, escaped } from "../../markup.ts";
import { fields } from "./fields.ts";

const SIZES = { 1: 28, 2: 22, 3: 18 } as const;

export const mail = blockMail(fields, {
  mjml({ text, level, align, color }, brand) {
    const look = attributes({ align, color: colourOf(color, brand), "font-family": FONTS[brand.headingFont] });
    const style = `margin:0;font-size:${SIZES[level]}px;line-height:1.25`;
    return `<mj-text${look}><h${level} style="${style}">${escaped(text)}</h${level}></mj-text>`;
  },
  text: ({ text }) => text,
});
