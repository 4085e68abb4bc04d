import { blockMail } from "../../block.ts";
import { colourOf } from "../../brand.ts";
import { escaped } from "../../markup.ts";
import { fields } from "./fields.ts";

export const mail = blockMail(fields, {
  mjml({ text, author, color }, brand) {
    const style = `margin:0;padding:4px 0 4px 16px;border-left:4px solid ${colourOf(color, brand) ?? "#d5dae0"}`;
    const by = author === "" ? "" : `<p style="margin:8px 0 0;font-size:14px">— ${escaped(author)}</p>`;
    return `<mj-text><blockquote style="${style}"><p style="margin:0">${escaped(text)}</p>${by}</blockquote></mj-text>`;
  },
  text: ({ text, author }) => `> ${text}${author === "" ? "" : `\n> — ${author}`}`,
});
