import { convert } from "html-to-text";
import { blockMail } from "../../block.ts";
import { fields } from "./fields.ts";

const options = {
  wordwrap: false,
  selectors: ["style", "script", "img"].map((selector) => ({ selector, format: "skip" })),
} as const;

export const mail = blockMail(fields, {
  mjml: ({ html }) => `<mj-text padding="0">${html}</mj-text>`,
  text: ({ html }) => convert(html, options).trim(),
});
