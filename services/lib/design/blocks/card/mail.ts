import { blockMail } from "../../block.ts";
import { filled } from "../../fields.ts";
import { escaped } from "../../markup.ts";
import { fields as buttonFields } from "../button/fields.ts";
import { mail as button } from "../button/mail.ts";
import { fields as imageFields } from "../image/fields.ts";
import { mail as image } from "../image/mail.ts";
import { fields } from "./fields.ts";

export const mail = blockMail(fields, {
  mjml({ src, alt, title, text, price, button: label, href }, brand) {
    const words = [
      title && `<h2 style="margin:0 0 4px;font-size:18px;line-height:1.25">${escaped(title)}</h2>`,
      text && `<p style="margin:0 0 4px">${escaped(text)}</p>`,
      price && `<p style="margin:0"><strong>${escaped(price)}</strong></p>`,
    ].join("");
    return [
      image.mjml(filled(imageFields, { src, alt, href }), brand),
      words && `<mj-text>${words}</mj-text>`,
      label && button.mjml(filled(buttonFields, { text: label, href }), brand),
    ].join("");
  },
  text: ({ title, text, price, button: label, href }) =>
    [title, text, price, href && `${label || title}: ${href}`].filter(Boolean).join("\n"),
});
