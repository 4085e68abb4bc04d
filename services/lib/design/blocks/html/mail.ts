import { blockMail } from "../../block.ts";
import { fields } from "./fields.ts";

const TAG = /<[^>]*>/g;

export const mail = blockMail(fields, {
  mjml: ({ html }) => `<mj-text padding="0">${html}</mj-text>`,
  text: ({ html }) => html.replace(TAG, " ").replace(/\s+/g, " ").trim(),
});
